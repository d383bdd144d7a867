"""Query plans on PostgreSQL: a call does the same work among many clocks as among ten."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count, product
from typing import Any

import asyncpg
import pytest

from tests.store.bulk_data import BUSY, COLLECTOR, BulkData, address
from tests.store.recorded_plans import ExplainedConnections, open_explained
from tests.store.values import (
    ANA,
    DAY,
    END,
    NOW,
    START,
    access_token,
    add_clock,
    advance,
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
from tests.support.program import until
from tickover.api.ids import first_live_key
from tickover.server.sign_in.logins import Limits
from tickover.server.storage import open_store, write_probe
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Amendment, IdempotencyRecord, LabelSearch, NameChanges, Quota, Store

_CONCURRENT = 100
_SWEEP_LIMIT = 200
_TABLES = "clocks", "schedules", "creations", "connections", "users", "tokens", "login_sends", "login_failures"
_LIVE = first_live_key(NOW)
_WITHOUT_RESULT = {"ping", "undo_send", "allow_resend", "record_token_use"}
_Calls = Iterator[Awaitable[Any]]


class _Caller:
    """Yields calls of every method of the store, with each kind of parameters that the store handles differently.

    The first call of each method finds data.
    """

    def __init__(self, store: Store, data: BulkData) -> None:
        self._store = store
        self._data = data
        self._last = data.clocks
        self._new = count(1_000_000_000)
        self._doomed = count(500, 10)
        # Connections have the numbers of their clocks.
        self._claimed = count(data.clocks - 2, -2)
        self._unclaimed = count(data.clocks - 1, -2)

    @staticmethod
    def methods() -> list[str]:
        return [name for name in vars(_Caller) if not name.startswith("_") and name != "methods"]

    def _named(self, number: int) -> tuple[bytes, bytes]:
        """Return the key and the owner of a clock."""
        return self._data.key(number), user(number % self._data.users)

    def _keyed(self) -> list[tuple[int, int]]:
        """Return used idempotency keys with their owners: one with a few clocks, and one with many."""
        last = self._last - 10
        return [(last, last % self._data.users), (COLLECTOR + 7, COLLECTOR)]

    def _secret(self, number: int) -> bytes:
        """Return the digest of a connection's secret: an access secret for even numbers, a setup secret for others."""
        return sha256(self._data.key(number)).digest()

    def ping(self) -> _Calls:
        yield self._store.ping()

    def share_key(self) -> _Calls:
        for secret in (b"a key", b"another key"):
            yield self._store.share_key(secret, NOW)

    def find_token(self) -> _Calls:
        last = self._data.users - 1
        yield self._store.find_token(digest(last), NOW)
        numbers = [*range(last, last - _CONCURRENT, -1), next(self._new)]
        yield asyncio.gather(*(self._store.find_token(digest(number), NOW) for number in numbers))

    def create_clock(self) -> _Calls:
        """Below and above each limit, and for an owner with many clocks."""

        def create(owner: int, quota: Quota) -> Awaitable[object]:
            return self._store.create_clock(clock(next(self._new)), user(owner), b"schedule", _LIVE, quota)

        for quota in (Quota(1), Quota(0, 1), Quota(10_000, 10**9), Quota(0, 10**9), Quota()):
            yield create(1, quota)
        yield create(COLLECTOR, Quota(100, 10**9))
        yield asyncio.gather(*(create(owner, Quota(10_000, 10**9)) for owner in range(_CONCURRENT)))

    def create_clock_once(self) -> _Calls:
        """With used keys, a new key, a key of an expired clock, and for an owner above the quota."""
        calls = [(*each, limit) for each in self._keyed() for limit in (0, 10_000)]
        calls += [(number, 1, limit) for number in (next(self._new), 10) for limit in (10_000, 0, 1)]
        for number, owner, limit in [*calls, (next(self._new), COLLECTOR, 100)]:
            new = clock(next(self._new)), user(owner), b"schedule", _LIVE, Quota(limit)
            yield self._store.create_clock_once(make_record(number), *new)

    def find_creation(self) -> _Calls:
        for number, owner in [*self._keyed(), (next(self._new), 1), (10, 1)]:
            yield self._store.find_creation(digest(number), user(owner), _LIVE)

    def find_clock(self) -> _Calls:
        for number, known in ((self._last, None), (self._last, 0), (self._last + 1, None)):
            yield self._store.find_clock(*self._named(number), known_revision=known)

    def list_clocks(self) -> _Calls:
        """For an owner with more than a page in every slot, one with a few clocks, and one without."""
        middle = key(COLLECTOR + 7, NOW - 3 * DAY)
        owners = [(COLLECTOR, None), (COLLECTOR, middle), (1, None), (1, middle), (next(self._new), None)]
        for (owner, before), limit in product(owners, (101, 2)):
            yield self._store.list_clocks(user(owner), _LIVE, before, limit)

    def search_clocks(self) -> _Calls:
        for owner in (COLLECTOR, 1, next(self._new)):
            yield self._store.search_clocks(user(owner), _LIVE, None, 21, LabelSearch(['"ci":"1"'], 100))

    def update_clock(self) -> _Calls:
        for changes in (NameChanges("x", '{"ci":"1"}'), NameChanges(None)):
            yield self._store.update_clock(*self._named(self._last), changes, bytes(16), Quota())

    def amend_clock(self) -> _Calls:
        """With and without a key and a quota, a conflict, an unknown clock, and for an owner with many clocks."""
        used, new = make_record(self._keyed()[0][0]), make_record(next(self._new))
        calls = [(None, Quota()), (None, Quota(bytes=10**9)), (None, Quota(bytes=1)), (new, Quota()), (used, Quota())]
        for record, quota in calls:
            yield self._amend(record, quota)
        stale = Amendment(10**6, END, b"schedule")
        for number in (self._last, self._last + 1):
            yield self._store.amend_clock(*self._named(number), stale, _LIVE, Quota())

    async def _amend(self, record: IdempotencyRecord | None, quota: Quota) -> object:
        found = await self._store.find_clock(*self._named(self._last))
        amendment = Amendment(found.clock.revision if found else 0, END, bytes(300), record)
        return await self._store.amend_clock(*self._named(self._last), amendment, _LIVE, quota)

    def find_session(self) -> _Calls:
        for number in (self._data.users - 1, next(self._new)):
            yield self._store.find_session(digest(number), NOW)

    def delete_clock(self) -> _Calls:
        """A clock with a key, one without, and an unknown one; different ones each time."""
        with_key = (self._last - next(self._doomed)) // 10 * 10
        for number in (with_key, with_key + 1, self._last + 1):
            yield self._store.delete_clock(*self._named(number))

    def advance_clock(self) -> _Calls:
        yield self._store.advance_clock(*self._named(self._last), START + DAY)
        numbers = range(self._last - _CONCURRENT, self._last)
        yield asyncio.gather(*(self._store.advance_clock(*self._named(number), START + DAY) for number in numbers))

    def claim_send(self) -> _Calls:
        for email in (BUSY, ANA, address(self._data.users - 1)):
            yield self._store.claim_send(code(next(self._new), NOW, email), Limits())

    def undo_send(self) -> _Calls:
        number = self._data.users - 10
        yield self._store.undo_send(code(number, NOW, address(number)))

    def allow_resend(self) -> _Calls:
        yield self._store.allow_resend(code(self._data.users - 12))

    def count_attempt(self) -> _Calls:
        for email in (address(self._data.users - 2), address(0), "nobody@example.test"):
            yield self._store.count_attempt(email, Limits(), NOW)

    def redeem_code(self) -> _Calls:
        number = self._data.users - 4
        for secret in (digest(number), digest(number), digest(next(self._new))):
            yield self._store.redeem_code(address(number), secret, session(next(self._new)))

    def redeem_link(self) -> _Calls:
        number = self._data.users - 3
        for secret in (digest(number), digest(number), digest(next(self._new))):
            yield self._store.redeem_link(secret, session(next(self._new)))

    def revoke_token(self) -> _Calls:
        yield self._store.revoke_token(digest(self._data.users - next(self._doomed)))
        yield self._store.revoke_token(digest(next(self._new)))
        yield self._store.revoke_token(digest(self._data.users - next(self._doomed)), allow_resend=True)

    def record_token_use(self) -> _Calls:
        for number in (self._data.users - 1, next(self._new)):
            yield self._store.record_token_use(digest(number), NOW)

    def find_or_create_user(self) -> _Calls:
        for number in (self._data.users - 1, next(self._new)):
            yield self._store.find_or_create_user(address(number), user(next(self._new)), NOW)

    def create_access_token(self) -> _Calls:
        """Below and above the limit."""
        for _ in range(3):
            yield self._store.create_access_token(access_token(next(self._new)), user(1), 2)

    def list_access_tokens(self) -> _Calls:
        yield self._store.create_access_token(access_token(next(self._new)), user(2), 1000)
        for owner in (2, next(self._new)):
            yield self._store.list_access_tokens(user(owner), NOW)

    def revoke_access_token(self) -> _Calls:
        new = access_token(next(self._new))
        yield self._store.create_access_token(new, user(2), 1000)
        for owner in (2, 1):
            yield self._store.revoke_access_token(new.key, user(owner), NOW)

    def create_connection(self) -> _Calls:
        """Below and above the limit."""
        for limit in (1000, 1):
            new = connection(next(self._new)), digest(next(self._new))
            yield self._store.create_connection(*new, *self._named(self._last), limit)

    def list_connections(self) -> _Calls:
        for number in (self._last, self._last + 1):
            yield self._store.list_connections(*self._named(number))

    def delete_connection(self) -> _Calls:
        clock_key, owner = self._named(next(self._claimed))
        for _ in range(2):
            yield self._store.delete_connection(clock_key, clock_key, owner)

    def claim_connection(self) -> _Calls:
        for secret in (self._secret(next(self._unclaimed)), digest(next(self._new))):
            yield self._store.claim_connection(secret, digest(next(self._new)), "PLAID", _LIVE)

    def find_connection(self) -> _Calls:
        secret = self._secret(self._last)
        for known in (None, 0):
            yield self._store.find_connection(secret, "PLAID", _LIVE, known_revision=known)
        yield self._store.find_connection(digest(next(self._new)), "PLAID", _LIVE)

    def require_login(self) -> _Calls:
        yield self._store.require_login(self._secret(self._last), "PLAID", _LIVE)

    def end_connection(self) -> _Calls:
        secret = self._secret(next(self._claimed))
        for _ in range(2):
            yield self._store.end_connection(secret, "PLAID", _LIVE)

    def find_institution(self) -> _Calls:
        yield self._store.find_institution(self._data.key(self._last), _LIVE)

    def sweep(self) -> _Calls:
        """Twice: the second sweep reads past the rows that the first one deleted."""
        for _ in range(2):
            yield self._store.sweep(NOW, _SWEEP_LIMIT)


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


