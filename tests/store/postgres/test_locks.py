"""Calls on PostgreSQL wait for the locks of other sessions, and then see what these have changed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import asyncpg
import pytest

from tests.store.values import (
    ANA,
    NOW,
    WEEK,
    add_clock,
    add_clock_once,
    clock,
    code,
    code_limits,
    digest,
    key,
    link,
    make_record,
    sent,
    session,
    user,
)
from tickover.api.ids import first_live_key
from tickover.server.sign_in.logins import Limits
from tickover.server.storage.store import ExistingClock, Quota, Store, StoredClock

_EXPIRED = NOW - WEEK
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
        lambda store: store.create_clock(clock(1), user(1), b"schedule", Quota(clocks=1)),
    ),
    "create_clock_once": (_HOLD_KEY, lambda store: add_clock_once(store, make_record(1), clock(1), user(1))),
    "share_key": (_HOLD_SECRET_KEYS, lambda store: store.share_key(b"fingerprint", NOW)),
}


@pytest.fixture(autouse=True)
async def emails(store: Store) -> None:
    for email in (code(1), link(2)):
        await sent(store, email)
        await store.allow_resend(email)


async def _is_waiting(other: asyncpg.Connection) -> bool:
    """Return whether a session of this database waits for a lock."""
    # In a transaction, the statistics would not change after the first read.
    await other.execute("select pg_stat_clear_snapshot()")
    return bool(
        await other.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        )
    )


@pytest.mark.parametrize("name", _CALLS)
async def test_call_waits_for_its_lock(store: Store, other: asyncpg.Connection, name: str) -> None:
    """It takes the lock of its address, owner or key before it reads anything."""
    hold, call = _CALLS[name]
    await other.execute(hold)
    task = asyncio.ensure_future(call(store))
    while not await _is_waiting(other):
        assert not task.done(), f"{name} has not taken its lock"
    await other.execute("select pg_advisory_unlock_all()")
    await task


async def test_only_one_server_sweeps_at_a_time(store: Store, other: asyncpg.Connection) -> None:
    much_later = NOW.replace(year=NOW.year + 1)
    await other.execute(_HOLD_SWEEP)
    assert await store.sweep(much_later, 100) == 0
    await other.execute("select pg_advisory_unlock_all()")
    assert await store.sweep(much_later, 100) == 2


# Idempotency records


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.sweep(NOW, 100), id="sweep"),
        pytest.param(lambda store: store.delete_clock(key(1, _EXPIRED), user(1)), id="deletion"),
    ],
)
async def test_key_that_another_server_reuses_stays(
    store: Store, other: asyncpg.Connection, call: Callable[[Store], Coroutine[Any, Any, object]]
) -> None:
    """The clock of the key has expired."""
    assert await add_clock_once(store, make_record(1), clock(1, _EXPIRED), user(1)) is None
    await add_clock(store, clock(2), user(1))
    async with other.transaction():
        await other.execute("update creations set params = 'changed', clock_key = $1", key(2).hex())
        task = asyncio.create_task(call(store))
        while not task.done() and not await _is_waiting(other):
            pass
    assert await task
    found = await store.find_creation(digest(1), user(1), first_live_key(NOW))
    assert found == ExistingClock(b"changed", StoredClock(clock(2), b"schedule"))
