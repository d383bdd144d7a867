"""getTestClock: the current clock, or a preview."""

from typing import Any

import pytest

from tests.rpc.builders import START, contribution, goal, transaction
from tests.support.world import World

GET = "getTestClock"
TIMES = ["2027-02-01T00:00:00Z", "2027-02-01T00:00:00.000001Z", "2027-06-01T00:00:00Z", "2037-01-01T00:00:00Z"]
SCHEDULE = {
    "frozenTime": START,
    "transactions": [transaction(at=time, name=time) for time in reversed(TIMES)],
    "goals": [goal(initialAmount=0.1, contributions=[contribution(at=time, amount=0.2) for time in TIMES])],
}


async def get(world: World, token: str, clock: Any, **params: Any) -> Any:
    return (await world.result(GET, {"id": clock["id"], **params}, token))["clock"]


# Details


def details_of(clock: Any) -> tuple[str, list[float]]:
    """Remove the details of a clock and return them."""
    return clock.pop("startTime"), [goal.pop("initialAmount") for goal in clock["goals"]]


async def test_details_add_the_start_and_initial_amounts(world: World, token: str) -> None:
    # 0.1 + 1e-17 is rounded in currentAmount, so it can't be computed from the other amounts.
    goals = [goal(initialAmount=0.1, contributions=[contribution(at=TIMES[0], amount=1e-17)]), goal(initialAmount=5)]
    clock = await world.create(token, frozenTime=START, goals=goals)
    preview = await get(world, token, clock, at=TIMES[1])
    advanced = await world.advance(token, clock["id"], TIMES[1])
    assert advanced == preview
    found = await get(world, token, clock, details=True)
    assert details_of(found) == (START, [0.1, 5])
    assert found == advanced == await get(world, token, clock, details=False)
    preview = await get(world, token, clock, details=True, at=TIMES[2])
    assert details_of(preview) == (START, [0.1, 5])
    assert preview == await get(world, token, clock, at=TIMES[2])


# Previews


@pytest.mark.parametrize(
    ("at", "code", "data"),
    [
        pytest.param(at, -32011, {"reason": "TIME_BEFORE_CURRENT", "currentFrozenTime": "2027-02-01T00:00:00Z"}, id=at)
        for at in ("2027-01-31T23:59:59.999999Z", START, "0001-01-01T00:00:00Z")
    ]
    + [
        pytest.param(at, -32012, {"reason": "TIME_AFTER_MAX", "maxTime": "2037-01-01T00:00:00Z"}, id=at)
        for at in ("2037-01-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999Z")
    ],
)
async def test_preview_outside_of_the_range_is_rejected(
    world: World, token: str, at: str, code: int, data: Any
) -> None:
    clock = await world.create(token, **SCHEDULE)
    before = await world.advance(token, clock["id"], TIMES[0])
    response = await world.call(GET, {"id": clock["id"], "at": at}, token)
    assert (response.status, response.json["error"]["code"]) == (200, code)
    assert response.json["error"]["data"] == data
    assert await get(world, token, clock) == before
