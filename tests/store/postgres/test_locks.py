"""Methods on PostgreSQL take the lock of their address, owner or key before they read anything.

Another session holds the lock, so a call that doesn't wait for it has not taken it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg
import pytest

from tests.store.values import (
    ANA,
    NOW,
    add_clock_once,
    clock,
    code,
    code_limits,
    digest,
    link,
    make_record,
    sent,
    session,
    user,
)
from tests.support.stores import open_checked_store
from tickover.server.sign_in.logins import Limits
from tickover.server.storage.store import Quota, Store

_WAITING = "select exists (select from pg_locks where locktype = 'advisory' and not granted)"
_HOLD_ADDRESS = f"select pg_advisory_lock(pg_catalog.hashtextextended('{ANA}', 1))"
_HOLD_OWNER = f"select pg_advisory_lock(pg_catalog.uuid_hash_extended('{user(1).hex()}', 2))"
_HOLD_KEY = f"select pg_advisory_lock(pg_catalog.hashtextextended('{digest(1).hex()}', 6))"
_HOLD_SECRET_KEYS = "select pg_advisory_lock(4, hashtext(current_schema()::text))"
_HOLD_SWEEP = "select pg_advisory_lock(5, hashtext(current_schema()::text))"

_CALLS: dict[str, tuple[str, Callable[[Store], Awaitable[object]]]] = {
    "claim_send": (_HOLD_ADDRESS, lambda store: store.claim_send(code(3), Limits())),
    "undo_send": (_HOLD_ADDRESS, lambda store: store.undo_send(code(1))),
    "count_attempt": (_HOLD_ADDRESS, lambda store: store.count_attempt(ANA, code_limits(), NOW)),
    "redeem_code": (_HOLD_ADDRESS, lambda store: store.redeem_code(ANA, digest(1), session(1))),
    "redeem_link": (_HOLD_ADDRESS, lambda store: store.redeem_link(digest(2), session(1))),
    "create_clock": (
        _HOLD_OWNER,
        lambda store: store.create_clock(clock(1), user(1), b"schedule", bytes(16), Quota(clocks=1)),
    ),
    "create_clock_once": (_HOLD_KEY, lambda store: add_clock_once(store, make_record(1), clock(1), user(1))),
    "share_key": (_HOLD_SECRET_KEYS, lambda store: store.share_key(b"fingerprint", NOW)),
}


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[Store]:
    opened = await open_checked_store(postgres_url)
    await sent(opened, code(1))
    await opened.allow_resend(code(1))
    await sent(opened, link(2))
    await opened.allow_resend(link(2))
    yield opened
    await opened.close()


@pytest.fixture
async def other(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A session of another client."""
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


@pytest.mark.parametrize("name", _CALLS)
async def test_call_waits_for_its_lock(store: Store, other: asyncpg.Connection, name: str) -> None:
    hold, call = _CALLS[name]
    await other.execute(hold)
    task = asyncio.ensure_future(call(store))
    while not await other.fetchval(_WAITING):
        assert not task.done(), f"{name} has not taken its lock"
    await other.execute("select pg_advisory_unlock_all()")
    await task


async def test_only_one_server_sweeps_at_a_time(store: Store, other: asyncpg.Connection) -> None:
    much_later = NOW.replace(year=NOW.year + 1)
    await other.execute(_HOLD_SWEEP)
    assert await store.sweep(much_later, 100) == 0
    await other.execute("select pg_advisory_unlock_all()")
    assert await store.sweep(much_later, 100) == 2
