"""The response to a batch is bounded, and so is what all batches of a process hold (decision 45)."""

import asyncio
import json
from typing import Any

import pytest

from tests.rpc.builders import LEFT_OUT, ON_ONE_STORE, call, contribution, goal, login, send_link, transaction
from tests.support.world import HttpResponse, World
from tickover.api.limits import MAX_BATCH, MAX_BATCH_BYTES, MAX_CATEGORY, MAX_NAME, MAX_PAGE
from tickover.server.domain.response_sizes import MAX_CLOCK_RESULT, MAX_ENVELOPE, MAX_ERROR
from tickover.server.jsonrpc.batch_limits import BatchLimits
from tickover.server.operations import OPERATIONS

pytestmark = ON_ONE_STORE

LATE = "2027-02-01T09:00:00.123456Z"
LATER = "2027-03-01T09:00:00.123456Z"
DAYS = [f"2027-01-02T00:00:{second:02}Z" for second in range(MAX_BATCH)]


def largest(character: str = "x", amount: float = 1.2345678901234567e-300) -> dict[str, Any]:
    """The parameters of a clock with as much in it as there may be."""
    name, category = character * MAX_NAME, character * MAX_CATEGORY
    pay = transaction(at=LATE, name=name, category=category, amount=amount, type="EXPENSE")
    save = [contribution(at=LATE, amount=amount)] * 100
    aim = goal(name=name, targetAmount=amount, contributions=save)
    return {"frozenTime": "2027-01-01T00:00:00.123456Z", "transactions": [pay] * 100, "goals": [aim] * 25}


def typical() -> dict[str, Any]:
    return {"transactions": [transaction()] * 10, "goals": [goal(contributions=[contribution()] * 6)] * 2}


def outcomes(answer: HttpResponse) -> list[str]:
    """The reason of each refusal, and `ok` for each result, of a batch."""
    assert answer.status == 200
    assert len(answer.body) <= MAX_BATCH_BYTES
    return [member["error"]["data"]["reason"] if "error" in member else "ok" for member in answer.json]


