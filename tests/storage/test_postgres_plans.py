"""How PostgreSQL carries out what the store asks of it: with as little work among a million clocks as among ten."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import asyncpg
import pytest

from tests.contract.values import (
    ANA,
    DAY,
    MINUTE,
    NOW,
    START,
    clock,
    code,
    digest,
    key,
    make_record,
    session,
    user,
)
from tests.storage.crowd import BUSY, COLLECTOR, Crowd, address, keep_many
from tests.storage.explained import Explained, open_explained
from tests.support.postgres import PostgresServer
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Limits
from tickover.server.storage import open_store
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Quota, Store

_AT_ONCE = 100
_SWEPT_AT_ONCE = 200


class _Visitor:
    """Calls every method of the port, in every way that the store goes about it differently.

    The first thing that each gives back is there to be found, if the crowd is there.
    """

    def __init__(self, store: Store, crowd: Crowd) -> None:
        self._store = store
        self._crowd = crowd
        self._fresh = count(1_000_000_000)
        self._doomed = count(500, 10)

    @staticmethod
    def methods() -> list[str]:
        return [name for name in vars(_Visitor) if not name.startswith("_") and name != "methods"]

    async def ping(self) -> None:
        await self._store.ping()

    async def share_key(self) -> list[Any]:
        return [await self._store.share_key(key, NOW) for key in (b"a key", b"another key")]

    async def user_of_token(self) -> list[Any]:
        last = self._crowd.users - 1
        numbers = [last, *range(last, last - _AT_ONCE, -1), next(self._fresh)]
        return await asyncio.gather(*(self._store.user_of_token(digest(number), NOW) for number in numbers))

    async def create_clock(self) -> list[Any]:
        """Within each limit and above it, and for one who has many clocks."""

        async def create(owner: int, quota: Quota) -> object:
            new = clock(next(self._fresh))
            return await self._store.create_clock(new, user(owner), b"schedule", first_live_key(NOW), quota)

        quotas = (Quota(1), Quota(0, 1), Quota(10_000, 10**9), Quota(0, 10**9), Quota())
        one_by_one = [await create(1, quota) for quota in quotas]
        one_by_one.append(await create(COLLECTOR, Quota(100, 10**9)))
        return one_by_one + await asyncio.gather(*(create(owner, Quota(10_000, 10**9)) for owner in range(_AT_ONCE)))

    def _known(self) -> list[tuple[int, int]]:
        """Keys that were used, with their owners: one who has a few clocks, and one who has many."""
        last = self._crowd.clocks - 10
        return [(last, last % self._crowd.users), (COLLECTOR + 7, COLLECTOR)]

    async def create_clock_once(self) -> list[Any]:
        """For keys that are known, one that is new, one whose clock has expired, and for one who has no room."""

        async def create(number: int, owner: int, limit: int) -> object:
            told = (
                make_record(number),
                clock(next(self._fresh)),
                user(owner),
                b"schedule",
                first_live_key(NOW),
                Quota(limit),
            )
            return await self._store.create_clock_once(*told)

        known = [await create(*each, limit) for each in self._known() for limit in (0, 10_000)]
        others = [await create(number, 1, limit) for number in (next(self._fresh), 10) for limit in (10_000, 0, 1)]
        return known + others + [await create(next(self._fresh), COLLECTOR, 100)]

    async def find_creation(self) -> list[Any]:
        asked = [*self._known(), (next(self._fresh), 1), (10, 1)]
        min_live_key = first_live_key(NOW)
        return [await self._store.find_creation(digest(number), user(owner), min_live_key) for number, owner in asked]

    async def find_clock(self) -> list[Any]:
        last = self._crowd.clocks
        asked = [(last, with_schedule) for with_schedule in (True, False)] + [(last + 1, True)]
        return [
            await self._store.find_clock(self._crowd.key(number), user(number % self._crowd.users), with_schedule=whole)
            for number, whole in asked
        ]

    async def list_clocks(self) -> list[Any]:
        """Of one who has more than fit on a page in every slot, one who has a few, and one who has none."""
        min_live_key, middle = first_live_key(NOW), key(COLLECTOR + 7, NOW - 3 * DAY)
        asked = [(COLLECTOR, None), (COLLECTOR, middle), (1, None), (1, middle), (next(self._fresh), None)]
        return [
            await self._store.list_clocks(user(owner), min_live_key, before, limit)
            for owner, before in asked
            for limit in (101, 2)
        ]

    async def delete_clock(self) -> list[Any]:
        """One that was made with a key, one that was not, and one that is not there; each time others."""
        with_key = (self._crowd.clocks - next(self._doomed)) // 10 * 10
        numbers = (with_key, with_key + 1, self._crowd.clocks + 1)
        return [
            await self._store.delete_clock(self._crowd.key(number), user(number % self._crowd.users))
            for number in numbers
        ]

    async def advance_clock(self) -> list[Any]:
        async def advance(number: int) -> object:
            owner = user(number % self._crowd.users)
            return await self._store.advance_clock(self._crowd.key(number), owner, START + DAY)

        last = self._crowd.clocks
        return [await advance(last)] + await asyncio.gather(*(advance(last - number) for number in range(_AT_ONCE)))

    async def claim_send(self) -> list[Any]:
        emails = (BUSY, ANA, address(self._crowd.users - 1))
        return [await self._store.claim_send(code(next(self._fresh), NOW, email), Limits()) for email in emails]

    async def undo_send(self) -> None:
        await self._store.undo_send(code(self._crowd.users - 10, NOW, address(self._crowd.users - 10)))

    async def free_slot(self) -> None:
        await self._store.free_slot(code(self._crowd.users - 12))

    async def count_try(self) -> list[Any]:
        emails = (address(self._crowd.users - 2), address(0), "nobody@example.test")
        return [await self._store.count_try(email, Limits(), NOW) for email in emails]

    async def redeem_code(self) -> list[Any]:
        number = self._crowd.users - 4
        secrets = (digest(number), digest(number), digest(next(self._fresh)))
        return [
            await self._store.redeem_code(address(number), secret, session(next(self._fresh))) for secret in secrets
        ]

    async def redeem_link(self) -> list[Any]:
        number = self._crowd.users - 3
        secrets = (digest(number), digest(number), digest(next(self._fresh)))
        return [await self._store.redeem_link(secret, session(next(self._fresh))) for secret in secrets]

    async def revoke_token(self) -> None:
        for number in (self._crowd.users - 200, next(self._fresh)):
            await self._store.revoke_token(digest(number))

    async def sweep(self) -> list[Any]:
        """Twice, since what the first has left is found behind what it has deleted."""
        return [await self._store.sweep(NOW, _SWEPT_AT_ONCE) for _ in range(2)]


def test_the_visitor_calls_every_method_but_close() -> None:
    assert {*_Visitor.methods(), "close"} == {name for name in vars(Store) if not name.startswith("_")}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One for these tests alone: as long as anybody's transaction lasts, a server keeps what it would clear away."""
    with PostgresServer(autovacuum="off", max_wal_size="8GB", default_statistics_target="10") as own:
        yield own


