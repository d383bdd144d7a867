"""The schedule cache: responses are the same with and without a cached schedule."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import contribution, goal, transaction
from tests.support.world import World, open_world
from tickover.server.operations import stored_clocks as operations
from tickover.server.schedule.schedule import decode_stored

SCHEDULE = {
    "frozenTime": "2027-01-31T09:00:00Z",
    "transactions": [transaction(at=f"2027-0{month}-01T09:00:00Z") for month in (2, 3)],
    "goals": [goal(contributions=[contribution(at="2027-02-01T00:00:00Z")])],
}


@pytest.fixture
async def elsewhere(tmp_path: Path, database_url: str) -> AsyncIterator[World]:
    """Another server on the same database, with its own cache."""
    async with open_world(tmp_path / "elsewhere", database_url) as opened:
        yield opened


async def test_amendment_on_another_server_is_visible(world: World, elsewhere: World) -> None:
    token = await world.sign_in()
    clock = await world.create(token, **SCHEDULE)
    for server in (world, elsewhere):
        await server.result("getTestClock", {"id": clock["id"]}, token)
        await server.result("getTestClockBalances", {"id": clock["id"]}, token)
    item = clock["pendingTransactions"][0]
    amended = (await elsewhere.result("amendTestClock", {"id": clock["id"], "cancel": [item["id"]]}, token))["clock"]
    assert (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"] == amended
    at = {"id": clock["id"], "at": clock["maxTime"]}
    balances = [await server.result("getTestClockBalances", at, token) for server in (world, elsewhere)]
    assert balances[0] == balances[1]
    # An advance is the first call that another server makes after a further amendment.
    item = clock["pendingTransactions"][1]
    await elsewhere.result("amendTestClock", {"id": clock["id"], "cancel": [item["id"]]}, token)
    moved = await world.advance(token, clock["id"], clock["frozenTime"])
    assert moved == (await elsewhere.result("getTestClock", {"id": clock["id"]}, token))["clock"]


async def test_clock_deleted_on_another_server_is_not_found(world: World, elsewhere: World) -> None:
    token = await world.sign_in()
    clock = await world.create(token, **SCHEDULE)
    id, advance = {"id": clock["id"]}, {"id": clock["id"], "frozenTime": clock["frozenTime"]}
    await world.result("advanceTestClock", advance, token)
    await elsewhere.result("deleteTestClock", id, token)
    for method in ("getTestClock", "advanceTestClock", "forkTestClock", "deleteTestClock"):
        error = await world.error(method, advance if method == "advanceTestClock" else id, token)
        assert error["data"]["reason"] == "CLOCK_NOT_FOUND"


async def test_schedule_is_loaded_only_if_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_schedules: list[bytes] = []

    async def load(name: str, max_bytes: int) -> list[int]:
        """Return the sizes of loaded schedules: two clocks by turns, three times each, then one three times."""
        monkeypatch.setattr(operations, "_MAX_CACHED_BYTES", max_bytes)
        async with open_world(tmp_path / name) as world:
            advance, sizes = world.store.advance_clock, []

            async def advance_and_record(*args: Any, **options: Any) -> Any:
                stored = await advance(*args, **options)
                assert stored is not None
                sizes.append(len(stored.schedule))
                stored_schedules.append(stored.schedule)
                return stored

            monkeypatch.setattr(world.store, "advance_clock", advance_and_record)
            token = await world.sign_in()
            one, other = [(await world.create(token, **SCHEDULE))["id"] for _ in range(2)]
            for clock_id in (one, other, one, other, one, other, one, one, one):
                await world.advance(token, clock_id, str(SCHEDULE["frozenTime"]))
            return sizes

    (size, *_) = sizes = await load("none", 0)
    assert sizes == [size] * 9 != [0] * 9
    cached = operations.CachedSchedule(0, decode_stored(stored_schedules[0]), size).bytes_in_memory
    assert await load("one", 2 * cached - 1) == [size] * 7 + [0] * 2, "there is room for one"
    assert await load("two", 2 * cached) == [0] * 9, "created clocks are cached"
