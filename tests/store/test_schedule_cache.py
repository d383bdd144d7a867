"""The schedule cache: responses are the same with and without a cached schedule."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

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
    # Not sorted, and in forms that differ from the response.
    "transactions": [
        transaction(at="2027-03-01T00:00:00.5Z", amount=12.0, name='Tea "for two"\n', category="Zürich"),
        transaction(at="2027-02-01T10:00:00+01:00", amount=0.1),
        transaction(at="2027-02-01T09:00:00Z", amount=1e9, type="EXPENSE"),
    ],
    "goals": [
        goal(
            targetAmount=0.3,
            initialAmount=0.1,
            contributions=[
                contribution(at="2027-03-01T00:00:00Z", amount=0.2),
                contribution(at="2027-02-01T00:00:00Z", amount=1e-7),
            ],
        ),
        goal(name="Nothing yet"),
        # Its exact sums have more than 64 bits.
        goal(targetAmount=1e9, contributions=[contribution(at="2027-03-01T00:00:00Z", amount=1e-15)]),
    ],
}
INSTANTS = [
    "2027-01-31T09:00:00Z",
    "2027-02-01T08:59:59.999999Z",
    "2027-02-01T09:00:00Z",
    "2027-03-01T00:00:00Z",
    "2037-01-31T09:00:00Z",
]


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


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([0, 1, 0, 1, 0], id="here and there"),
        pytest.param([1, 0, 0, 1, 1], id="elsewhere first"),
    ],
)
async def test_response_is_the_same_with_cached_schedule(servers: Servers, turns: list[int]) -> None:
    worlds = [await servers.start() for _ in range(2)]
    token = await worlds[0].sign_in()
    created = await worlds[0].create(token, **SCHEDULE)
    for instant, turn in zip(INSTANTS, turns, strict=True):
        moved = await worlds[turn].advance(token, created["id"], instant)
        assert moved["frozenTime"] == instant
        assert moved == await (await servers.start()).advance(token, created["id"], instant)
        assert [await world.advance(token, created["id"], instant) for world in worlds] == [moved, moved]
        if instant == created["frozenTime"]:
            assert moved == created


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
    worlds, token, clock = await _clock_of_ana(servers)
    await worlds[2].result("deleteTestClock", {"id": clock["id"]}, token)
    assert await _reasons(worlds, token, clock["id"], clock["frozenTime"]) == {"CLOCK_NOT_FOUND"}
    for world in worlds:
        for method in ("getTestClock", "forkTestClock", "deleteTestClock"):
            assert (await world.error(method, {"id": clock["id"]}, token))["data"]["reason"] == "CLOCK_NOT_FOUND"


async def _clock_of_ana(servers: Servers) -> tuple[list[World], str, Any]:
    """Three servers: one has created the clock, one has moved it, and one has an empty cache."""
    worlds = [await servers.start() for _ in range(3)]
    token = await worlds[0].sign_in()
    clock = await worlds[0].create(token, **SCHEDULE)
    await worlds[1].advance(token, clock["id"], clock["frozenTime"])
    return worlds, token, clock


async def _reasons(worlds: list[World], token: str, clock_id: str, instant: str) -> set[str]:
    params = {"id": clock_id, "frozenTime": instant}
    return {(await world.error("advanceTestClock", params, token))["data"]["reason"] for world in worlds}


class WatchedStore(SqliteStore):
    """A store that records the size of each schedule that it returns."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.given: list[int] = []

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        stored = await super().advance_clock(key, owner, to, known_revision=known_revision)
        self.given.append(len(stored.schedule) if stored else 0)
        return stored

    async def find_clock(self, key: bytes, owner: Owner, *, known_revision: int | None = None) -> StoredClock | None:
        stored = await super().find_clock(key, owner, known_revision=known_revision)
        self.given.append(len(stored.schedule) if stored else 0)
        return stored


async def _advances(servers: Servers, path: Path, room: int | None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of loaded schedules: two clocks by turns, three times each, then one three times."""
    with monkeypatch.context() as settings:
        if room is not None:
            settings.setattr(operations, "_MAX_CACHED_BYTES", room)
        store = WatchedStore(path)
        world = await servers.start(store)
    token = await world.sign_in()
    one, other = [(await world.create(token, **SCHEDULE))["id"] for _ in range(2)]
    for clock_id in (one, other, one, other, one, other, one, one, one):
        await world.advance(token, clock_id, INSTANTS[0])
    return store.given


async def test_schedule_is_loaded_only_if_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with AsyncExitStack() as opened:
        servers = Servers(tmp_path, "", opened)
        given = await _advances(servers, tmp_path / "none.db", 0, monkeypatch)
        size = given[0]
        assert given == [size] * 9 != [0] * 9
        given = await _advances(servers, tmp_path / "one.db", 2 * size - 1, monkeypatch)
        assert given == [size] * 7 + [0] * 2, "there is room for one"
        assert await _advances(servers, tmp_path / "two.db", 2 * size, monkeypatch) == [size] * 2 + [0] * 7
        assert await _advances(servers, tmp_path / "real.db", None, monkeypatch) == [size] * 2 + [0] * 7