async def test_call_that_might_not_fit_is_rejected_without_running(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    answer = await world.post([call("advanceTestClock", {"id": id, "frozenTime": day}, day) for day in DAYS], token)
    found = outcomes(answer)
    done = found.count("ok")
    assert found == ["ok"] * done + ["INVALID_REQUEST"] * (MAX_BATCH - done)
    assert len(answer.body) > MAX_BATCH_BYTES - 2 * MAX_CLOCK_RESULT, "as many run as surely fit"
    assert [member["id"] for member in answer.json] == DAYS
    refused = answer.json[-1]["error"]
    assert (refused["code"], refused["data"]) == (-32600, {"reason": "INVALID_REQUEST"})
    assert "Send this call alone" in refused["message"]
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    assert clock["frozenTime"] == DAYS[done - 1], "no refused call moved it"


async def test_small_calls_after_a_rejected_one_run(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    calls = [call("getTestClock", {"id": id})] * 48
    answer = await world.post([*calls, call("listTestClocks", {}), call("logout", {})], token)
    assert outcomes(answer)[-3:] == ["INVALID_REQUEST", "ok", "ok"]


@pytest.mark.parametrize("method", ["createTestClock", "getTestClock", "advanceTestClock", "forkTestClock"])
async def test_50_typical_clocks_fit_in_a_batch(world: World, token: str, method: str) -> None:
    id = (await world.create(token, **typical()))["id"]
    params = {"createTestClock": typical(), "advanceTestClock": {"id": id, "frozenTime": LATE}}
    answer = await world.post([call(method, params.get(method, {"id": id}))] * MAX_BATCH, token)
    assert outcomes(answer) == ["ok"] * MAX_BATCH


async def test_50_documents_fit_in_a_batch(world: World) -> None:
    assert outcomes(await world.post([call("rpc.discover", {})] * MAX_BATCH)) == ["ok"] * MAX_BATCH


async def test_errors_with_thousands_of_faults_are_limited(world: World, token: str) -> None:
    wrong = {"goals": [{"contributions": [{"a": 1, "b": 1}] * 100}] * 25}
    alone = await world.call("createTestClock", wrong, token)
    assert len(alone.body) > MAX_CLOCK_RESULT, "such a refusal is larger than any result"
    found = outcomes(await world.post([call("createTestClock", wrong, number) for number in range(15)], token))
    faulty = found.count("INVALID_PARAMS")
    assert found == ["INVALID_PARAMS"] * faulty + ["INVALID_REQUEST"] * (15 - faulty)
    assert 5 < faulty < 15
    world.rpc._batch_limits = BatchLimits(max_unfinished=MAX_CLOCK_RESULT)
    found = outcomes(await world.post([call("createTestClock", wrong), call("createTestClock", {})], token))
    assert found == ["UNAVAILABLE", "ok"], "a result would have fitted"


async def test_long_ids_fit_into_the_response(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    calls = [call("getTestClock", {"id": id}, f"{number:020000}") for number in range(MAX_BATCH)]
    answer = await world.post(calls, token)
    assert set(outcomes(answer)) == {"ok", "INVALID_REQUEST"}
    assert [member["id"] for member in answer.json] == [one["id"] for one in calls]


async def test_notifications_need_no_space(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    calls = [call("advanceTestClock", {"id": id, "frozenTime": day}, LEFT_OUT) for day in DAYS]
    assert (await world.post(calls, token)).status == 204
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    assert clock["frozenTime"] == DAYS[-1]


async def test_unfinished_batches_of_the_process_are_limited(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    limits = world.rpc._batch_limits = BatchLimits(max_unfinished=3 * MAX_CLOCK_RESULT)
    batch = [call("getTestClock", {"id": id}), call("getTestClock", {"id": id})]
    answers = await asyncio.gather(*(world.post(batch, token) for _ in range(100)))
    found = [outcome for answer in answers for outcome in outcomes(answer)]
    assert set(found) == {"ok", "UNAVAILABLE"}
    refused = next(member for answer in answers for member in answer.json if "error" in member)
    assert refused["error"]["data"] == {"reason": "UNAVAILABLE", "retryAfterSeconds": 1}
    assert limits.unfinished == 0
    assert outcomes(await world.post(batch, token)) == ["ok", "ok"], "all of it is free again"


async def test_notification_over_the_process_limit_has_no_response(world: World) -> None:
    world.rpc._batch_limits = BatchLimits(max_unfinished=0)
    batch = [call("rpc.discover", {}, LEFT_OUT), call("createTestClock", {"x" * 9_000: 1}, LEFT_OUT)]
    assert (await world.post(batch)).status == 204
    assert outcomes(await world.post([call("rpc.discover", {})])) == ["UNAVAILABLE"]


# The bounds hold.


@pytest.mark.parametrize("character", ["\\u0001", "\\u007f", '\\"', "\\\\", "é", "😀"], ids=ascii)
async def test_no_clock_exceeds_its_maximum_size(world: World, token: str, character: str) -> None:
    for amount in (1.2345678901234567e-300, 999_999_999.1234567, 1_000_000_000):
        written = json.dumps(call("createTestClock", largest("@", amount))).replace("@", character)
        answer = await world.post(written.encode(), token)
        assert "result" in answer.json, answer.body[:200]
        id = answer.json["result"]["clock"]["id"]
        moved = await world.call("advanceTestClock", {"id": id, "frozenTime": LATER}, token)
        forked = await world.call("forkTestClock", {"id": id, "at": LATE}, token)
        assert max(len(one.body) for one in (answer, moved, forked)) <= MAX_CLOCK_RESULT + MAX_ENVELOPE


async def test_no_other_result_exceeds_its_maximum_size(world: World, token: str) -> None:
    for _ in range(MAX_PAGE + 1):
        await world.create(token, frozenTime="2027-01-01T00:00:00.123456Z")
    code = await world.send_code()
    link = (await world.result("sendLoginCodeEmail", send_link("eve@example.test")))["loginUrl"]
    calls = {
        "listTestClocks": {"limit": MAX_PAGE},
        "loginByEmailVerification": login(code),
        "loginByEmailLink": {"token": link.partition("#token=")[2]},
        "sendLoginCodeEmail": send_link("ben@example.test"),
        "deleteTestClock": {"id": (await world.create(token))["id"]},
        "rpc.discover": {},
        "logout": {},
    }
    assert set(calls) == {name for name, one in OPERATIONS.items() if one.max_result != MAX_CLOCK_RESULT}
    for method, params in calls.items():
        answer = await world.call(method, params, token)
        assert "result" in answer.json, answer.json
        assert len(answer.body) <= OPERATIONS[method].max_result + MAX_ENVELOPE, method


async def test_no_error_except_invalid_params_exceeds_the_maximum_size(world: World, token: str) -> None:
    await world.send_code()
    clock = await world.create(token)
    refused = [
        await world.call("x" * 100_000, {}, token),
        await world.call("createTestClock", {}),
        await world.call("getTestClock", {"id": "x" * 100_000}, token),
        await world.call("advanceTestClock", {"id": clock["id"], "frozenTime": "0001-01-01T00:00:00Z"}, token),
        await world.call("advanceTestClock", {"id": clock["id"], "frozenTime": "9999-12-31T00:00:00Z"}, token),
        await world.call("sendLoginCodeEmail", send_link()),
        await world.call("loginByEmailVerification", login("000000")),
        await world.post([{"jsonrpc": "1.0", "method": "x" * 100_000}]),
    ]
    assert max(len(answer.body) for answer in refused) <= MAX_ERROR