@asynccontextmanager
async def _filled(
    server: PostgresServer, name: str
) -> AsyncIterator[tuple[PostgresStore, Explained, asyncpg.Connection]]:
    """A store on a database of its own, and a connection to fill it behind the store's back."""
    server.create_database(name)
    url = server.url(name, "postgres")
    try:
        async with open_explained(url) as (store, explained):
            connection = await asyncpg.connect(url)
            yield store, explained, connection
            await connection.close()
    finally:
        server.execute(f"drop database {name} with (force)")


async def _visit(visitor: _Visitor, explained: Explained, method: str) -> list[str]:
    """Call the method in all its ways; what would take longer the more rows there are."""
    explained.statements.clear()
    found = await getattr(visitor, method)()
    assert any(statement.tables for statement in explained.statements), "nobody told how it was done"
    assert found is None or found[0], "it did not find what it looked for"
    return explained.troubles()


async def test_among_a_million_clocks_nothing_is_read_but_what_is_wanted(server: PostgresServer) -> None:
    crowd = Crowd(1_000_000, forgotten=1000)
    async with _filled(server, "a_million_clocks") as (store, explained, connection):
        await crowd.fill(connection)
        await connection.execute("analyze")
        visitor = _Visitor(store, crowd)
        troubles = {method: await _visit(visitor, explained, method) for method in _Visitor.methods()}
    assert {method: found for method, found in troubles.items() if found} == {}


async def test_what_was_planned_while_there_was_nothing_is_good_for_a_crowd(server: PostgresServer) -> None:
    """Nobody tells the server that it has grown; with the first statistics, plans would be made anew."""
    crowd = Crowd(100_000, forgotten=1000)
    async with _filled(server, "it_began_empty") as (store, explained, connection):
        visitor = _Visitor(store, crowd)
        for _ in range(10):
            for method in _Visitor.methods():
                await getattr(visitor, method)()
        for table in ("clocks", "schedules", "users", "tokens", "login_sends", "login_failures", "creations"):
            await connection.execute(f"delete from {table}")
        await crowd.fill(connection)
        troubles = {method: await _visit(visitor, explained, method) for method in _Visitor.methods()}
    assert {method: found for method, found in troubles.items() if found} == {}


_OF_CLOCKS = [name for name in _Visitor.methods() if "clock" in name or "creation" in name]


