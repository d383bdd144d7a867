"""Query plans on PostgreSQL: a call does the same work among many clocks as among ten."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count
from typing import Any

import asyncpg
import pytest

from tests.store.bulk_data import BUSY, COLLECTOR, BulkData, address
from tests.store.recorded_plans import ExplainedConnections, open_explained
from tests.store.values import (
    ANA,
    DAY,
    END,
    MINUTE,
    NOW,
    START,
    access_token,
    clock,
    code,
    connection,
    digest,
    key,
    make_record,
    session,
    user,
)
from tests.support.postgres import PostgresServer
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.sign_in.logins import Limits
from tickover.server.storage import open_store, write_probe
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Amendment, IdempotencyRecord, LabelSearch, NameChanges, Quota, Store

_CONCURRENT = 100
_SWEEP_LIMIT = 200
_CLOCK_TABLES = ("clocks", "schedules", "creations", "connections")


class _Caller:
    """Calls every method of the store, with each kind of parameters that the store handles differently.

    The first result of each call is data that exists in a contents database.
    """

    def __init__(self, store: Store, data: BulkData) -> None:
        self._store = store
        self._data = data
        self._fresh = count(1_000_000_000)
        self._doomed = count(500, 10)
        self._claimed = count(data.clocks - 2, -2)
        self._unclaimed = count(data.clocks - 1, -2)
        """Connections, by the numbers of their clocks."""

    @staticmethod
    def methods() -> list[str]:
        return [name for name in vars(_Caller) if not name.startswith("_") and name != "methods"]

    async def ping(self) -> None:
        await self._store.ping()

    async def share_key(self) -> list[Any]:
        return [await self._store.share_key(key, NOW) for key in (b"a key", b"another key")]

    async def find_token(self) -> list[Any]:
        last = self._data.users - 1
        numbers = [last, *range(last, last - _CONCURRENT, -1), next(self._fresh)]
        return await asyncio.gather(*(self._store.find_token(digest(number), NOW) for number in numbers))

    async def create_clock(self) -> list[Any]:
        """Below and above each limit, and for an owner with many clocks."""

        async def create(owner: int, quota: Quota) -> object:
            new = clock(next(self._fresh))
            return await self._store.create_clock(new, user(owner), b"schedule", first_live_key(NOW), quota)

        quotas = (Quota(1), Quota(0, 1), Quota(10_000, 10**9), Quota(0, 10**9), Quota())
        one_by_one = [await create(1, quota) for quota in quotas]
        one_by_one.append(await create(COLLECTOR, Quota(100, 10**9)))
        return one_by_one + await asyncio.gather(*(create(owner, Quota(10_000, 10**9)) for owner in range(_CONCURRENT)))

    def _existing(self) -> list[tuple[int, int]]:
        """Return used idempotency keys with their owners: one with a few clocks, and one with many."""
        last = self._data.clocks - 10
        return [(last, last % self._data.users), (COLLECTOR + 7, COLLECTOR)]

    async def create_clock_once(self) -> list[Any]:
        """With used keys, a new key, a key of an expired clock, and for an owner above the quota."""

        async def create(number: int, owner: int, limit: int) -> object:
            args = (
                make_record(number),
                clock(next(self._fresh)),
                user(owner),
                b"schedule",
                first_live_key(NOW),
                Quota(limit),
            )
            return await self._store.create_clock_once(*args)

        known = [await create(*each, limit) for each in self._existing() for limit in (0, 10_000)]
        others = [await create(number, 1, limit) for number in (next(self._fresh), 10) for limit in (10_000, 0, 1)]
        return known + others + [await create(next(self._fresh), COLLECTOR, 100)]

    async def find_creation(self) -> list[Any]:
        calls = [*self._existing(), (next(self._fresh), 1), (10, 1)]
        min_live_key = first_live_key(NOW)
        return [await self._store.find_creation(digest(number), user(owner), min_live_key) for number, owner in calls]

    async def find_clock(self) -> list[Any]:
        last = self._data.clocks
        calls = [(last, with_schedule) for with_schedule in (True, False)] + [(last + 1, True)]
        return [
            await self._store.find_clock(
                self._data.key(number), user(number % self._data.users), known_revision=None if with_schedule else 0
            )
            for number, with_schedule in calls
        ]

    async def list_clocks(self) -> list[Any]:
        """For an owner with more than a page in every slot, one with a few clocks, and one without."""
        min_live_key, middle = first_live_key(NOW), key(COLLECTOR + 7, NOW - 3 * DAY)
        calls = [(COLLECTOR, None), (COLLECTOR, middle), (1, None), (1, middle), (next(self._fresh), None)]
        return [
            await self._store.list_clocks(user(owner), min_live_key, before, limit)
            for owner, before in calls
            for limit in (101, 2)
        ]

    async def search_clocks(self) -> list[Any]:
        """For an owner with many clocks, one with a few, and one without."""
        min_live_key, search = first_live_key(NOW), LabelSearch(['"ci":"1"'], 100)
        owners = (COLLECTOR, 1, next(self._fresh))
        return [await self._store.search_clocks(user(owner), min_live_key, None, 21, search) for owner in owners]

    async def update_clock(self) -> list[Any]:
        last = self._data.clocks
        calls = [(last, NameChanges("x", '{"ci":"1"}')), (last, NameChanges(None)), (last + 1, NameChanges("x"))]
        return [
            await self._store.update_clock(
                self._data.key(number), user(number % self._data.users), changes, bytes(16), Quota()
            )
            for number, changes in calls
        ]

    async def amend_clock(self) -> list[Any]:
        """With and without a key and a quota, a conflict, an unknown clock, and for an owner with many clocks."""
        last = self._data.clocks
        calls = [
            (last, None, Quota()),
            (last, None, Quota(bytes=10**9)),
            (last, None, Quota(bytes=1)),
            (last, make_record(next(self._fresh)), Quota(bytes=10**9)),
            (last, make_record(self._existing()[0][0]), Quota()),
            (last + 1, None, Quota(bytes=10**9)),
        ]
        outcomes = [await self._amend(number, record, quota) for number, record, quota in calls]
        stale = Amendment(10**6, END, b"schedule")
        owner = user(last % self._data.users)
        return [
            *outcomes,
            await self._store.amend_clock(self._data.key(last), owner, stale, first_live_key(NOW), Quota()),
        ]

    async def _amend(self, number: int, record: IdempotencyRecord | None, quota: Quota) -> object:
        owner = user(number % self._data.users)
        found = await self._store.find_clock(self._data.key(number), owner)
        amendment = Amendment(found.clock.revision if found else 0, END, bytes(300), record)
        return await self._store.amend_clock(self._data.key(number), owner, amendment, first_live_key(NOW), quota)

    async def find_session(self) -> list[Any]:
        numbers = (self._data.users - 1, next(self._fresh))
        return [await self._store.find_session(digest(number), NOW) for number in numbers]

    async def delete_clock(self) -> list[Any]:
        """A clock with a key, one without, and an unknown one; different ones each time."""
        with_key = (self._data.clocks - next(self._doomed)) // 10 * 10
        numbers = (with_key, with_key + 1, self._data.clocks + 1)
        return [
            await self._store.delete_clock(self._data.key(number), user(number % self._data.users))
            for number in numbers
        ]

    async def advance_clock(self) -> list[Any]:
        async def advance(number: int) -> object:
            owner = user(number % self._data.users)
            return await self._store.advance_clock(self._data.key(number), owner, START + DAY)

        last = self._data.clocks
        return [await advance(last)] + await asyncio.gather(*(advance(last - number) for number in range(_CONCURRENT)))

    async def claim_send(self) -> list[Any]:
        emails = (BUSY, ANA, address(self._data.users - 1))
        return [await self._store.claim_send(code(next(self._fresh), NOW, email), Limits()) for email in emails]

    async def undo_send(self) -> None:
        await self._store.undo_send(code(self._data.users - 10, NOW, address(self._data.users - 10)))

    async def allow_resend(self) -> None:
        await self._store.allow_resend(code(self._data.users - 12))

    async def count_attempt(self) -> list[Any]:
        emails = (address(self._data.users - 2), address(0), "nobody@example.test")
        return [await self._store.count_attempt(email, Limits(), NOW) for email in emails]

    async def redeem_code(self) -> list[Any]:
        number = self._data.users - 4
        secrets = (digest(number), digest(number), digest(next(self._fresh)))
        return [
            await self._store.redeem_code(address(number), secret, session(next(self._fresh))) for secret in secrets
        ]

    async def redeem_link(self) -> list[Any]:
        number = self._data.users - 3
        secrets = (digest(number), digest(number), digest(next(self._fresh)))
        return [await self._store.redeem_link(secret, session(next(self._fresh))) for secret in secrets]

    async def revoke_token(self) -> None:
        for number in (self._data.users - 200, next(self._fresh)):
            await self._store.revoke_token(digest(number))
        await self._store.revoke_token(digest(self._data.users - 201), allow_resend=True)

    async def record_token_use(self) -> None:
        for number in (self._data.users - 1, next(self._fresh)):
            await self._store.record_token_use(digest(number), NOW)

    async def find_or_create_user(self) -> list[Any]:
        emails = (address(self._data.users - 1), address(next(self._fresh)))
        return [await self._store.find_or_create_user(email, user(next(self._fresh)), NOW) for email in emails]

    async def create_access_token(self) -> list[Any]:
        """Below and above the limit."""
        new = [access_token(next(self._fresh)) for _ in range(3)]
        return [await self._store.create_access_token(each, user(1), 2) for each in new]

    async def list_access_tokens(self) -> list[Any]:
        await self._store.create_access_token(access_token(next(self._fresh)), user(2), 1000)
        return [await self._store.list_access_tokens(user(owner), NOW) for owner in (2, next(self._fresh))]

    async def revoke_access_token(self) -> list[Any]:
        new = access_token(next(self._fresh))
        await self._store.create_access_token(new, user(2), 1000)
        return [await self._store.revoke_access_token(new.key, user(owner), NOW) for owner in (2, 1)]

    async def create_connection(self) -> list[Any]:
        """Below and above the limit."""
        last = self._data.clocks
        return [
            await self._store.create_connection(
                connection(next(self._fresh)),
                digest(next(self._fresh)),
                self._data.key(last),
                user(last % self._data.users),
                limit,
            )
            for limit in (1000, 1)
        ]

    async def list_connections(self) -> list[Any]:
        last = self._data.clocks
        keys = self._data.key(last), self._data.key(last + 1)
        return [await self._store.list_connections(key, user(last % self._data.users)) for key in keys]

    async def delete_connection(self) -> list[Any]:
        number = next(self._claimed)
        clock_key, owner = self._data.key(number), user(number % self._data.users)
        return [await self._store.delete_connection(clock_key, clock_key, owner) for _ in range(2)]

    def _secret(self, number: int) -> bytes:
        """Return the digest of a connection's secret: an access secret for even numbers, a setup secret for others."""
        return sha256(self._data.key(number)).digest()

    async def claim_connection(self) -> list[Any]:
        secrets = [self._secret(next(self._unclaimed)), digest(next(self._fresh))]
        new, live = digest(next(self._fresh)), first_live_key(NOW)
        return [await self._store.claim_connection(secret, new, "PLAID", live) for secret in secrets]

    async def find_connection(self) -> list[Any]:
        secret, live = self._secret(self._data.clocks), first_live_key(NOW)
        found = [await self._store.find_connection(secret, "PLAID", live, known_revision=known) for known in (None, 0)]
        return [*found, await self._store.find_connection(digest(next(self._fresh)), "PLAID", live)]

    async def require_login(self) -> list[Any]:
        secret = self._secret(self._data.clocks)
        return [await self._store.require_login(secret, "PLAID", first_live_key(NOW))]

    async def end_connection(self) -> list[Any]:
        secret = self._secret(next(self._claimed))
        return [await self._store.end_connection(secret, "PLAID", first_live_key(NOW)) for _ in range(2)]

    async def find_institution(self) -> list[Any]:
        return [await self._store.find_institution(self._data.key(self._data.clocks), first_live_key(NOW))]

    async def sweep(self) -> list[Any]:
        """Twice: the second sweep reads past the rows that the first one deleted."""
        return [await self._store.sweep(NOW, _SWEEP_LIMIT) for _ in range(2)]


