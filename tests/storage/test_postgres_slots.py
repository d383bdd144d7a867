"""How clocks expire in PostgreSQL: a day's at once, at the same cost whatever there is, and never one that lives."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.contract.values import (
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
from tests.storage.crowd import keep_many
from tests.storage.explained import open_explained
from tests.support.postgres import PostgresServer
from tickover.api.ids import day_of_birth
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.domain.clocks import Clock
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

_DEAD = NOW - 8 * DAY
"""A birth on a day of which nothing lives any more."""
_FORGOTTEN = NOW - 10 * DAY
"""A birth on a day that shares its slot with today."""


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[Store]:
    opened = await open_store(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def witness(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


def _slot(born: Instant) -> int:
    return day_of_birth(key(0, born)) % 10


async def _count(witness: asyncpg.Connection, born: Instant) -> tuple[int, int]:
    """How many clocks and schedules there are in the slot of this birth."""
    slot = _slot(born)
    clocks = await witness.fetchval(f"select count(*) from clocks_{slot}")
    schedules = await witness.fetchval(f"select count(*) from schedules_{slot}")
    return clocks, schedules


async def _rows(witness: asyncpg.Connection, slots: set[int]) -> list[Any]:
    """All that the slots hold, with where it is and who wrote it, so that a copy would be noticed."""
    return [
        await witness.fetch(f"select ctid, xmin, * from {table} where slot = any($1) order by key", slots)
        for table in ("clocks", "schedules")
    ]


# What it costs


async def test_to_empty_a_slot_costs_the_same_whatever_it_holds(postgres: PostgresServer) -> None:
    postgres.create_database("slots")
    url = postgres.url("slots", "postgres")
    others = {_slot(NOW - age * DAY) for age in range(7)}
    written = {}
    async with open_explained(url) as (store, explained):
        witness = await asyncpg.connect(url)
        for age in range(7):
            await keep_many(witness, NOW - age * DAY, 100)
        living = await _rows(witness, others)
        for many in (10, 1_000, 100_000):
            await keep_many(witness, _DEAD, many)
            assert await store.sweep(NOW, 200) == 1
            assert await _count(witness, _DEAD) == (0, 0)
            written[many] = explained.statements[-1].wal_bytes
        assert await _rows(witness, others) == living
        # Where it is done row by row, it shows.
        await keep_many(witness, _FORGOTTEN, 1_000)
        assert await store.sweep(NOW, 1_000) == 1_000
        row_by_row = explained.statements[-1].wal_bytes
        await witness.close()
    postgres.execute("drop database slots with (force)")
    assert written[100_000] < 1.2 * written[10] < row_by_row / 10


# Days that share a slot


async def test_where_days_share_a_slot_the_dead_go_a_few_at_a_time(store: Store, witness: asyncpg.Connection) -> None:
    await keep_many(witness, NOW - 20 * DAY, 25)
    await keep_many(witness, _FORGOTTEN, 25)
    await keep_many(witness, NOW, 10)
    living = [row for row in (await _rows(witness, {_slot(NOW)}))[0] if row["key"].bytes >= key(0)]
    left = []
    while await store.sweep(NOW, 20):
        left.append(await _count(witness, NOW))
    assert left == [(40, 40), (20, 20), (10, 10)]
    assert (await _rows(witness, {_slot(NOW)}))[0] == living


async def test_a_slot_is_not_emptied_while_one_of_it_lives(store: Store, witness: asyncpg.Connection) -> None:
    """And what has died today goes with the day's last."""
    last = NOW.replace(hour=23, minute=59)
    await keep_many(witness, NOW, 100)
    await add_clock(store, clock(101, last), user(1))
    for now in (NOW + 7 * DAY, last + 7 * DAY - MINUTE):
        assert await store.sweep(now, 200) == 0
        assert await _count(witness, NOW) == (101, 101)
    assert await store.sweep(last + 7 * DAY, 200) == 1
    assert await _count(witness, NOW) == (0, 0)


# Others at the same time


