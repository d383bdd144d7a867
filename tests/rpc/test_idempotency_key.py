"""Idempotency keys: a retry with the same key and parameters creates no second clock.

tests/store/test_clocks.py has the lifetime and the owners of keys, and concurrent calls.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import (
    BEN,
    OMITTED,
    START,
    call,
    idempotency_header,
    post_with,
    raw_call,
    reason_of,
    to_timestamp,
    transaction,
)
from tests.rpc.token_calls import calls_with_token
from tests.support.world import HttpResponse, World, open_world
from tickover.api.errors import unavailable
from tickover.api.limits import MAX_NESTING
from tickover.server.operations import OPERATIONS

CREATE = "createTestClock"
SENT = (
    '{"frozenTime":"2027-01-01T00:00:00Z","transactions":[{"at":"2027-02-01T00:00:00Z","name":"Zürich / A",'
    '"amount":1,"currency":"CHF","type":"INCOME"}],"goals":[{"name":"G","targetAmount":2.5,"initialAmount":0}]}'
)
REUSED = {"Idempotency-Key": "reused"}
MANY_DIGITS = "9" * 5000


async def create(world: World, token: str, key: str, params: str = SENT) -> HttpResponse:
    """Create a clock with parameters as JSON text."""
    return await world.post(raw_call(CREATE, params), token, **idempotency_header(key))


async def clock_of(world: World, token: str, key: str, params: str = SENT) -> Any:
    response = await create(world, token, key, params)
    assert "result" in response.json, response.json
    return response.json["result"]["clock"]


def faults_in(response: HttpResponse) -> dict[str, str]:
    assert reason_of(response) == "INVALID_PARAMS"
    return {fault["path"]: fault["rule"] for fault in response.json["error"]["data"]["errors"]}


async def live_clock_ids(world: World, token: str) -> list[str]:
    listed = await world.result("listTestClocks", {"limit": 100}, token)
    return [clock["id"] for clock in listed["clocks"]]


# Keys


async def test_key_has_1_to_255_characters_and_is_compared_exactly(world: World, token: str) -> None:
    keys = ["k", "K", "k" * 255, "k" * 254, '"quoted"', "a b", "ÿ" * 255, "a,b"]
    made = [await clock_of(world, token, key) for key in keys]
    assert [await clock_of(world, token, key) for key in keys] == made
    assert len(await live_clock_ids(world, token)) == len(keys)


@pytest.mark.parametrize("keys", [[""], ["k" * 256], ["k", "k"], ["", "k"]], ids=["none", "256", "two", "empty"])
async def test_key_with_other_length_is_rejected(world: World, token: str, keys: list[str]) -> None:
    headers = [("Content-Type", "application/json"), ("Authorization", f"Bearer {token}")]
    every = [*headers, *(("Idempotency-Key", key) for key in keys)]
    response = await post_with(world, every, raw_call(CREATE, "{}"))
    message = "must be one header of 1 to 255 characters"
    assert response.json["error"]["data"]["errors"] == [
        {"path": "Idempotency-Key", "rule": "length", "message": message}
    ]
    assert await live_clock_ids(world, token) == []


# Calls with a key


@pytest.mark.parametrize("calls", [[call(CREATE, {})] * 2, [call(CREATE, {}, OMITTED)], [5]])
async def test_batch_with_key_is_rejected(world: World, token: str, calls: Any) -> None:
    response = await world.post(calls, token, **idempotency_header("k"))
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)
    assert "Idempotency-Key" in response.json["error"]["message"]
    assert await live_clock_ids(world, token) == []


@pytest.mark.parametrize("key", ["k", "", "k" * 256], ids=["good", "empty", "too long"])
async def test_other_operations_ignore_the_key(world: World, token: str, key: str) -> None:
    clock = await world.create(token, frozenTime=START)
    for name in ("first", "second"):
        update = call("updateTestClock", {"id": clock["id"], "name": name})
        response = await world.post(update, token, **idempotency_header(key))
        assert response.json["result"]["clock"]["name"] == name


async def test_token_and_parameters_are_checked_before_the_key(world: World, token: str) -> None:
    response = await world.post(raw_call(CREATE, SENT), None, **idempotency_header(""))
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")
    await clock_of(world, token, "k")
    assert faults_in(await create(world, token, "k", '{"goals": 5}')) == {"goals": "type"}


@pytest.mark.parametrize("after", ["}", ', "goals": []}'], ids=["in a field", "in a field that is there twice"])
async def test_deep_nesting_is_not_an_internal_error(world: World, token: str, after: str) -> None:
    for depth in range(MAX_NESTING - 9, MAX_NESTING + 2):
        response = await create(world, token, "k", '{"goals": ' + "[" * depth + "]" * depth + after)
        assert response.status in (200, 400), depth
        assert b"INTERNAL" not in response.body, depth


# Retries


@pytest.mark.parametrize(
    "method", [name for name, one in OPERATIONS.items() if one.takes_idempotency_key and not one.decides_with_key]
)
async def test_repeated_call_returns_the_first_response(world: World, token: str, method: str) -> None:
    params = (await calls_with_token(world, token))[method]
    first, again = [await world.post(call(method, params), token, **idempotency_header("k")) for _ in range(2)]
    assert "result" in first.json
    assert again.body == first.body
    id = first.json["result"]["clock"]["id"]
    moved = await world.advance(token, id, first.json["result"]["clock"]["maxTime"])
    late = await world.post(call(method, params), token, **idempotency_header("k"))
    assert late.json["result"]["clock"] == moved, "the clock as it is now"


async def test_default_start_is_not_compared(world: World, token: str) -> None:
    clock = await clock_of(world, token, "k", "{}")
    world.pass_time(hours=5)
    assert await clock_of(world, token, "k", "{}") == clock
    left_out = await world.post(call(CREATE), token, **idempotency_header("k"))
    assert left_out.json["result"]["clock"] == clock


SAME = {
    "in another order": (
        '{"goals":[{"initialAmount":0,"targetAmount":2.5,"name":"G"}],"transactions":[{"type":"INCOME","currency":"CHF",'
        '"amount":1,"name":"Zürich / A","at":"2027-02-01T00:00:00Z"}],"frozenTime":"2027-01-01T00:00:00Z"}'
    ),
    "0.1E+1 for 1": SENT.replace('"amount":1', '"amount":0.1E+1'),
    "escapes in texts": SENT.replace("Zürich / A", r"\u005a\u00fcrich \/ \u0041"),
    "escapes in names": SENT.replace('"goals"', r'"\u0067oals"').replace('"amount"', r'"amoun\u0074"'),
    "a name twice, with a number": f'{{"goals":{MANY_DIGITS},' + SENT[1:],
    "a name twice, beyond all numbers": SENT.replace('"amount":1', '"amount":1e999,"amount":-1e999,"amount":1'),
    "a name twice, with anything": SENT.replace('"amount":1', '"amount":[{"a":null}],"amount":true,"amount":1'),
}


@pytest.mark.parametrize("params", SAME.values(), ids=SAME)
async def test_equal_json_is_the_same_parameters(world: World, token: str, params: str) -> None:
    assert params != SENT
    for number, (first, again) in enumerate([(SENT, params), (params, SENT)]):
        key = f"key {number}"
        assert await clock_of(world, token, key, first) == await clock_of(world, token, key, again)


OTHER = {
    "none": "{}",
    "another amount": SENT.replace('"amount":1', '"amount":1.0000000000000002'),
    "a text in another normal form": SENT.replace("ü", "u\u0308"),
    "a time written otherwise": SENT.replace("2027-02-01T00:00:00Z", "2027-02-01T00:00:00+00:00"),
    "one more": SENT.replace('"goals":[', '"goals":[{"name":"H","targetAmount":2.5,"initialAmount":0},'),
}


@pytest.mark.parametrize("params", OTHER.values(), ids=OTHER)
async def test_other_parameters_with_the_same_key_are_rejected(world: World, token: str, params: str) -> None:
    clock = await clock_of(world, token, "k")
    response = await create(world, token, "k", params)
    assert (response.status, response.json["error"]["code"]) == (200, -32602)
    message = "was already used with other parameters for a live clock; use a new key"
    assert response.json["error"]["data"]["errors"] == [
        {"path": "Idempotency-Key", "rule": "reused", "message": message}
    ]
    assert await live_clock_ids(world, token) == [clock["id"]]
    assert (await clock_of(world, token, "another", params))["id"] != clock["id"]


# Times that have passed since the first call are still accepted in a retry.


async def test_retry_works_when_its_times_have_passed(world: World, token: str) -> None:
    start = to_timestamp(world.now.replace(year=2017))
    soon = call(CREATE, {"transactions": [transaction(at=to_timestamp(world.now + timedelta(seconds=1)))]})
    long_ago = call(CREATE, {"frozenTime": start})
    for body, fault in ((soon, "transactions[0].at"), (long_ago, "frozenTime")):
        first = await world.post(body, token, **idempotency_header(fault))
        world.pass_time(seconds=2)
        assert (await world.post(body, token, **idempotency_header(fault))).json == first.json
        assert faults_in(await world.post(body, token, **idempotency_header("another"))) == {fault: "range"}
        world.pass_time(seconds=-2)


async def test_invalid_parameters_without_earlier_clock_are_rejected(world: World, token: str) -> None:
    past, passed = [transaction(at=to_timestamp(world.now + timedelta(seconds=second))) for second in (-1, 1)]
    await world.post(call(CREATE, {"transactions": [passed]}), token, **idempotency_header("k"))
    world.pass_time(seconds=2)
    other = call(CREATE, {"transactions": [past]})
    assert faults_in(await world.post(other, token, **idempotency_header("k"))) == {"transactions[0].at": "range"}
    again = call(CREATE, {"transactions": [passed]})
    bens = await world.post(again, await world.sign_in(BEN), **idempotency_header("k"))
    assert faults_in(bens) == {"transactions[0].at": "range"}


async def test_only_a_reused_key_leaves_passed_times_invalid(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = call(CREATE, {"transactions": [transaction(at=to_timestamp(world.now + timedelta(seconds=1)))]})
    await world.post(soon, token, **idempotency_header("k"))
    await clock_of(world, token, "reused")
    world.pass_time(seconds=2)
    assert faults_in(await world.post(soon, token, **idempotency_header("reused"))) == {"transactions[0].at": "range"}

    async def fail(*_: object) -> None:
        raise unavailable("The table is locked.")

    # The clock may exist, so the client must try again.
    monkeypatch.setattr(world.store, "find_creation", fail)
    assert reason_of(await world.post(soon, token, **idempotency_header("k"))) == "UNAVAILABLE"
    # The attempt to create a clock has already found that the key was reused.
    assert faults_in(await create(world, token, "reused", "{}")) == REUSED


@pytest.mark.parametrize("end", ["deleted", "expired"])
async def test_passed_times_are_rejected_after_the_clock_has_ended(world: World, token: str, end: str) -> None:
    soon = call(CREATE, {"transactions": [transaction(at=to_timestamp(world.now + timedelta(seconds=1)))]})
    clock = (await world.post(soon, token, **idempotency_header("k"))).json["result"]["clock"]
    world.pass_time(seconds=2)
    if end == "deleted":
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
    else:
        world.now = datetime.fromisoformat(clock["expiresAt"])
    assert faults_in(await world.post(soon, token, **idempotency_header("k"))) == {"transactions[0].at": "range"}


async def test_rejection_holds_after_the_clock_with_the_key_was_deleted(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion comes between the rejection and the look-up of the key."""
    clock = await clock_of(world, token, "k")
    find_creation = world.store.find_creation

    async def delete_first(*arguments: Any) -> Any:
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
        return await find_creation(*arguments)

    monkeypatch.setattr(world.store, "find_creation", delete_first)
    amendment = call("amendTestClock", {"id": clock["id"], "cancel": ["unknown"]})
    response = await world.post(amendment, token, **idempotency_header("k"))
    assert reason_of(response) == "CLOCK_NOT_FOUND"


# Lifetime of keys


async def test_rejected_call_uses_no_key_and_a_retry_needs_no_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=1) as world:
        token = await world.sign_in()
        assert faults_in(await create(world, token, "k", '{"goals": 5}')) == {"goals": "type"}
        clock = await clock_of(world, token, "k")
        response = await create(world, token, "another")
        assert (response.status, reason_of(response)) == (429, "RATE_LIMITED")
        assert response.headers["retry-after"] == str(7 * 86_400)
        assert await clock_of(world, token, "k") == clock
        assert faults_in(await create(world, token, "k", "{}")) == REUSED
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
        assert (await clock_of(world, token, "another", "{}"))["id"] != clock["id"]