def test_caller_calls_every_method_that_runs_a_statement() -> None:
    assert {*_Caller.methods(), "load", "close"} == {name for name in vars(Store) if not name.startswith("_")}


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A separate server, because any open transaction keeps a server from removing dead rows."""
    with postgres.sibling(autovacuum="off", max_wal_size="8GB", default_statistics_target="10") as own:
        yield own


@asynccontextmanager
async def _open_filled(
    server: PostgresServer, name: str
) -> AsyncIterator[tuple[PostgresStore, ExplainedConnections, asyncpg.Connection]]:
    """Open a store on a separate database, and a connection to fill it."""
    server.create_database(name)
    url = server.url(name, "postgres")
    try:
        async with open_explained(url) as (store, explained):
            connection = await asyncpg.connect(url)
            yield store, explained, connection
            await connection.close()
    finally:
        server.execute(f"drop database {name} with (force)")


async def _call(caller: _Caller, explained: ExplainedConnections, method: str) -> list[str]:
    """Call the method in all variants, and return the parts of plans that take longer if there are more rows."""
    explained.statements.clear()
    found = await getattr(caller, method)()
    assert any(statement.tables for statement in explained.statements), "no plan was recorded"
    assert found is None or found[0], "it found nothing"
    return explained.problems()


async def test_calls_among_many_clocks_read_only_what_they_need(server: PostgresServer) -> None:
    data = BulkData(20_000, overdue=2000)
    async with _open_filled(server, "many_clocks") as (store, explained, connection):
        await data.fill(connection)
        await connection.execute("analyze")
        caller = _Caller(store, data)
        problems = {method: await _call(caller, explained, method) for method in _Caller.methods()}
    assert {method: found for method, found in problems.items() if found} == {}


async def test_plans_made_for_an_empty_database_are_good_for_a_full_one(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's statistics are not updated. With new statistics, it would make new plans."""
    # Otherwise `ping` writes only once a second.
    monkeypatch.setattr(write_probe, "_CACHE_SECONDS", 0)
    data = BulkData(20_000, overdue=1000)
    async with _open_filled(server, "it_began_empty") as (store, explained, connection):
        caller = _Caller(store, data)
        for _ in range(2):  # plans are generic, so the first call makes them
            for method in _Caller.methods():
                await getattr(caller, method)()
        for table in (*_CLOCK_TABLES, "users", "tokens", "login_sends", "login_failures"):
            await connection.execute(f"delete from {table}")
        await data.fill(connection)
        problems = {method: await _call(caller, explained, method) for method in _Caller.methods()}
    assert {method: found for method, found in problems.items() if found} == {}