@pytest.mark.parametrize("table", ["clocks", "schedules"])
async def test_a_slot_that_somebody_holds_is_left_as_it_is_until_later(
    postgres_url: str, witness: asyncpg.Connection, table: str
) -> None:
    # By itself, it would wait for ever.
    store = await open_store(f"{postgres_url}?lock_timeout=0&statement_timeout=0")
    await sent(store, code(1, NOW - TOKEN_LIFETIME))
    await store.redeem_code(ANA, digest(1), session(1, NOW - TOKEN_LIFETIME))
    await keep_many(witness, _DEAD, 100)
    async with witness.transaction():
        await witness.execute(f"lock table {table}_{_slot(_DEAD)} in access share mode")
        assert await store.sweep(NOW, 200) == 2, "a letter and a token"
        assert await _count(witness, _DEAD) == (100, 100)
        assert await store.sweep(NOW, 200) == 0
    assert await store.sweep(NOW, 200) == 1
    assert await _count(witness, _DEAD) == (0, 0)
    await store.close()


async def test_calls_that_come_while_a_sweep_waits_for_its_slot_are_answered(
    store: Store, witness: asyncpg.Connection
) -> None:
    await keep_many(witness, _DEAD, 100)
    await add_clock(store, clock(1), user(1))
    async with witness.transaction():
        await witness.execute(f"lock table clocks_{_slot(_DEAD)} in access share mode")
        sweeping = asyncio.create_task(store.sweep(NOW, 200))
        for minute in range(20):
            to = START + minute * MINUTE
            assert await advance(store, key(1), user(1), to) == Clock(key(1), START, to, END)
            assert await create(store, clock(100 + minute), user(1), b"", bytes(16), limit=1_000) is None
        assert await sweeping == 0


async def test_a_clock_that_nobody_saw_when_its_slot_was_found_dead_is_not_lost(
    store: Store, postgres_url: str, witness: asyncpg.Connection
) -> None:
    """It is being made just then, and the sweep waits for it; not for long, so on a slow day that takes more rounds."""
    making = await asyncpg.connect(postgres_url)
    swept = 0
    for day in range(20):
        now = NOW + day * DAY
        await keep_many(witness, now - 10 * DAY, 50)
        async with making.transaction():
            await keep_many(making, now, 1)
            sweeping = asyncio.create_task(store.sweep(now, 200))
            while not sweeping.done() and not await witness.fetchval(_SOMEBODY_WAITS):
                pass
        swept = await sweeping
        assert await advance(store, key(1, now), user(1), START) is not None
        if swept:
            break
    assert swept == 1, "no sweep has waited to the end"
    await making.close()


_SOMEBODY_WAITS = """
    select exists (select from pg_locks join pg_database as here on here.oid = database
      where not granted and datname = current_database())"""


async def test_a_clock_that_is_made_while_its_slot_is_swept_is_not_lost(
    store: Store, postgres_url: str, witness: asyncpg.Connection
) -> None:
    """A day a round, in two rounds over all slots; each finds there what has died in the meantime."""
    other_stores = [await open_store(postgres_url) for _ in range(2)]
    emptied = 0

    async def make(now: Instant, number: int) -> None:
        new = Clock(key(number, now), START, START, END)
        maker = (store, *other_stores)[number % 3]
        for _ in range(number % 7):
            await maker.ping()
        assert await create(maker, new, user(number % 5), b"schedule", bytes(16), limit=number % 2 * 1_000) is None

    for day in range(20):
        now = NOW + day * DAY
        if day < 10:
            await keep_many(witness, now - 10 * DAY, 50)
        before = await _file(witness, now)
        makers = [make(now, number) for number in range(60)]
        sweepers = [_sweep(each, now) for each in (store, *other_stores)]
        await asyncio.gather(*makers[:30], *sweepers, *makers[30:])
        emptied += await _file(witness, now) != before
        for number in range(60):
            assert await advance(store, key(number, now), user(number % 5), START + DAY) is not None
        while await store.sweep(now, 1_000):
            pass
        assert await _count(witness, now) == (60, 60)
    assert emptied > 0, "no slot was emptied while clocks were made"
    for other in other_stores:
        await other.close()


async def _sweep(store: Store, now: Instant) -> None:
    for _ in range(5):
        await store.sweep(now, 7)


async def _file(witness: asyncpg.Connection, born: Instant) -> int:
    """A table that is emptied gets a new file."""
    found: int = await witness.fetchval(f"select pg_relation_filenode('clocks_{_slot(born)}')")
    return found
