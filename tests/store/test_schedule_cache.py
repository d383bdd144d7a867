"""The schedule cache: responses are the same with and without a cached schedule."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.rpc.builders import POLICY, contribution, goal, transaction
from tests.support.stores import open_checked_store
from tests.support.world import COMPOSER, World
from tickover.api.timestamps import Instant
from tickover.server.operations import clocks as operations
from tickover.server.sign_in.mail.outbox import Outbox
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Owner, Store, StoredClock

SCHEDULE = {
    "frozenTime": "2027-01-31T09:00:00Z",
    "transactions": [transaction(at=f"2027-0{month}-01T09:00:00Z") for month in (2, 3)],
    "goals": [goal(contributions=[contribution(at="2027-02-01T00:00:00Z")])],
}


class Servers:
    """Worlds with one database, each with its own cache."""

    def __init__(self, folder: Path, database_url: str, opened: AsyncExitStack) -> None:
        self._folder = folder
        self._database_url = database_url
        self._opened = opened
        self._count = 0

    async def start(self, store: Store | None = None) -> World:
        """Open a world with an empty cache."""
        self._count += 1
        store = store or await open_checked_store(self._database_url)
        self._opened.push_async_callback(store.close)
        outbox = self._folder / f"outbox-{self._count}"
        return World(store, Outbox(outbox, COMPOSER), outbox, POLICY, seed=self._count)


@pytest.fixture
async def servers(tmp_path: Path, database_url: str) -> AsyncIterator[Servers]:
    async with AsyncExitStack() as opened:
        yield Servers(tmp_path, database_url, opened)


async def test_amendment_on_another_server_is_visible(servers: Servers) -> None:
    here, elsewhere = await servers.start(), await servers.start()
    token = await here.sign_in()
    clock = await here.create(token, **SCHEDULE)
    for world in (here, elsewhere):
        await world.result("getTestClock", {"id": clock["id"]}, token)
        await world.result("getTestClockBalances", {"id": clock["id"]}, token)
    item = clock["pendingTransactions"][0]
    amended = (await elsewhere.result("amendTestClock", {"id": clock["id"], "cancel": [item["id"]]}, token))["clock"]
    assert (await here.result("getTestClock", {"id": clock["id"]}, token))["clock"] == amended
    at = {"id": clock["id"], "at": clock["maxTime"]}
    balances = [await world.result("getTestClockBalances", at, token) for world in (here, elsewhere)]
    assert balances[0] == balances[1]
    # An advance is the first call that another server makes after a further amendment.
    item = clock["pendingTransactions"][1]
    await elsewhere.result("amendTestClock", {"id": clock["id"], "cancel": [item["id"]]}, token)
    moved = await here.advance(token, clock["id"], clock["frozenTime"])
    assert moved == (await elsewhere.result("getTestClock", {"id": clock["id"]}, token))["clock"]


async def test_clock_deleted_on_another_server_is_not_found(servers: Servers) -> None:
    """One server has created the clock, one has advanced it, and one has an empty cache."""
    worlds = [await servers.start() for _ in range(3)]
    token = await worlds[0].sign_in()
    clock = await worlds[0].create(token, **SCHEDULE)
    await worlds[1].advance(token, clock["id"], clock["frozenTime"])
    await worlds[2].result("deleteTestClock", {"id": clock["id"]}, token)
    advance = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
    for world in worlds:
        assert (await world.error("advanceTestClock", advance, token))["data"]["reason"] == "CLOCK_NOT_FOUND"
        for method in ("getTestClock", "forkTestClock", "deleteTestClock"):
            assert (await world.error(method, {"id": clock["id"]}, token))["data"]["reason"] == "CLOCK_NOT_FOUND"


class WatchedStore(SqliteStore):
    """A store that records the size of each schedule that an advance returns."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sizes: list[int] = []

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        stored = await super().advance_clock(key, owner, to, known_revision=known_revision)
        self.sizes.append(len(stored.schedule) if stored else 0)
        return stored


async def test_schedule_is_loaded_only_if_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def load(servers: Servers, file: str, max_bytes: int) -> list[int]:
        """Return the sizes of loaded schedules: two clocks by turns, three times each, then one three times."""
        monkeypatch.setattr(operations, "_MAX_CACHED_BYTES", max_bytes)
        store = WatchedStore(tmp_path / file)
        world = await servers.start(store)
        token = await world.sign_in()
        one, other = [(await world.create(token, **SCHEDULE))["id"] for _ in range(2)]
        for clock_id in (one, other, one, other, one, other, one, one, one):
            await world.advance(token, clock_id, str(SCHEDULE["frozenTime"]))
        return store.sizes

    async with AsyncExitStack() as opened:
        servers = Servers(tmp_path, "", opened)
        (size, *_) = sizes = await load(servers, "none.db", 0)
        assert sizes == [size] * 9 != [0] * 9
        assert await load(servers, "one.db", 2 * size - 1) == [size] * 7 + [0] * 2, "there is room for one"
        assert await load(servers, "two.db", 2 * size) == [size] * 2 + [0] * 7
