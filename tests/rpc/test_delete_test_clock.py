"""deleteTestClock: removes the clock, frees its quota, and changes nothing else."""

from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import START, call, contribution, goal, reason_of, transaction
from tests.support.world import World, open_world

DELETE = "deleteTestClock"
SCHEDULE = {
    "frozenTime": START,
    "transactions": [transaction()],
    "goals": [goal(contributions=[contribution()])],
}


async def delete(world: World, token: str, clock: Any) -> None:
    assert await world.result(DELETE, {"id": clock["id"]}, token) == {"message": "ok"}


async def reasons(world: World, token: str, clock: Any) -> set[str]:
    """Return the reason with which all operations fail for the clock."""
    asked = {"getTestClock": {}, "forkTestClock": {}, "advanceTestClock": {"frozenTime": START}, DELETE: {}}
    return {
        reason_of(await world.call(method, {"id": clock["id"], **params}, token)) for method, params in asked.items()
    }


async def test_deleted_clock_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    response = await world.post(call(DELETE, {"id": clock["id"]}), token)
    assert (response.status, response.json) == (200, {"jsonrpc": "2.0", "result": {"message": "ok"}, "id": 7})
    assert await reasons(world, token, clock) == {"CLOCK_NOT_FOUND"}
    assert await world.result("listTestClocks", {}, token) == {"clocks": []}


@pytest.mark.parametrize("rejected_before", [False, True], ids=["at once", "after a rejection"])
async def test_delete_frees_quota(tmp_path: Path, database_url: str, rejected_before: bool) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=2) as world:
        token = await world.sign_in()
        clocks = [await world.create(token) for _ in range(2)]
        for clock in clocks:
            if rejected_before:
                assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"
            await delete(world, token, clock)
            await world.create(token)
            assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"