# HOT updates


async def test_advance_updates_no_index(server: PostgresServer) -> None:
    """Such an update is called HOT. Other updates would make the indexes grow with every advance."""
    url = server.create_database("advances")
    store, connection = await open_store(url), await asyncpg.connect(url)
    data, order = BulkData(3000), random.Random(1)
    await data.fill(connection)

    async def advance(number: int, to: Instant) -> None:
        assert await store.advance_clock(data.key(number), user(number % data.users), to) is not None

    numbers = [*range(2401, 3001)]
    for day in range(3):
        order.shuffle(numbers)
        await asyncio.gather(*(advance(number, START + day * DAY) for number in numbers))
        for number in numbers[:30]:
            await advance(number, START + day * DAY + MINUTE)
    await store.close()
    updates, without_index = await _count_updates(connection, 3 * 630)
    await connection.close()
    server.execute("drop database advances with (force)")
    # Sometimes a page has no free space.
    assert updates == 3 * 630
    assert without_index > 0.98 * updates


async def _count_updates(connection: asyncpg.Connection, least: int) -> tuple[int, int]:
    """Return the number of all updates and of HOT updates. The server may take a moment to count them."""
    async with asyncio.timeout(30):
        while True:
            ((updates, without_index),) = await connection.fetch(
                """select sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint
                   from pg_stat_user_tables where relname like 'clocks%'"""
            )
            if updates >= least:
                return updates, without_index
            await asyncio.sleep(0.01)
