"""Expiry of clocks in PostgreSQL: a whole day at a constant cost, and never a live clock."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.store.bulk_data import insert_clocks
from tests.store.values import (
    ANA,
    DAY,
    END,
    MINUTE,
    NOW,
    START,
    add_clock,
    advance,
    clock,
    code,
    create,
    digest,
    key,
    sent,
    session,
    user,
)
from tickover.api.ids import creation_day
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.schedule.clocks import Clock
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

pytestmark = pytest.mark.usefixtures("long_timeouts")

_EXPIRED = NOW - 8 * DAY
"""A time on a day of which all clocks have expired."""


def _slot(created_at: Instant) -> int:
    return creation_day(key(0, created_at)) % 10


async def _count(other: asyncpg.Connection, created_at: Instant) -> tuple[int, int]:
    """Return the number of clocks and schedules in the slot of this time."""
    slot = _slot(created_at)
    clocks = await other.fetchval(f"select count(*) from clocks_{slot}")
    schedules = await other.fetchval(f"select count(*) from schedules_{slot}")
    return clocks, schedules


async def _rows(other: asyncpg.Connection, slots: set[int]) -> list[Any]:
    """Return all rows of the slots with their location and transaction, so that rewritten rows are detected."""
    return [
        await other.fetch(f"select ctid, xmin, * from {table} where slot = any($1) order by key", slots)
        for table in ("clocks", "schedules")
    ]


# Whole days


async def test_expired_day_is_truncated_and_live_days_stay(store: Store, other: asyncpg.Connection) -> None:
    """So that the sweep of a day has a constant cost."""
    ages = range(7)
    for age in ages:
        await insert_clocks(other, NOW - age * DAY, 10)
    await insert_clocks(other, _EXPIRED, 1_000)
    live_slots = {_slot(NOW - age * DAY) for age in ages}
    live, file = await _rows(other, live_slots), await _file(other, _EXPIRED)
    assert await store.sweep(NOW, 200) == 1
    assert await _count(other, _EXPIRED) == (0, 0)
    assert await _file(other, _EXPIRED) != file
    assert await _rows(other, live_slots) == live


async def test_slot_with_a_live_clock_is_not_truncated(store: Store, other: asyncpg.Connection) -> None:
    """Clocks that expired today are deleted with the last one of the day."""
    last = NOW.replace(hour=23, minute=59)
    await insert_clocks(other, NOW, 100)
    await add_clock(store, clock(101, last), user(1))
    for now in (NOW + 7 * DAY, last + 7 * DAY - MINUTE):
        assert await store.sweep(now, 200) == 0
        assert await _count(other, NOW) == (101, 101)
    assert await store.sweep(last + 7 * DAY, 200) == 1
    assert await _count(other, NOW) == (0, 0)


# Concurrency


async def test_locked_slot_is_swept_later(postgres_url: str, other: asyncpg.Connection) -> None:
    # Without a lock timeout, it would wait forever.
    store = await open_store(f"{postgres_url}?lock_timeout=0&statement_timeout=0")
    await sent(store, code(1, NOW - TOKEN_LIFETIME))
    await store.redeem_code(ANA, digest(1), session(1, NOW - TOKEN_LIFETIME))
    await insert_clocks(other, _EXPIRED, 100)
    async with other.transaction():
        await other.execute(f"lock table schedules_{_slot(_EXPIRED)} in access share mode")
        assert await store.sweep(NOW, 200) == 2, "an email and a token"
        assert await _count(other, _EXPIRED) == (100, 100)
        assert await store.sweep(NOW, 200) == 0
    assert await store.sweep(NOW, 200) == 1
    assert await _count(other, _EXPIRED) == (0, 0)
    await store.close()


async def test_uncommitted_clock_in_an_expired_slot_is_not_lost(
    store: Store, postgres_url: str, other: asyncpg.Connection
) -> None:
    """The sweep waits for the transaction that creates the clock, but not for long.

    On a slow machine, that takes several rounds.
    """
    making = await asyncpg.connect(postgres_url)
    swept = 0
    for day in range(20):
        now = NOW + day * DAY
        await insert_clocks(other, now - 10 * DAY, 50)
        async with making.transaction():
            await insert_clocks(making, now, 1)
            sweeping = asyncio.create_task(store.sweep(now, 200))
            while not sweeping.done() and not await other.fetchval(_WAITING_SESSION):
                pass
        swept = await sweeping
        assert await advance(store, key(1, now), user(1), START) is not None
        if swept:
            break
    assert swept == 1, "no sweep waited until the end"
    await making.close()


_WAITING_SESSION = """
    select exists (select from pg_locks join pg_database as here on here.oid = database
      where not granted and datname = current_database())"""


async def test_clock_created_during_a_sweep_of_its_slot_is_not_lost(
    store: Store, open_another: Callable[[], Awaitable[Store]], other: asyncpg.Connection
) -> None:
    """Each round is a day, for more than one round over all slots. Each sweep finds the clocks expired since."""
    other_stores = [await open_another() for _ in range(2)]
    emptied = 0

    async def create_at(now: Instant, number: int) -> None:
        new = Clock(key(number, now), START, START, END)
        maker = (store, *other_stores)[number % 3]
        for _ in range(number % 7):
            await maker.ping()
        assert await create(maker, new, user(number % 5), b"schedule", bytes(16), limit=number % 2 * 1_000) is None

    for day in range(12):
        now = NOW + day * DAY
        if day < 10:
            await insert_clocks(other, now - 10 * DAY, 50)
        before = await _file(other, now)
        makers = [create_at(now, number) for number in range(60)]
        sweepers = [_sweep(each, now) for each in (store, *other_stores)]
        await asyncio.gather(*makers[:30], *sweepers, *makers[30:])
        emptied += await _file(other, now) != before
        for number in range(60):
            assert await advance(store, key(number, now), user(number % 5), START + DAY) is not None
        while await store.sweep(now, 1_000):
            pass
        assert await _count(other, now) == (60, 60)
    assert emptied > 0, "no slot was truncated during the creations"


async def _sweep(store: Store, now: Instant) -> None:
    for _ in range(5):
        await store.sweep(now, 7)


async def _file(other: asyncpg.Connection, created_at: Instant) -> int:
    """Return the table's file. TRUNCATE creates a new one."""
    found: int = await other.fetchval(f"select pg_relation_filenode('clocks_{_slot(created_at)}')")
    return found
