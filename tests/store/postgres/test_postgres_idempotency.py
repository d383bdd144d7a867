"""Idempotency records in PostgreSQL while another server changes the same row."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.store.values import (
    NOW,
    WEEK,
    add_clock,
    add_clock_once,
    clock,
    digest,
    key,
    make_record,
    user,
)
from tests.support.stores import open_checked_store
from tickover.api.ids import first_live_key
from tickover.server.storage.store import ExistingClock, Store, StoredClock

_EXPIRED = NOW - WEEK


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[Store]:
    opened = await open_checked_store(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def another(postgres_url: str) -> AsyncIterator[Store]:
    opened = await open_checked_store(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def other(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


@pytest.fixture
async def witness(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


async def _wait_for_lock_or_result(call: "asyncio.Task[Any]", witness: asyncpg.Connection) -> None:
    """Wait until a session of this database waits for a lock, or the call is done."""
    waiting = """select count(*) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'"""
    async with asyncio.timeout(10):
        while True:
            if call.done() or await witness.fetchval(waiting):
                return
            await asyncio.sleep(0.01)


async def _reuse_key(other: asyncpg.Connection) -> None:
    """Do what another server does when it reuses the key of an expired clock. The transaction is not committed."""
    await other.execute("update creations set params = 'changed', clock_key = $1", clock(2).key.hex())


async def _find(store: Store) -> ExistingClock | None:
    return await store.find_creation(digest(1), user(1), first_live_key(NOW))


@pytest.fixture
async def expired(store: Store) -> None:
    """A key whose clock has expired, and the clock for which another server will reuse it."""
    assert await add_clock_once(store, make_record(1), clock(1, _EXPIRED), user(1)) is None
    await add_clock(store, clock(2), user(1))


@pytest.mark.usefixtures("expired")
async def test_sweep_keeps_a_key_reused_meanwhile(
    store: Store, other: asyncpg.Connection, witness: asyncpg.Connection
) -> None:
    async with other.transaction():
        await _reuse_key(other)
        sweeping = asyncio.create_task(store.sweep(NOW, 100))
        await _wait_for_lock_or_result(sweeping, witness)
    await sweeping
    assert await _find(store) == ExistingClock(b"changed", StoredClock(clock(2), b"schedule"))


@pytest.mark.usefixtures("expired")
async def test_deletion_keeps_a_key_reused_meanwhile(
    store: Store, other: asyncpg.Connection, witness: asyncpg.Connection
) -> None:
    async with other.transaction():
        await _reuse_key(other)
        deleting = asyncio.create_task(store.delete_clock(key(1, _EXPIRED), user(1)))
        await _wait_for_lock_or_result(deleting, witness)
    assert await deleting
    assert await _find(store) == ExistingClock(b"changed", StoredClock(clock(2), b"schedule"))


@pytest.mark.usefixtures("expired")
async def test_key_being_swept_is_reused_afterwards(
    store: Store, other: asyncpg.Connection, witness: asyncpg.Connection
) -> None:
    async with other.transaction():
        await other.execute("delete from creations")
        creating = asyncio.create_task(add_clock_once(store, make_record(1), clock(3), user(1), first_live_key(NOW)))
        await _wait_for_lock_or_result(creating, witness)
    assert await creating is None
    assert await _find(store) == ExistingClock(b"parameters", StoredClock(clock(3), b"schedule"))


async def test_calls_wait_for_another_creation_with_their_key_and_return_its_clock(
    store: Store, another: Store, other: asyncpg.Connection, witness: asyncpg.Connection
) -> None:
    async with other.transaction():
        # The lock of the key, as creations take it.
        await other.execute(
            "select pg_advisory_xact_lock(pg_catalog.hashtextextended(encode($1, 'hex'), 6::bigint))", digest(1)
        )
        creating = [
            asyncio.create_task(add_clock_once(each, make_record(1), clock(number), user(1)))
            for number, each in enumerate((store, another))
        ]
        await _wait_for_lock_or_result(creating[0], witness)
        assert not any(call.done() for call in creating)
        # A creation with another key doesn't wait.
        assert await add_clock_once(store, make_record(2), clock(2), user(1)) is None
    results = await asyncio.gather(*creating)
    created = results.index(None)
    assert results[1 - created] == ExistingClock(b"parameters", StoredClock(clock(created), b"schedule"))
