"""advanceTestClock: time only moves forward, up to maxTime."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import (
    MICROSECOND,
    START,
    call,
    contribution,
    goal,
    idempotency_header,
    reason_of,
    to_timestamp,
    transaction,
)
from tests.support.world import World, open_world

ADVANCE = "advanceTestClock"
SCHEDULE = {
    "frozenTime": START,
    "transactions": [transaction(at="2027-01-31T09:00:00Z", authorizedAt="2027-01-29T09:00:00Z")],
    "goals": [goal(initialAmount=900, contributions=[contribution(at="2027-02-03T00:00:00Z")])],
}


def advance_params(clock: Any, frozen_time: str = "2027-03-01T00:00:00Z") -> dict[str, str]:
    return {"id": clock["id"], "frozenTime": frozen_time}


# Order of time


async def test_advance_changes_only_the_frozen_time(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    world.pass_time(hours=5)
    result = await world.result(ADVANCE, advance_params(clock), token)
    assert result == {"clock": clock | {"frozenTime": "2027-03-01T00:00:00Z"}}


@pytest.mark.parametrize("again", ["2027-03-01T00:00:00Z", "2027-03-01T01:00:00+01:00", "2027-02-28T23:59:60Z"])
async def test_advance_to_current_time_changes_nothing(world: World, token: str, again: str) -> None:
    params = {"transactions": [transaction()], "goals": [goal(contributions=[contribution()])]}
    clock = await world.create(token, frozenTime=START, **params)
    first = await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    assert await world.advance(token, clock["id"], again) == first
    assert await world.advance(token, clock["id"], again) == first


async def test_advance_to_earlier_time_is_rejected(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    for earlier in ("2027-02-28T23:59:59.999999Z", START, "0001-01-01T00:00:00Z"):
        response = await world.call(ADVANCE, advance_params(clock, earlier), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32011)
        details = {"reason": "TIME_BEFORE_CURRENT", "currentFrozenTime": "2027-03-01T00:00:00Z"}
        assert response.json["error"]["data"] == details
    assert (await world.advance(token, clock["id"], "2027-03-01T00:00:00.000001Z"))["id"] == clock["id"]


async def test_advance_past_max_time_is_rejected(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2028-02-29T00:00:00.5Z")
    assert clock["maxTime"] == "2038-02-28T00:00:00.500000Z"
    beyond = to_timestamp(datetime.fromisoformat(clock["maxTime"]) + MICROSECOND)
    for after in (beyond, "9999-12-31T23:59:59.999999Z"):
        response = await world.call(ADVANCE, advance_params(clock, after), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32012)
        assert response.json["error"]["data"] == {"reason": "TIME_AFTER_MAX", "maxTime": clock["maxTime"]}
    assert (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"] == clock
    last = await world.advance(token, clock["id"], clock["maxTime"])
    assert last["frozenTime"] == last["maxTime"] == clock["maxTime"]
    assert last["expiresAt"] == clock["expiresAt"]


# By a duration, to the next item, and what happened


async def faults(world: World, token: str, **params: Any) -> list[tuple[str, str]]:
    error = await world.error(ADVANCE, params, token)
    return [(fault["path"], fault["rule"]) for fault in error["data"]["errors"]]


@pytest.mark.parametrize(
    ("by", "after"),
    [
        ("1mo", "2027-02-28T00:00:00Z"),
        ("+36h", "2027-02-01T12:00:00Z"),
        ("1y 6mo", "2028-07-31T00:00:00Z"),
        ("10 years", "2037-01-31T00:00:00Z"),
    ],
)
async def test_advance_by_a_duration_counts_from_the_clock(world: World, token: str, by: str, after: str) -> None:
    clock = await world.create(token, frozenTime="2027-01-31T00:00:00Z")
    assert await world.result(ADVANCE, {"id": clock["id"], "by": by}, token) == {"clock": clock | {"frozenTime": after}}


async def test_advance_to_next_stops_at_each_instant_and_not_at_authorizations(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    params = {"id": clock["id"], "next": True}
    moved = [(await world.result(ADVANCE, params, token))["clock"]["frozenTime"] for _ in range(2)]
    assert moved == ["2027-01-31T09:00:00Z", "2027-02-03T00:00:00Z"]
    assert await faults(world, token, **params) == [("next", "existing")]


@pytest.mark.parametrize("by", ["11y", "999999y", "10y 1s"])
async def test_advance_by_too_much_changes_nothing(world: World, token: str, by: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    error = await world.error(ADVANCE, {"id": clock["id"], "by": by}, token)
    assert error["data"] == {"reason": "TIME_AFTER_MAX", "maxTime": clock["maxTime"]}
    assert (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"] == clock


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, [("frozenTime", "required")]),
        ({"next": False, "events": True}, [("frozenTime", "required")]),
        ({"frozenTime": None}, [("frozenTime", "type")]),
        ({"frozenTime": START, "by": "1d", "next": True}, [("by", "oneOf"), ("next", "oneOf")]),
        ({"by": "1d", "next": True}, [("next", "oneOf")]),
        ({"by": "0d"}, [("by", "positive")]),
        ({"by": "soon"}, [("by", "format")]),
        ({"by": "-1d"}, [("by", "format")]),
        ({"by": "1d" * 51}, [("by", "maxLength")]),
        ({"by": 5, "next": 1}, [("by", "type"), ("next", "type"), ("next", "oneOf")]),
    ],
)
async def test_advance_needs_one_valid_way(world: World, token: str, params: Any, expected: Any) -> None:
    clock = await world.create(token, **SCHEDULE)
    assert await faults(world, token, id=clock["id"], **params) == expected
    assert (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"] == clock


@pytest.mark.parametrize("way", [{"frozenTime": "2027-03-01T00:00:00Z"}, {"by": "59d"}])
async def test_advance_returns_the_events_between_both_times(world: World, token: str, way: dict[str, str]) -> None:
    clock = await world.create(token, **SCHEDULE)
    await world.advance(token, clock["id"], "2027-01-31T08:59:59Z")
    params = {"id": clock["id"], **way, "events": True}
    result = await world.result(ADVANCE, params, token)
    listed = await world.result("listTestClockEvents", {"id": clock["id"]}, token)
    assert result == {"clock": result["clock"], **listed}
    types = [event["type"] for event in result["events"]]
    assert types == ["transaction.posted", "contribution.posted", "goal.reached"]
    again = await world.result(ADVANCE, params | {"by": "1s"} if "by" in way else params, token)
    assert again["events"] == []


async def test_advance_returns_at_most_500_events(world: World, token: str) -> None:
    items = [transaction(at="2027-02-01T00:00:00Z")] * 100
    clock = await world.create(token, frozenTime=START, transactions=items)
    for _ in range(4):
        await world.result("amendTestClock", {"id": clock["id"], "add": {"transactions": items}}, token)
    fork = (await world.result("forkTestClock", {"id": clock["id"]}, token))["clock"]
    exact = await world.result(ADVANCE, {"id": fork["id"], "next": True, "events": True}, token)
    assert (len(exact["events"]), "moreEvents" in exact) == (500, False)
    await world.result("amendTestClock", {"id": clock["id"], "add": {"transactions": items[:1]}}, token)
    more = await world.result(ADVANCE, {"id": clock["id"], "next": True, "events": True}, token)
    assert (len(more["events"]), more["moreEvents"]) == (500, True)


async def test_repeated_advance_moves_once_and_has_no_events(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    body = call(ADVANCE, {"id": clock["id"], "by": "1mo", "events": True})
    first, again = [(await world.post(body, token, **idempotency_header("k"))).json["result"] for _ in range(2)]
    assert len(first["events"]) == 1
    assert again == {"clock": first["clock"], "events": []}
    moved = await world.advance(token, clock["id"], clock["maxTime"])
    late = (await world.post(body, token, **idempotency_header("k"))).json["result"]
    assert late == {"clock": moved, "events": []}
    reused = await world.post(call(ADVANCE, {"id": clock["id"], "by": "2mo"}), token, **idempotency_header("k"))
    assert reused.json["error"]["data"]["errors"][0]["rule"] == "reused"


async def test_reused_key_is_found_before_a_missing_clock(world: World, token: str) -> None:
    clock, other = await world.create(token), await world.create(token)
    await world.result("deleteTestClock", {"id": other["id"]}, token)
    for id, rule in ((clock["id"], None), (other["id"], "reused")):
        response = await world.post(call(ADVANCE, {"id": id, "by": "1d"}), token, **idempotency_header("k"))
        assert ("error" in response.json) == bool(rule)
    assert [fault["rule"] for fault in response.json["error"]["data"]["errors"]] == ["reused"]


async def test_rejected_advance_leaves_the_key_free(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    for by in ("20y", "1d"):
        response = await world.post(call(ADVANCE, {"id": clock["id"], "by": by}), token, **idempotency_header("k"))
    assert response.json["result"]["clock"]["frozenTime"] == "2027-01-02T00:00:00Z"


@pytest.mark.parametrize("key", ["k", "", "k" * 256])
async def test_advance_to_a_time_ignores_the_key(world: World, token: str, key: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    for time in ("2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z"):
        body = call(ADVANCE, advance_params(clock, time))
        response = await world.post(body, token, **idempotency_header(key))
        assert response.json["result"]["clock"]["frozenTime"] == time
    by = call(ADVANCE, {"id": clock["id"], "by": "1d"})
    response = await world.post(by, token, **idempotency_header(key))
    assert ("result" in response.json) == (key == "k")


async def test_keys_of_advances_count_for_the_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_bytes_per_user=1_000) as world:
        clock = await world.create(token := await world.sign_in(), frozenTime=START)
        body = call(ADVANCE, {"id": clock["id"], "by": "1s"})
        responses = [await world.post(body, token, **idempotency_header(str(n))) for n in range(6)]
        assert ["error" in response.json for response in responses] == [False] * 4 + [True] * 2
        assert reason_of(responses[-1]) == "RATE_LIMITED"
        await world.advance(token, clock["id"], "2027-02-01T00:00:00Z")
