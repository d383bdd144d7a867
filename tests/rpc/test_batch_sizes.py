"""Size limits of batch responses."""

import json
from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, contribution, goal, login, send_link, transaction
from tests.rpc.token_calls import calls_with_token
from tests.support.world import HttpResponse, World
from tickover.api.limits import (
    MAX_ACCESS_TOKENS,
    MAX_ACCOUNTS,
    MAX_BATCH,
    MAX_BATCH_BYTES,
    MAX_CATEGORY,
    MAX_CLOCK_NAME,
    MAX_EXPECTATIONS,
    MAX_LABEL_VALUE,
    MAX_LABELS,
    MAX_NAME,
    MAX_PAGE,
    MAX_TOKEN_NAME,
    MAX_TRANSFERS,
)
from tickover.server.operations import OPERATIONS
from tickover.server.rpc import batch_limits
from tickover.server.rpc.batch_limits import BatchLimits

LATE = "2027-02-01T09:00:00.123456Z"
LATER = "2027-03-01T09:00:00.123456Z"
MAX_NEW_CLOCK = OPERATIONS["createTestClock"].max_result
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


async def test_call_that_might_not_fit_is_rejected_without_running(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    response = await world.post([call("advanceTestClock", {"id": id, "frozenTime": day}, day) for day in DAYS], token)
    found = outcomes(response)
    done = found.count("ok")
    assert found == ["ok"] * done + ["INVALID_REQUEST"] * (MAX_BATCH - done)
    assert len(response.body) > MAX_BATCH_BYTES - 2 * OPERATIONS["advanceTestClock"].max_result, (
        "as many run as surely fit"
    )
    assert [member["id"] for member in response.json] == DAYS
    rejected = response.json[-1]["error"]
    assert (rejected["code"], rejected["data"]) == (-32600, {"reason": "INVALID_REQUEST"})
    assert "Send this call alone" in rejected["message"]
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    assert clock["frozenTime"] == DAYS[done - 1], "no rejected call moved it"


async def test_error_larger_than_any_result_of_its_operation_is_limited(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = call("deleteTestClock", {f"{number:0200}": 1 for number in range(100)})
    alone = await world.post(wrong, token)
    room = 5 * len(alone.body) // 2
    assert room > 2 * OPERATIONS["deleteTestClock"].max_result
    reserved = MAX_BATCH * 1024 + 3 * len(json.dumps(wrong, separators=(",", ":")))
    monkeypatch.setattr(batch_limits, "MAX_BATCH_BYTES", reserved + room)
    assert outcomes(await world.post([wrong] * 3, token)) == ["INVALID_PARAMS", "INVALID_PARAMS", "INVALID_REQUEST"]
    monkeypatch.undo()
    world.rpc._batch_limits = BatchLimits(max_unfinished=2 * room // 5 - 1)
    found = outcomes(await world.post([wrong, call("getCurrentUser", {})], token))
    assert found == ["UNAVAILABLE", "ok"]


async def test_notifications_need_no_space(world: World, token: str) -> None:
    id = (await world.create(token, **largest()))["id"]
    calls = [call("advanceTestClock", {"id": id, "frozenTime": day}, OMITTED) for day in DAYS]
    assert (await world.post(calls, token)).status == 204
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    assert clock["frozenTime"] == DAYS[-1]


async def test_notification_over_the_process_limit_has_no_response(world: World) -> None:
    world.rpc._batch_limits = BatchLimits(max_unfinished=0)
    batch = [call("rpc.discover", {}, OMITTED), call("createTestClock", {"x" * 9_000: 1}, OMITTED)]
    assert (await world.post(batch)).status == 204
    assert outcomes(await world.post([call("rpc.discover", {})])) == ["UNAVAILABLE"]


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
    assert max(len(one.body) for one in (response, moved, detailed, forked)) <= MAX_NEW_CLOCK


async def test_no_other_result_exceeds_its_maximum_size(world: World, token: str) -> None:
    for _ in range(MAX_PAGE + 1):
        await world.create(token, frozenTime="2027-01-01T00:00:00.123456Z", **largest_names("\x01"))
    token_params = {"name": "\x01" * MAX_TOKEN_NAME}
    others = await calls_with_token(world, token)
    for _ in range(MAX_ACCESS_TOKENS - 2):
        await world.result("createAccessToken", token_params, token)
    code = await world.send_code()
    link = (await world.result("sendLoginCodeEmail", send_link("eve@example.test")))["loginUrl"]
    calls = {
        "listTestClocks": {"limit": MAX_PAGE, "details": True},
        "loginByEmailVerification": login(code),
        "loginByEmailLink": {"token": link.partition("#token=")[2]},
        "sendLoginCodeEmail": send_link("ben@example.test"),
        "createAccessToken": token_params,
        "rpc.discover": {},
        **{name: params for name, params in others.items() if name not in ("listTestClocks", "createAccessToken")},
    }
    on_large_clocks = {"listTestClockEvents", "getTestClockBalances", "checkTestClock"}
    sized = {name for name, one in OPERATIONS.items() if one.max_result < MAX_NEW_CLOCK}
    for method, params in calls.items():
        if method not in sized - on_large_clocks:
            continue
        response = await world.call(method, params, token)
        assert "result" in response.json, response.json
        assert len(response.body) <= OPERATIONS[method].max_result + 64, method


@pytest.mark.parametrize("amount", [1.2345678901234567e-300, 1_000_000_000])
async def test_no_result_about_a_ledger_exceeds_its_maximum_size(world: World, token: str, amount: Any) -> None:
    # Every transaction has its own currency, and all expectations are violated by all transactions.
    many = largest("\x01", amount, has_accounts=False)
    codes = [f"A{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(100)]
    many["transactions"] = [{**each, "currency": code} for each, code in zip(many["transactions"], codes, strict=True)]
    id = (await world.create(token, **many))["id"]
    openings = {f"Z{chr(65 + number // 26)}{chr(65 + number % 26)}": -0.1234567890123 for number in range(200)}
    name, category = many["transactions"][0]["name"], many["transactions"][0]["category"]
    posted = {"posted": {"name": name, "by": LATER, "count": 1_000_000}}
    total = {"type": many["transactions"][0]["type"], "currency": codes[0], "category": category, "per": "ALL"}
    calls = {
        "listTestClockEvents": {"id": id, "until": LATER, "limit": 500, "openingBalances": openings},
        "getTestClockBalances": {"id": id, "at": LATER, "openingBalances": openings},
        "checkTestClock": {"id": id, "expectations": [posted] * 49 + [{"total": {**total, "atMost": 0}}]},
    }
    for method, params in calls.items():
        response = await world.call(method, params, token)
        assert "result" in response.json, response.json
        assert len(response.body) <= OPERATIONS[method].max_result + 64, method