async def _call_all(caller: _Caller, explained: ExplainedConnections) -> dict[str, list[str]]:
    """Call all methods, and return the parts of plans that take longer if there are more rows."""
    problems = {}
    for method in _Caller.methods():
        explained.statements.clear()
        found = [await call for call in getattr(caller, method)()]
        assert any(statement.tables for statement in explained.statements), f"no plan of {method} was recorded"
        assert found[0] or method in _WITHOUT_RESULT, f"{method} found nothing"
        problems[method] = explained.problems()
    return {method: found for method, found in problems.items() if found}


async def test_calls_among_many_clocks_read_only_what_they_need(server: PostgresServer) -> None:
    data = BulkData(20_000, overdue=2000)
    async with _open_filled(server, "many_clocks") as (store, explained, connection):
        await data.fill(connection)
        await connection.execute("analyze")
        assert await _call_all(_Caller(store, data), explained) == {}


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
                for call in getattr(caller, method)():
                    await call
        for table in _TABLES:
            await connection.execute(f"delete from {table}")
        await data.fill(connection)
        assert await _call_all(caller, explained) == {}


# HOT updates


async def test_advance_updates_no_index(postgres: PostgresServer) -> None:
    """Such an update is called HOT. Other updates would make the indexes grow with every advance."""
    url, numbers, days = postgres.create_database(), range(200), range(1, 4)
    store = await open_store(url)
    await asyncio.gather(*(add_clock(store, clock(number), user(1)) for number in numbers))
    for day in days:
        await asyncio.gather(*(advance(store, key(number), user(1), START + day * DAY) for number in numbers))
    await store.close()
    # Sometimes a page has no free space. The server may take a moment to count the updates.
    counts = (
        "select sum(n_tup_upd) = 600 and sum(n_tup_hot_upd) > 580 from pg_stat_user_tables where relname ~ '^clocks'"
    )
    connection = await asyncpg.connect(url)
    await until(lambda: connection.fetchval(counts))
    await connection.close()
