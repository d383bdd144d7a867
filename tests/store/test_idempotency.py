"""Every store: a creation with an idempotency key is repeatable while its clock is live."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.store.values import (
    DAY,
    END,
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
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import ExistingClock, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]

_LARGE_SCHEDULE = bytes(range(256)) * 400
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
