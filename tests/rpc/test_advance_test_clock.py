"""advanceTestClock: time only moves forward, up to maxTime."""

from datetime import datetime
from typing import Any

import pytest

from tests.rpc.builders import MICROSECOND, START, contribution, goal, to_timestamp, transaction
from tests.support.world import World

ADVANCE = "advanceTestClock"


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
