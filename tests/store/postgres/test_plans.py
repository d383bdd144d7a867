"""Query plans on PostgreSQL: a call does the same work among many clocks as among ten."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace

from tests.store.bulk_data import BUSY, COLLECTOR, BulkData, address
from tests.store.recorded_plans import ExplainedDatabase, open_explained
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
    link_token,
    make_record,
    session,
    user,
)
from tests.support.postgres import PostgresServer
from tests.support.program import until
from tickover.api.connections import ConnectionCall
from tickover.api.ids import first_live_key
from tickover.server.sign_in.resend_limits import SendLimits
from tickover.server.storage import open_store, write_probe
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import (
    Amendment,
    ClockSearch,
    NameChanges,
    Quota,
    Store,
    StoredWebhook,
    Token,
    WebhookProgress,
)

_CONCURRENT = 100
_SWEEP_LIMIT = 200
_TABLES = "clocks", "schedules", "creations", "connections", "users", "tokens", "login_emails", "login_failures"
_LIVE = first_live_key(NOW)
_CALL = ConnectionCall(NOW, NOW, "/item/get", "200", 1)
_WITHOUT_RESULT = {"add_bank_calls", "ping", "delete_email", "allow_resend", "record_token_use"}


async def _together(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    return await asyncio.gather(*calls)


async def _create_link_token(store: Store, new: Iterator[int], limit: int, number: int = 0) -> Any:
    """Create an access token, and a link token with it."""
    created, its_digest = access_token(next(new))
    await store.create_access_token(created, its_digest, user(2), 1000)
    token = Token(its_digest, user(2), NOW + DAY)
    return await store.create_link_token(link_token(), digest(number or next(new)), token, limit)


async def _find_link_token(store: Store, new: Iterator[int]) -> Any:
    await _create_link_token(store, new, 1000, number := next(new))
    return await store.find_link_token(digest(number), NOW)


async def _with_webhook(store: Store, new: Iterator[int], clock: tuple[bytes, bytes]) -> bytes:
    """Create and claim a connection with a webhook. Return its key."""
    number = next(new)
    connected = replace(connection(number), webhook=StoredWebhook("http://localhost/"))
    await store.create_connection(connected, digest(number), *clock, 1000)
    await store.claim_connection(digest(number), digest(number + 10**12), "PLAID", _LIVE)
    return connected.key


async def _list_webhooks(store: Store, new: Iterator[int], clock: tuple[bytes, bytes]) -> Any:
    await _with_webhook(store, new, clock)
    await store.list_owed_webhooks(NOW, NOW, clock_key=clock[0])
    return await store.list_owed_webhooks(NOW, NOW, min_live_key=_LIVE)


async def _list_webhook_clocks(store: Store, new: Iterator[int], clock: tuple[bytes, bytes]) -> Any:
    await _with_webhook(store, new, clock)
    return await store.list_webhook_clocks(_LIVE)


async def _lease_webhook(store: Store, new: Iterator[int], clock: tuple[bytes, bytes]) -> Any:
    return await store.lease_webhook(await _with_webhook(store, new, clock), NOW, NOW + DAY)


async def _end_webhook_lease(store: Store, new: Iterator[int], clock: tuple[bytes, bytes]) -> Any:
    connected = await _with_webhook(store, new, clock)
    await store.lease_webhook(connected, NOW, NOW + DAY)
    return await store.end_webhook_lease(connected, NOW + DAY, WebhookProgress(None))


def _calls(store: Store, data: BulkData) -> dict[str, Callable[[], list[Awaitable[Any]]]]:
    """Return calls of every method, with each kind of parameters that the store handles differently.

    The first call of each method finds data. No two methods use up the same data.
    """
    last, users, new = data.clocks, data.users, count(1_000_000_000)
    # An idempotency record whose owner has a few clocks, and one whose owner has many.
    few, many = (last - 10, (last - 10) % users), (COLLECTOR + 7, COLLECTOR)
    middle = key(COLLECTOR + 7, NOW - 3 * DAY)

    def clock_of(number: int) -> tuple[bytes, bytes]:
        """Return the key and the owner of a clock. The number after the last one is unknown."""
        return data.key(number), user(number % users)

    def secret_of(number: int) -> bytes:
        """Return the digest of a connection's secret: an access secret for even numbers, a setup secret for others."""
        return sha256(data.key(number)).digest()

    def create(owner: int, quota: Quota) -> Awaitable[object]:
        return store.create_clock(clock(next(new)), user(owner), b"schedule", replace(quota, min_live_key=_LIVE))

    def create_once(record: int, owner: int, limit: int) -> Awaitable[object]:
        values = clock(next(new)), user(owner), b"schedule", Quota(limit, 0, _LIVE)
        return store.create_clock(*values, make_record(record))

    async def amend(record: int | None, quota: Quota) -> object:
        found = await store.find_clock(*clock_of(last))
        known = None if record is None else make_record(record)
        amendment = Amendment(found.clock.revision if found else 0, END, bytes(300), known)
        return await store.amend_clock(*clock_of(last), amendment, replace(quota, min_live_key=_LIVE))

    def create_and_revoke_access_token() -> list[Awaitable[Any]]:
        created, token_digest = access_token(next(new))
        revocations = [store.revoke_access_token(created.key, user(owner), NOW) for owner in (2, 1)]
        return [store.create_access_token(created, token_digest, user(2), 1000), *revocations]

    return {
        "ping": lambda: [store.ping()],
        "share_key": lambda: [store.share_key(secret, NOW) for secret in (b"a key", b"another key")],
        "find_token": lambda: [
            store.find_token(digest(users - 1), NOW),
            _together(store.find_token(digest(users - number), NOW) for number in range(_CONCURRENT)),
        ],
        # Below and above each limit, and for an owner with many clocks.
        "create_clock": lambda: [
            *(create(1, quota) for quota in (Quota(1), Quota(0, 1), Quota(10_000, 10**9), Quota(0, 10**9), Quota())),
            create(COLLECTOR, Quota(100, 10**9)),
            _together(create(owner, Quota(10_000, 10**9)) for owner in range(_CONCURRENT)),
            # With used records, a new one, and one of an expired clock.
            *(create_once(*used, limit) for used in (few, many) for limit in (0, 100)),
            *(create_once(record, 1, limit) for record in (next(new), 10) for limit in (10_000, 0, 1)),
            create_once(next(new), COLLECTOR, 100),
        ],
        "find_creation": lambda: [
            store.find_creation(digest(record), user(owner), _LIVE)
            for record, owner in (few, many, (next(new), 1), (10, 1))
        ],
        "find_clock": lambda: [
            store.find_clock(*clock_of(number), known_revision=known)
            for number, known in ((last, None), (last, 0), (last + 1, None))
        ],
        # For an owner with more than a page in every slot, one with a few clocks, and one without.
        "list_clocks": lambda: [
            store.list_clocks(user(owner), _LIVE, before, limit)
            for owner in (COLLECTOR, 1, next(new))
            for before in (None, middle)
            for limit in (101, 2)
        ],
        "search_clocks": lambda: [
            store.search_clocks(user(owner), _LIVE, None, 21, ClockSearch(100, ['"ci":"1"'], "Summer"))
            for owner in (COLLECTOR, 1, next(new))
        ],
        "update_clock": lambda: [
            store.update_clock(*clock_of(last), changes, Quota())
            for changes in (NameChanges("x", '{"ci":"1"}'), NameChanges(None))
        ],
        # With and without a record and a quota, and conflicts.
        "amend_clock": lambda: [
            *(amend(None, quota) for quota in (Quota(), Quota(bytes=10**9), Quota(bytes=1))),
            *(amend(record, Quota()) for record in (next(new), few[0])),
            *(
                store.amend_clock(*clock_of(number), Amendment(10**6, END, b"schedule"), Quota(0, 0, _LIVE))
                for number in (last, last + 1)
            ),
        ],
        "find_email": lambda: [store.find_email(digest(number)) for number in (users - 1, next(new))],
        # With an idempotency record, and without.
        "move_clock": lambda: [
            store.move_clock(*clock_of(last), lambda clock: clock.frozen_time, Quota(0, 10**9, _LIVE), make_record(7))
        ],
        "delete_clock": lambda: [
            store.delete_clock(*clock_of(number)) for number in (last - 500, last - 499, last + 1)
        ],
        "advance_clock": lambda: [
            store.advance_clock(*clock_of(last), START + DAY),
            _together(store.advance_clock(*clock_of(last - number), START + DAY) for number in range(_CONCURRENT)),
        ],
        "record_email": lambda: [
            store.record_email(code(next(new), NOW, email), SendLimits()) for email in (BUSY, ANA, address(users - 1))
        ],
        "delete_email": lambda: [store.delete_email(code(users - 10, NOW, address(users - 10)))],
        "allow_resend": lambda: [store.allow_resend(code(users - 12))],
        "count_attempt": lambda: [
            store.count_attempt(email, SendLimits(), NOW) for email in (address(users - 2), address(0), ANA)
        ],
        "redeem_code": lambda: [
            store.redeem_code(address(users - 4), secret, session(next(new)))
            for secret in (digest(users - 4), digest(users - 4), digest(next(new)))
        ],
        "redeem_link": lambda: [
            store.redeem_link(secret, session(next(new)))
            for secret in (digest(users - 3), digest(users - 3), digest(next(new)))
        ],
        "delete_user": lambda: [store.delete_user(digest(number), NOW) for number in (users - 520, next(new))],
        "revoke_token": lambda: [
            store.revoke_token(digest(users - 500)),
            store.revoke_token(digest(next(new))),
            store.revoke_token(digest(users - 510), allow_resend=True),
            store.revoke_token(digest(users - 515), all_sessions=True),
        ],
        "record_token_use": lambda: [store.record_token_use(digest(number), NOW) for number in (users - 1, next(new))],
        "find_or_create_user": lambda: [
            store.find_or_create_user(address(number), user(next(new)), NOW) for number in (users - 1, next(new))
        ],
        # Below and above the limit.
        "create_access_token": lambda: [
            store.create_access_token(*access_token(next(new)), user(1), 2) for _ in range(3)
        ],
        "list_access_tokens": lambda: [
            store.create_access_token(*access_token(next(new)), user(2), 1000),
            *(store.list_access_tokens(user(owner), NOW) for owner in (2, next(new))),
        ],
        "revoke_access_token": create_and_revoke_access_token,
        # Below and above the limit.
        "create_connection": lambda: [
            store.create_connection(connection(next(new)), digest(next(new)), *clock_of(last), limit)
            for limit in (1000, 1)
        ],
        "list_connections": lambda: [store.list_connections(*clock_of(number)) for number in (last, last + 1)],
        "update_connection": lambda: [
            store.update_connection(data.key(number), *clock_of(last), {"calls_per_day": 5})
            for number in (last, last - 1)
        ],
        # A connection has the key of its clock.
        "add_bank_calls": lambda: [store.add_bank_calls(data.key(last), [_CALL], NOW) for _ in range(2)],
        "list_bank_calls": lambda: [store.list_bank_calls(data.key(last), *clock_of(last)) for _ in range(2)],
        "count_bank_call": lambda: [store.count_bank_call(data.key(last), "", NOW) for _ in range(2)],
        "delete_connection": lambda: [
            store.delete_connection(data.key(last - 2), *clock_of(last - 2)) for _ in range(2)
        ],
        "claim_connection": lambda: [
            store.claim_connection(secret, digest(next(new)), "PLAID", _LIVE)
            for secret in (secret_of(last - 1), digest(next(new)))
        ],
        "find_connection": lambda: [
            *(store.find_connection(secret_of(last), "PLAID", _LIVE, known_revision=known) for known in (None, 0)),
            store.find_connection(digest(next(new)), "PLAID", _LIVE),
        ],
        "require_login": lambda: [store.require_login(secret_of(last), "PLAID", _LIVE)],
        "end_connection": lambda: [store.end_connection(secret_of(last - 4), "PLAID", _LIVE) for _ in range(2)],
        "find_institution": lambda: [store.find_institution(data.key(last), _LIVE)],
        "repair_login": lambda: [
            store.repair_login(
                secret_of(last), digest(next(new)), user(last % users), _LIVE, lambda settings, _: settings
            )
        ],
        "create_link_token": lambda: [_create_link_token(store, new, limit) for limit in (1000, 0)],
        "find_link_token": lambda: [_find_link_token(store, new), store.find_link_token(digest(next(new)), NOW)],
        "update_webhook": lambda: [store.update_webhook(secret_of(last), "PLAID", _LIVE, "http://localhost/")],
        "list_webhook_clocks": lambda: [_list_webhook_clocks(store, new, clock_of(last))],
        "list_owed_webhooks": lambda: [_list_webhooks(store, new, clock_of(last))],
        "lease_webhook": lambda: [_lease_webhook(store, new, clock_of(last))],
        "end_webhook_lease": lambda: [_end_webhook_lease(store, new, clock_of(last))],
        # The second sweep reads past the rows that the first one deleted.
        "sweep": lambda: [store.sweep(NOW, _SWEEP_LIMIT) for _ in range(2)],
    }


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A separate server, because any open transaction keeps a server from removing dead rows."""
    with postgres.sibling(autovacuum="off", max_wal_size="8GB", default_statistics_target="10") as own:
        yield own


@asynccontextmanager
async def _open_filled(
    server: PostgresServer, name: str
) -> AsyncIterator[tuple[PostgresStore, ExplainedDatabase, asyncpg.Connection]]:
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


async def _problems(
    calls: dict[str, Callable[[], list[Awaitable[Any]]]], explained: ExplainedDatabase
) -> dict[str, list[str]]:
    """Call all methods, and return the parts of plans that take longer if there are more rows."""
    problems = {}
    for method, make_calls in calls.items():
        explained.statements.clear()
        found = [await call for call in make_calls()]
        assert any(statement.tables for statement in explained.statements), f"no plan of {method} was recorded"
        assert found[0] or method in _WITHOUT_RESULT, f"{method} found nothing"
        problems[method] = explained.problems()
    return {method: found for method, found in problems.items() if found}


async def test_calls_among_many_clocks_read_only_what_they_need(server: PostgresServer) -> None:
    data = BulkData(20_000, overdue=2000)
    async with _open_filled(server, "many_clocks") as (store, explained, connection):
        await data.fill(connection)
        await connection.execute("analyze")
        calls = _calls(store, data)
        assert {*calls, "load", "close"} == {name for name in vars(Store) if not name.startswith("_")}
        assert await _problems(calls, explained) == {}


async def test_plans_made_for_an_empty_database_are_good_for_a_full_one(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's statistics are not updated. With new statistics, it would make new plans."""
    # Otherwise `ping` writes only once a second.
    monkeypatch.setattr(write_probe, "_CACHE_SECONDS", 0)
    data = BulkData(20_000, overdue=1000)
    async with _open_filled(server, "it_began_empty") as (store, explained, connection):
        calls = _calls(store, data)
        for _ in range(2):  # plans are generic, so the first call makes them
            for make_calls in calls.values():
                for call in make_calls():
                    await call
        for table in _TABLES:
            await connection.execute(f"delete from {table}")
        await data.fill(connection)
        assert await _problems(calls, explained) == {}


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
