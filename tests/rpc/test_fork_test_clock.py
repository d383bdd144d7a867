"""forkTestClock: a new clock with the same schedule and maxTime, at any instant."""

from typing import Any

import pytest

from tests.rpc.builders import (
    MICROSECOND,
    START,
    contribution,
    goal,
    reason_of,
    shift,
    to_timestamp,
    transaction,
    without_ids,
)
from tests.support.world import World

FORK = "forkTestClock"
MAX_TIME = "2037-01-01T00:00:00Z"
TIMES = ["2027-02-01T00:00:00Z", "2027-06-01T00:00:00Z", MAX_TIME]
SCHEDULE = {
    "frozenTime": START,
    "transactions": [
        transaction(at=TIMES[1], name="später", category="b"),
        transaction(at=TIMES[0], name="früher"),
        transaction(at=TIMES[2], name="zuletzt", type="EXPENSE"),
    ],
    "goals": [
        goal(initialAmount=0.1, contributions=[contribution(at=time, amount=0.2) for time in TIMES]),
        goal(name="Nothing yet", targetAmount=5),
    ],
}


async def fork(world: World, token: str, clock: Any, **at: str) -> Any:
    return (await world.result(FORK, {"id": clock["id"], **at}, token))["clock"]


async def get(world: World, token: str, clock: Any, **at: str) -> Any:
    return (await world.result("getTestClock", {"id": clock["id"], **at}, token))["clock"]


# Contents


@pytest.mark.parametrize("at", [START, "2027-05-31T23:59:59.999999Z", TIMES[1], MAX_TIME])
async def test_fork_equals_the_clock_at_that_instant(world: World, token: str, at: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    preview = await get(world, token, clock, at=at)
    await world.advance(token, clock["id"], TIMES[1])
    forked = await fork(world, token, clock, at=at)
    assert without_ids(forked) == without_ids(preview)
    assert forked["frozenTime"] == at
    assert forked.keys() == clock.keys()


# Range of `at`


@pytest.mark.parametrize("at", [shift(START, -MICROSECOND), shift(MAX_TIME, MICROSECOND)])
@pytest.mark.parametrize("generation", [0, 2])
async def test_fork_outside_of_start_and_max_time_is_rejected(
    world: World, token: str, at: str, generation: int
) -> None:
    clock = await world.create(token, **SCHEDULE)
    for time in TIMES[:generation]:
        clock = await fork(world, token, clock, at=time)
    response = await world.call(FORK, {"id": clock["id"], "at": at}, token)
    assert (response.status, response.json["error"]["code"]) == (200, -32602)
    assert response.json["error"]["message"] == "1 field of forkTestClock is invalid."
    message = f"must be between the clock's start and its maxTime ({START} to {MAX_TIME})"
    assert response.json["error"]["data"] == {
        "reason": "INVALID_PARAMS",
        "errors": [{"path": "at", "rule": "range", "message": message, "got": at}],
    }
    assert len((await world.result("listTestClocks", {}, token))["clocks"]) == generation + 1


async def test_fork_with_start_more_than_ten_years_ago_is_accepted(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=to_timestamp(world.now.replace(year=2017)))
    world.pass_time(days=6)
    assert (
        reason_of(await world.call("createTestClock", {"frozenTime": clock["frozenTime"]}, token)) == "INVALID_PARAMS"
    )
    assert without_ids(await fork(world, token, clock)) == without_ids(clock)
