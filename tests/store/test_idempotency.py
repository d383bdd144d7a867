"""Every store: a creation with an idempotency key is repeatable while its clock is live."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing

import apsw
import asyncpg
import pytest

from tests.store.values import (
    DAY,
    END,
    HOUR,
    NOW,
    START,
    add_clock_once,
    advance,
    clock,
    create_once,
    digest,
    key,
    listed,
    make_record,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import ExistingClock, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]

_LARGE_SCHEDULE = bytes(range(256)) * 400
_EXPIRED = NOW - CLOCK_LIFETIME
_CONCURRENT = 50


def _existing(stored: Clock, params: bytes = b"parameters") -> ExistingClock:
    return ExistingClock(params, StoredClock(stored, b"schedule"))


# Repeated calls


@pytest.mark.parametrize("params", [b"parameters", b"", bytes(range(256))])
@pytest.mark.parametrize("schedule", [_LARGE_SCHEDULE, b""], ids=["large", "empty"])
async def test_repeated_call_returns_the_first_clock_and_stores_nothing(
    store: Store, rows_of: RowsOf, params: bytes, schedule: bytes
) -> None:
    """With its current frozen time. The caller compares the parameters."""
    assert await create_once(store, make_record(1, params), clock(1), user(1), schedule, bytes(16), 0) is None
    for to in (START, START + DAY, END):
        await advance(store, key(1), user(1), to)
        expected = ExistingClock(params, StoredClock(Clock(key(1), START, to, END), schedule))
        assert await add_clock_once(store, make_record(1, b"others"), clock(2), user(1)) == expected
        assert await store.find_creation(digest(1), user(1), bytes(16)) == expected
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [1, 1, 1]


# Lifetime of the record


# Sweeps of records without clocks, as after a sweep of a whole day of clocks


@pytest.fixture
def add_records(database_url: str) -> Callable[[Sequence[bytes]], Awaitable[None]]:
    """Insert records with the numbers from 1,000 on, bypassing the store."""

    async def add(clock_keys: Sequence[bytes]) -> None:
        rows = [(digest(number), b"parameters", each) for number, each in enumerate(clock_keys, 1_000)]
        if database_url.startswith("sqlite"):
            with closing(apsw.Connection(database_url.removeprefix("sqlite:///"))) as connection, connection:
                connection.executemany("insert into creations values (?, ?, ?)", rows)
            return
        witness = await asyncpg.connect(database_url)
        await witness.executemany("insert into creations values ($1, $2, encode($3, 'hex')::uuid)", rows)
        await witness.close()

    return add


AddRecords = Callable[[Sequence[bytes]], Awaitable[None]]


async def test_concurrent_sweeps_delete_each_expired_record_once(
    store: Store, open_another: OpenAnother, add_records: AddRecords, rows_of: RowsOf
) -> None:
    others = [await open_another() for _ in range(3)]
    await add_records([key(number, _EXPIRED - number % 30 * HOUR) for number in range(2000)])
    assert await add_clock_once(store, make_record(1), clock(1), user(1)) is None
    swept = 0
    while turn := sum(await asyncio.gather(*(each.sweep(NOW, 37) for each in (store, *others) * 3))):
        swept += turn
    assert (swept, await rows_of("creations")) == (2000, 1)
    assert await store.find_creation(digest(1), user(1), bytes(16)) == _existing(clock(1))


async def test_key_reused_during_a_sweep_is_deleted_at_most_once(
    store: Store, open_another: OpenAnother, add_records: AddRecords
) -> None:
    """A sweep deletes the record before or after the reuse, but not the record of the new clock."""
    other = await open_another()
    for turn in range(10):
        await add_records([key(number, _EXPIRED) for number in range(20)])
        reused = {number: clock(turn * 100 + number) for number in range(1_000, 1_020)}
        creations = [
            add_clock_once(store, make_record(number), new, user(1), first_live_key(NOW))
            for number, new in reused.items()
        ]
        created = await asyncio.gather(*creations[:10], other.sweep(NOW, 7), *creations[10:], other.sweep(NOW, 7))
        assert created.count(None) == 20
        while await other.sweep(NOW, 7):
            pass
        for number, new in reused.items():
            assert await store.find_creation(digest(number), user(1), bytes(16)) == _existing(new)
            assert await store.delete_clock(new.key, user(1))


# Concurrency


@pytest.mark.parametrize("limit", [0, 1])
async def test_of_concurrent_calls_one_creates_and_the_others_return_its_clock(
    store: Store, open_another: OpenAnother, rows_of: RowsOf, limit: int
) -> None:
    stores = [store, await open_another()]
    for number in range(2):
        numbers = range(number * _CONCURRENT, (number + 1) * _CONCURRENT)
        creating = [
            create_once(stores[n % 2], make_record(number), clock(n), user(number), b"schedule", bytes(16), limit)
            for n in numbers
        ]
        searching = [stores[n % 2].find_creation(digest(number), user(number), bytes(16)) for n in numbers]
        results = await asyncio.gather(*(call for pair in zip(creating, searching, strict=True) for call in pair))
        (created,) = [n for n, result in zip(numbers, results[::2], strict=True) if result is None]
        others = [result for result in results[::2] if result is not None]
        assert others == [_existing(clock(created))] * (_CONCURRENT - 1)
        assert [found for found in results[1::2] if found not in (None, _existing(clock(created)))] == []
        assert await listed(stores[-1], user(number)) == [key(created)]
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [2, 2, 2]


async def test_key_freed_during_concurrent_calls_identifies_at_most_one_clock(store: Store, rows_of: RowsOf) -> None:
    for number in range(10):
        owner, first = user(number), number * 100
        assert await add_clock_once(store, make_record(number), clock(first), owner) is None
        calls = [add_clock_once(store, make_record(number), clock(first + n), owner) for n in range(1, 21)]
        index = 2 * number
        results = await asyncio.gather(*calls[:index], store.delete_clock(key(first), owner), *calls[index:])
        assert results.pop(index) is True
        created = [first + n for n, result in enumerate(results, 1) if result is None]
        assert await listed(store, owner) == [key(n) for n in created]
        assert len(created) <= 1
        existing = {result.stored.clock.key for result in results if isinstance(result, ExistingClock)}
        assert existing <= {key(first), *(key(n) for n in created)}
        assert await rows_of("creations") == len(created)
        for n in created:
            assert await store.delete_clock(key(n), owner)
