"""Batches on PostgreSQL that lock the same rows never deadlock, whatever the order of their calls.

The store retries after a deadlock, so callers don't notice. The tests read the statistics of the database.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

import asyncpg
import pytest

from tests.store.values import START, WEEK, add_clock, advance, clock, key, user
from tests.support.postgres import PostgresServer
from tests.support.program import until
from tickover.server.storage import open_store
from tickover.server.storage.store import Created, Quota, Store

_NUMBERS = range(1, 21)
_MIDDLE = 10
_WAITING = """
    select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"""
_SESSIONS = """
    select count(*) from pg_stat_activity where datname = current_database() and application_name = 'tickover'"""
# A session publishes its statistics when it ends.
_DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    """A separate database, because deadlocks are counted for the whole database."""
    return postgres.create_database()


@pytest.fixture
async def stores(url: str) -> list[Store]:
    return [await open_store(url), await open_store(url)]


@pytest.fixture
async def other(url: str, stores: list[Store]) -> AsyncIterator[asyncpg.Connection]:
    """A session of another client."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


async def _run_in_opposite_orders(
    stores: list[Store],
    other: asyncpg.Connection,
    lock_the_middle: Callable[[], Awaitable[object]],
    act: Callable[[Store, int], Coroutine[Any, Any, object]],
) -> Sequence[object]:
    """Return the results of calls that each store makes in one batch. Both batches wait for the same lock first."""
    async with other.transaction():
        await lock_the_middle()
        forth = [asyncio.create_task(act(stores[0], number)) for number in _NUMBERS]
        back = [asyncio.create_task(act(stores[1], number)) for number in reversed(_NUMBERS)]
        await until(lambda: _waits(other, _WAITING, 2))
    results: Sequence[object] = await asyncio.gather(*forth, *back)
    return results


async def _waits(other: asyncpg.Connection, sql: str, number: int) -> bool:
    # In a transaction, the statistics would not change after the first read.
    await other.execute("select pg_stat_clear_snapshot()")
    return bool(await other.fetchval(sql) == number)


async def _deadlocks(stores: list[Store], other: asyncpg.Connection) -> int:
    for store in stores:
        await store.close()
    await until(lambda: _waits(other, _SESSIONS, 0))
    deadlocks: int = await other.fetchval(_DEADLOCKS)
    return deadlocks


async def test_advances_of_the_same_clocks_in_opposite_orders(stores: list[Store], other: asyncpg.Connection) -> None:
    for number in _NUMBERS:
        await add_clock(stores[0], clock(number), user(1))
    results = await _run_in_opposite_orders(
        stores,
        other,
        lambda: other.execute("select from clocks where key = $1 for update", key(_MIDDLE).hex()),
        lambda store, number: advance(store, key(number), user(1), START + WEEK),
    )
    assert None not in results
    assert await _deadlocks(stores, other) == 0


async def test_creations_for_the_same_owners_in_opposite_orders(stores: list[Store], other: asyncpg.Connection) -> None:
    async def create(store: Store, number: int) -> object:
        new = clock(number + 100 * stores.index(store))
        return await store.create_clock(new, user(number), b"schedule", Quota(clocks=1000))

    results = await _run_in_opposite_orders(
        stores,
        other,
        # The lock of an owner, as creations take it.
        lambda: other.execute("insert into locks (name, version, used_at) values ($1, 0, 0)", user(_MIDDLE).hex()),
        create,
    )
    assert set(results) == {Created()}
    assert await _deadlocks(stores, other) == 0
