"""Size limits of batch responses."""

import asyncio
import json
from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, contribution, goal, transaction
from tests.support.raw import wait_for
from tests.support.world import HttpResponse, World
from tickover.api.limits import (
    MAX_ACCOUNTS,
    MAX_BATCH,
    MAX_BATCH_BYTES,
    MAX_CATEGORY,
    MAX_CLOCK_NAME,
    MAX_EVENTS,
    MAX_EXPECTATIONS,
    MAX_LABEL_VALUE,
    MAX_LABELS,
    MAX_NAME,
    MAX_TRANSFERS,
)
from tickover.server.operations import OPERATIONS
from tickover.server.operations.access import Caller
from tickover.server.rpc import batch_response
from tickover.server.sign_in.tokens import digest

LATE = "2027-02-01T09:00:00.123456Z"
LATER = "2027-03-01T09:00:00.123456Z"
DAYS = [f"2027-01-02T00:00:{second:02}Z" for second in range(MAX_BATCH)]


def largest(
    character: str = "x", amount: float = 1.2345678901234567e-300, *, has_accounts: bool = True
) -> dict[str, Any]:
    """Return the parameters of the largest clock."""
    name, category = character * MAX_NAME, character * MAX_CATEGORY
    pay = transaction(
        at=LATE,
        name=name,
        category=category,
        amount=amount,
        type="EXPENSE",
        account=f"{0:040}" if has_accounts else OMITTED,
        authorizedAt="2027-01-01T00:00:00.123456Z",
        authorizedAmount=amount,
        authorizedName=name,
    )
    accounts = [
        {"key": f"{number:040}", "name": name, "currency": "EUR", "type": "CREDIT_CARD", "openingBalance": -amount}
        for number in range(MAX_ACCOUNTS)
    ]
    move = {"at": LATE, "name": name, "from": f"{0:040}", "to": f"{1:040}", "amount": amount}
    bounds = {"atLeast": amount, "atMost": amount}
    total = {"type": "EXPENSE", "currency": "EUR", "per": "MONTH", "category": category, **bounds}
    save = [contribution(at=LATE, amount=amount)] * 100
    aim = goal(name=name, targetAmount=amount, contributions=save)
    items = {"frozenTime": "2027-01-01T00:00:00.123456Z", "transactions": [pay] * 100, "goals": [aim] * 25}
    story = {
        "accounts": accounts,
        "transfers": [move] * MAX_TRANSFERS,
        "expectations": [{"total": total}] * (MAX_EXPECTATIONS - 1) + [{"posted": {"name": name, "by": LATE}}],
    }
    return items | (story if has_accounts else {}) | largest_names(character)


def largest_names(character: str) -> dict[str, Any]:
    labels = {f"{number:064}": character * MAX_LABEL_VALUE for number in range(MAX_LABELS)}
    return {"name": character * MAX_CLOCK_NAME, "labels": labels}


def outcomes(response: HttpResponse) -> list[str]:
    """Return the reason of each error and `ok` for each result of a batch."""
    assert response.status == 200
    assert len(response.body) <= MAX_BATCH_BYTES
    return [member["error"]["data"]["reason"] if "error" in member else "ok" for member in response.json]


