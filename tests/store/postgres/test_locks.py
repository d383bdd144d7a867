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
from tests.support.program import until
from tickover.api.ids import first_live_key
from tickover.server.sign_in.resend_limits import SendLimits
from tickover.server.storage.store import (
    ExistingClock,
    IdempotencyRecord,
    Quota,
    QuotaExceeded,
    Store,
    StoredClock,
)

_EXPIRED = NOW - WEEK
_OWNER = user(1).hex()

_CALLS: dict[str, tuple[str, Callable[[Store], Awaitable[object]]]] = {
    "record_email": (ANA, lambda store: store.record_email(code(3), SendLimits())),
    "delete_email": (ANA, lambda store: store.delete_email(code(1))),
    "count_attempt": (ANA, lambda store: store.count_attempt(ANA, code_limits(), NOW)),
    "redeem_code": (ANA, lambda store: store.redeem_code(ANA, digest(1), session(1))),
    "redeem_link": (ANA, lambda store: store.redeem_link(digest(2), session(1))),
    "create_clock": (
        _OWNER,
        lambda store: store.create_clock(clock(1), user(1), b"schedule", Quota(clocks=1)),
    ),
    "create_clock_once": (_OWNER, lambda store: add_clock_once(store, make_record(1), clock(1), user(1))),
    "share_key": ("secret key", lambda store: store.share_key(b"fingerprint", NOW)),
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
    """It changes nothing before another server's change for the same address or owner is committed."""
    lock, call = _CALLS[name]
    async with other.transaction():
        await other.execute(
            "insert into locks values ($1, 0, 0) on conflict (name) do update set version = -1 - locks.version", lock
        )
        task = asyncio.ensure_future(call(store))
        await until(lambda: _is_waiting(other) if not task.done() else pytest.fail(f"{name} has not taken its lock"))
    await task


@pytest.mark.parametrize("record", [None, make_record(1)], ids=["in a batch", "with an idempotency key"])
async def test_creation_counts_a_clock_that_another_server_has_just_created(
    store: Store, other: asyncpg.Connection, record: IdempotencyRecord | None
) -> None:
    async with other.transaction():
        await other.execute("insert into locks values ($1, 0, 0)", _OWNER)
        await other.execute("insert into clocks values ($1, $2, 0, 0, 0)", key(1).hex(), _OWNER)
        creating = store.create_clock(clock(2), user(1), b"schedule", Quota(clocks=1), record)
        task = asyncio.create_task(creating)
        await until(lambda: _is_waiting(other) if not task.done() else pytest.fail("it has not taken its lock"))
    assert await task == QuotaExceeded("clocks", key(1))


async def test_code_is_void_if_another_server_has_just_recorded_a_newer_one(
    store: Store, other: asyncpg.Connection
) -> None:
    """The sign-in began before that was committed, and waits for the lock of the address."""
    async with other.transaction():
        await other.execute("update locks set version = -1 where name = $1", ANA)
        await other.execute(
            """insert into login_emails (digest, email, kind, sent_at, expires_at, network, number)
            select 'newer', email, kind, sent_at, expires_at, network, 1000 from login_emails where digest = $1""",
            digest(1),
        )
        task = asyncio.create_task(store.redeem_code(ANA, digest(1), session(1)))
        while not await _is_waiting(other):
            assert not task.done()
    assert await task is None
    assert await store.redeem_code(ANA, b"newer", session(2)) == user(2)


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
        await until(lambda: task.done() or _is_waiting(other))
    assert await task
    found = await store.find_creation(digest(1), user(1), first_live_key(NOW))
    assert found == ExistingClock(b"changed", StoredClock(clock(2), b"schedule"))