async def test_a_slot_that_was_known_to_be_empty_may_fill(server: PostgresServer) -> None:
    """As the next day's does. What was planned is planned anew only when the server looks at the slot again."""
    crowd = Crowd(20_000)
    async with _filled(server, "tomorrow") as (store, explained, connection):
        await crowd.fill(connection)
        await connection.execute("analyze")
        visitor = _Visitor(store, crowd)
        for method in _OF_CLOCKS:
            await getattr(visitor, method)()
        assert await connection.fetchval("select count(*) from clocks_0") == 0
        await keep_many(connection, NOW + DAY, 5000, owner=7)
        assert await connection.fetchval("select count(*) from clocks_0") == 5000
        troubles = {method: await _visit(visitor, explained, method) for method in _OF_CLOCKS}
    assert {method: found for method, found in troubles.items() if found} == {}


# Whether it would be noticed


# In this order none of them hides that another is missing.
_NEEDED = [
    ("creations_by_clock", ["sweep", "delete_clock"], "creations"),
    ("creations_pkey", ["find_creation"], "creations"),
    ("tokens_by_expiry", ["sweep"], "tokens"),
    ("tokens_pkey", ["user_of_token"], "tokens"),
    ("login_sends_by_age", ["sweep"], "login_sends"),
    ("login_sends_by_email", ["count_try"], "login_sends"),
    ("login_sends_pkey", ["free_slot"], "login_sends"),
    ("clocks_#_by_owner", ["create_clock", "list_clocks"], "clocks_"),
    ("clocks_#_pkey", ["sweep", "find_clock", "delete_clock"], "clocks_"),
    ("schedules_#_pkey", ["advance_clock", "find_clock", "delete_clock"], "schedules_"),
]


async def _drop(connection: asyncpg.Connection, indexes: str) -> None:
    """Those of all slots, where there is one for each."""
    for name in [indexes.replace("#", str(slot)) for slot in range(10 if "#" in indexes else 1)]:
        table = await connection.fetchval("select tablename from pg_indexes where indexname = $1", name)
        is_key = name.endswith("_pkey")
        await connection.execute(f"alter table {table} drop constraint {name}" if is_key else f"drop index {name}")


async def test_it_would_be_noticed_if_an_index_were_missing(server: PostgresServer) -> None:
    crowd = Crowd(40_000, forgotten=2000)
    async with _filled(server, "a_small_crowd") as (store, explained, connection):
        await crowd.fill(connection)
        visitor = _Visitor(store, crowd)
        for indexes, methods, table in _NEEDED:
            for method in methods:
                assert f"of {table}" not in str(await _visit(visitor, explained, method))
            await _drop(connection, indexes)
            for method in methods:
                found = str(await _visit(visitor, explained, method))
                assert f"of {table}" in found, f"{method} does not miss {indexes}"


_BAD = {
    "select max(frozen_time) from clocks": "the whole of clocks_9 is read",
    "select * from clocks order by frozen_time": "Sort on disk",
    "select from tokens where expires_at > 0": "2000 rows of tokens",
    "select from login_sends where email > 'a' and tries = 7": "2030 rows of login_sends that were not wanted",
    "select from login_sends where email > 'a' and spent": "blocks of login_sends",
    "do $$ begin perform from login_failures where count < 0; end $$": "the whole of login_failures is read",
}


async def test_bad_statements_are_noticed(server: PostgresServer) -> None:
    async with _filled(server, "a_crowd_to_be_scanned") as (_, explained, connection):
        await Crowd(20_000).fill(connection)
        await explained.fetch("select set_config('work_mem', '64kB', false)")
        for statement, trouble in _BAD.items():
            explained.statements.clear()
            await explained.fetch(statement)
            assert trouble in str(explained.troubles())


# The small row that an advance rewrites


async def test_no_index_learns_of_an_advance(server: PostgresServer) -> None:
    """Such an update is called HOT. Others would make the indexes grow with every advance."""
    url = server.create_database("advances")
    store, connection = await open_store(url), await asyncpg.connect(url)
    crowd, order = Crowd(10_000), random.Random(1)
    await crowd.fill(connection)

    async def advance(number: int, to: Instant) -> None:
        assert await store.advance_clock(crowd.key(number), user(number % crowd.users), to) is not None

    numbers = [*range(8001, 10_001)]
    for day in range(6):
        order.shuffle(numbers)
        await asyncio.gather(*(advance(number, START + day * DAY) for number in numbers))
        for number in numbers[:100]:
            await advance(number, START + day * DAY + MINUTE)
    await store.close()
    updates, without_index = await _updates_of_clocks(connection, 6 * 2100)
    await connection.close()
    server.execute("drop database advances with (force)")
    # Now and then a page has no room left.
    assert updates == 6 * 2100
    assert without_index > 0.98 * updates


async def _updates_of_clocks(connection: asyncpg.Connection, least: int) -> tuple[int, int]:
    """How many there were, and how many of which no index learned; the server may need a moment to count them."""
    async with asyncio.timeout(30):
        while True:
            ((updates, without_index),) = await connection.fetch(
                """select sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint
                   from pg_stat_user_tables where relname like 'clocks%'"""
            )
            if updates >= least:
                return updates, without_index
            await asyncio.sleep(0.01)