async def test_batch_fills_its_size_and_no_call_that_writes_runs_without_room(world: World, token: str) -> None:
    clock = await world.create(token, **largest())
    size = len(json.dumps(clock, separators=(",", ":")))
    params = [{"id": clock["id"], "frozenTime": day} for day in DAYS]
    response = await world.post([call("advanceTestClock", one, one["frozenTime"]) for one in params], token)
    found = outcomes(response)
    done = found.count("ok")
    assert found == ["ok"] * done + ["INVALID_REQUEST"] * (MAX_BATCH - done)
    assert len(response.body) > MAX_BATCH_BYTES - 2 * size, "no room is kept for larger clocks"
    assert [member["id"] for member in response.json] == DAYS
    rejected = response.json[-1]["error"]
    assert (rejected["code"], rejected["data"]) == (-32600, {"reason": "INVALID_REQUEST"})
    assert "Send this call alone" in rejected["message"]
    moved = (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"]
    assert moved["frozenTime"] == DAYS[done - 1], "no rejected call moved it"


@pytest.mark.parametrize("method", ["createTestClock", "forkTestClock", "amendTestClock", "updateTestClock"])
async def test_no_call_that_writes_runs_without_room(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    id = (await world.create(token, **largest()))["id"]
    params: dict[str, Any] = {
        "createTestClock": largest(),
        "forkTestClock": {"id": id},
        "amendTestClock": {"id": id, "add": {"transactions": [transaction(at=LATER)]}},
        "updateTestClock": {"id": id, "name": "changed"},
    }[method]
    before = await world.result("listTestClocks", {}, token), await world.result("getTestClock", {"id": id}, token)
    size = len(json.dumps(before[1], separators=(",", ":")))
    room = MAX_BATCH * 1024 + len(json.dumps(call(method, params), separators=(",", ":"))) + size
    monkeypatch.setattr(batch_response, "MAX_BATCH_BYTES", room)
    assert outcomes(await world.post([call(method, params)], token)) == ["INVALID_REQUEST"]
    monkeypatch.undo()
    after = await world.result("listTestClocks", {}, token), await world.result("getTestClock", {"id": id}, token)
    assert after == before


async def test_result_that_is_only_read_is_left_out(world: World, token: str) -> None:
    clock = await world.create(token, **largest())
    read = call("getTestClock", {"id": clock["id"]})
    alone = len((await world.post(read, token)).body)
    found = outcomes(await world.post([read] * MAX_BATCH, token))
    done = found.count("ok")
    assert found == ["ok"] * done + ["INVALID_REQUEST"] * (MAX_BATCH - done)
    assert done >= (MAX_BATCH_BYTES - 60_000) // alone - 1


async def test_error_larger_than_the_room_is_limited(world: World, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = call("getTestClock", {f"{number:0200}": 1 for number in range(100)})
    alone = await world.post(wrong, token)
    reserved = MAX_BATCH * 1024 + 3 * len(json.dumps(wrong, separators=(",", ":")))
    monkeypatch.setattr(batch_response, "MAX_BATCH_BYTES", reserved + 5 * len(alone.body) // 2)
    assert outcomes(await world.post([wrong] * 3, token)) == ["INVALID_PARAMS", "INVALID_PARAMS", "INVALID_REQUEST"]


async def test_notifications_need_no_space(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    calls = [call("advanceTestClock", {"id": id, "frozenTime": day}, OMITTED) for day in DAYS]
    assert (await world.post(calls, token)).status == 204
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    assert clock["frozenTime"] == DAYS[-1]


async def test_only_a_few_batches_wait_with_large_responses(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = (await world.create(token, **largest()))["id"]
    is_held, create_clock = asyncio.Event(), world.store.create_clock

    async def create_later(*values: Any) -> Any:
        await is_held.wait()
        return await create_clock(*values)

    monkeypatch.setattr(world.store, "create_clock", create_later)
    batch = [call("getTestClock", {"id": id}), call("createTestClock", {"name": "new"})]
    sent = [asyncio.create_task(world.post(batch, token)) for _ in range(12)]
    await wait_for(lambda: sum(task.done() for task in sent) == 7)
    assert [outcomes(task.result()) for task in sent if task.done()] == [["ok", "UNAVAILABLE"]] * 7
    is_held.set()
    found = [outcomes(one) for one in await asyncio.gather(*sent)]
    assert found.count(["ok", "ok"]) == 5
    clocks = (await world.result("listTestClocks", {}, token))["clocks"]
    assert len(clocks) - 1 == 5, "no refused call runs"


# Maximum sizes


@pytest.mark.parametrize(
    ("character", "amount"),
    [("\\u0001", 1.2345678901234567e-300), ("😀", 1.2345678901234567e-300), ("\\u0001", 999_999_999.1234567)],
)
async def test_no_clock_exceeds_its_maximum_size(world: World, token: str, character: str, amount: float) -> None:
    written = json.dumps(call("createTestClock", largest("@", amount))).replace("@", character)
    response = await world.post(written.encode(), token)
    assert "result" in response.json, response.body[:200]
    id = response.json["result"]["clock"]["id"]
    moved = await world.call("advanceTestClock", {"id": id, "frozenTime": LATER}, token)
    detailed = await world.call("getTestClock", {"id": id, "details": True}, token)
    forked = await world.call("forkTestClock", {"id": id, "at": LATE}, token)
    assert max(len(one.body) for one in (response, moved, detailed, forked)) <= batch_response._MAX_CLOCK
    again = (await world.result("forkTestClock", {"id": id}, token))["clock"]["id"]
    happened = await world.result("advanceTestClock", {"id": again, "frozenTime": LATER, "events": True}, token)
    assert len(happened["events"]) == MAX_EVENTS
    assert len(json.dumps(happened["events"], ensure_ascii=False).encode()) <= batch_response._MAX_HAPPENED


@pytest.mark.parametrize(
    "entry", [goal(), goal(contributions=[contribution()]), {"accounts": True}, transaction()], ids=str
)
async def test_no_clock_exceeds_the_bound_of_its_call(world: World, token: str, entry: Any) -> None:
    """The smallest entries grow the most."""
    small = {"name": "g", "targetAmount": 1}
    many: dict[str, Any] = {"goals": [small] * 25}
    if "accounts" in entry:
        accounts = [{"key": f"a{n}", "name": "b", "currency": "EUR", "type": "CASH"} for n in range(20)]
        moves = [{"at": LATE, "name": "m", "from": "a1", "to": "a2", "amount": 1}] * 100
        many = {"accounts": accounts, "transfers": moves}
    elif "type" in entry:
        many = {"transactions": [entry] * 100}
    elif "contributions" in entry:
        many = {"goals": [{**small, "contributions": [{"at": LATE, "amount": 1e9}] * 100}] * 25}
    many["frozenTime"] = "2027-01-01T00:00:00Z"
    caller = Caller(world.now, "", await world.services.store.find_token(digest(token), world.now))

    async def check(method: str, params: dict[str, Any]) -> Any:
        written = json.dumps(params, separators=(",", ":")).encode()
        bound = await batch_response._max_clock(OPERATIONS[method], written, caller, world.services)
        response = await world.call(method, params, token)
        assert len(response.body) <= bound, response.body[:200]
        return response.json["result"]["clock"]

    id = (await check("createTestClock", many))["id"]
    await check("updateTestClock", {"id": id, "name": "n"})
    await check("advanceTestClock", {"id": id, "frozenTime": LATER})
    await check("forkTestClock", {"id": id, "at": LATE})
    await check("amendTestClock", {"id": id, "add": {"goals": [small] * 25}})
