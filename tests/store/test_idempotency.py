"""Every store: a creation with an idempotency key is repeatable while its clock is live."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.store.values import (
    DAY,
    END,
    HOUR,
    MINUTE,
    NOW,
    START,
    WEEK,
    add_clock,
    add_clock_once,
    advance,
    clock,
    create,
    create_once,
    key,
    listed,
    make_record,
    schedule_of,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import ExistingClock, IdempotencyRecord, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]

_LARGE_SCHEDULE = bytes(range(256)) * 400
_MILLISECOND = timedelta(milliseconds=1)
_CONCURRENT = 50


async def _create(
    store: Store, known: IdempotencyRecord, new: Clock, owner: int = 1, now: Instant = NOW, limit: int = 0
) -> ExistingClock | bytes | None:
    return await create_once(store, known, new, user(owner), b"schedule", first_live_key(now), limit)


# First and repeated calls


async def test_first_call_creates_the_clock(store: Store) -> None:
    new = Clock(key(1), START, START + DAY, END)
    assert await create_once(store, make_record(1), new, user(1), _LARGE_SCHEDULE, bytes(16), 0) is None
    assert await store.find_clock(key(1), user(1)) == StoredClock(new, _LARGE_SCHEDULE)
    assert await listed(store, user(1)) == [key(1)]
    assert await advance(store, key(1), user(1), END) == Clock(key(1), START, END, END)


async def test_repeated_call_returns_the_first_clock_and_stores_nothing(store: Store, rows_of: RowsOf) -> None:
    await create_once(store, make_record(1), clock(1), user(1), _LARGE_SCHEDULE, bytes(16), 0)
    for number in (2, 3):
        results = await _create(store, make_record(1), clock(number))
        assert results == ExistingClock(b"parameters", StoredClock(clock(1), _LARGE_SCHEDULE))
        assert await store.find_clock(key(number), user(1)) is None
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [1, 1, 1]


async def test_repeated_call_returns_the_current_frozen_time(store: Store) -> None:
    await _create(store, make_record(1), clock(1))
    for to in (START + DAY, START + WEEK, END):
        await advance(store, key(1), user(1), to)
        results = await _create(store, make_record(1), clock(2))
        assert results == ExistingClock(b"parameters", StoredClock(Clock(key(1), START, to, END), b"schedule"))


@pytest.mark.parametrize("params", [b"parameters", b"others", b"", bytes(range(256))])
async def test_repeated_call_returns_the_params_digest_of_the_first(store: Store, params: bytes) -> None:
    """The caller compares the parameters."""
    assert await _create(store, make_record(1, params), clock(1)) is None
    for other in (b"parameters", b"others", params):
        results = await _create(store, make_record(1, other), clock(2))
        assert results == ExistingClock(params, StoredClock(clock(1), b"schedule"))


async def test_another_digest_creates_another_clock(store: Store) -> None:
    for number in range(5):
        assert await _create(store, make_record(number), clock(number)) is None
    results = [await _create(store, make_record(number), clock(9)) for number in range(5)]
    assert results == [ExistingClock(b"parameters", StoredClock(clock(number), b"schedule")) for number in range(5)]
    longer = IdempotencyRecord(make_record(1).key_digest + b"\0", b"parameters")
    assert await _create(store, longer, clock(6)) is None


async def test_clock_without_a_key_is_never_returned(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await _create(store, make_record(1), clock(2)) is None
    await add_clock(store, clock(3), user(1))
    results = await _create(store, make_record(1), clock(4))
    assert isinstance(results, ExistingClock)
    assert results.stored.clock == clock(2)


async def test_clock_of_any_day_of_the_week_is_returned(store: Store) -> None:
    for day in range(10):
        assert await _create(store, make_record(day), clock(day, NOW - day * DAY)) is None
    for age in range(7):
        results = await _create(store, make_record(age), clock(99))
        assert results == ExistingClock(b"parameters", StoredClock(clock(age, NOW - age * DAY), b"schedule")), age


async def test_equal_keys_of_two_owners_are_independent(store: Store) -> None:
    """Their digests differ, because a digest includes the owner."""
    for owner in (1, 2):
        assert await _create(store, make_record(owner), clock(owner), owner) is None
    for owner in (1, 2):
        results = await _create(store, make_record(owner), clock(9), owner)
        assert results == ExistingClock(b"parameters", StoredClock(clock(owner), b"schedule"))
        assert await listed(store, user(owner)) == [key(owner)]


async def test_clock_of_another_owner_is_not_returned(store: Store) -> None:
    """Even with an equal digest, which can't happen."""
    await _create(store, make_record(1), clock(1), owner=1)
    results = await _create(store, make_record(1), clock(2), owner=2)
    assert not isinstance(results, ExistingClock)


# Lifetime of the record


@pytest.mark.parametrize(
    ("age", "lives"),
    [
        pytest.param(CLOCK_LIFETIME - _MILLISECOND, True, id="in its last millisecond"),
        pytest.param(CLOCK_LIFETIME, False, id="when it expires"),
        pytest.param(CLOCK_LIFETIME + DAY, False, id="long after"),
    ],
)
@pytest.mark.parametrize("swept", [False, True], ids=["not swept", "swept"])
async def test_key_is_free_after_its_clock_expired(
    store: Store, rows_of: RowsOf, age: timedelta, lives: bool, swept: bool
) -> None:
    created_at = NOW - age
    await _create(store, make_record(1, b"before"), clock(1, created_at), now=created_at)
    while swept and await store.sweep(NOW, 100):
        pass
    results = await _create(store, make_record(1, b"after"), clock(2))
    assert (results is None) is not lives
    # A key identifies one clock at a time.
    assert await rows_of("creations") == 1
    stored, params = (clock(1, created_at), b"before") if lives else (clock(2), b"after")
    assert await _create(store, make_record(1, b"again"), clock(3)) == ExistingClock(
        params, StoredClock(stored, b"schedule")
    )


async def test_key_is_reusable_every_week(store: Store, rows_of: RowsOf) -> None:
    for week in range(5):
        now = NOW + week * CLOCK_LIFETIME
        assert await _create(store, make_record(1), clock(week, now), now=now) is None
        results = await _create(store, make_record(1), clock(9, now + HOUR), now=now + HOUR)
        assert results == ExistingClock(b"parameters", StoredClock(clock(week, now), b"schedule"))
    assert await rows_of("creations") == 1


async def test_key_is_free_after_its_clock_was_deleted(store: Store, rows_of: RowsOf) -> None:
    for number in range(5):
        assert await _create(store, make_record(1, b"of %d" % number), clock(number)) is None
        assert await rows_of("creations") == 1
        results = await _create(store, make_record(1, b"others"), clock(9))
        assert results == ExistingClock(b"of %d" % number, StoredClock(clock(number), b"schedule"))
        assert await store.delete_clock(key(number), user(1))
        assert await rows_of("creations") == 0


async def test_sweep_keeps_the_record_of_a_replacing_clock(store: Store) -> None:
    created_at = NOW - WEEK
    await _create(store, make_record(1), clock(1, created_at), now=created_at)
    await _create(store, make_record(1), clock(2))
    while await store.sweep(NOW + DAY, 100):
        pass
    results = await _create(store, make_record(1), clock(3))
    assert results == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))


async def test_deleting_an_expired_clock_keeps_the_record_of_its_successor(store: Store) -> None:
    created_at = NOW - WEEK
    await _create(store, make_record(1), clock(1, created_at), now=created_at)
    await _create(store, make_record(1), clock(2))
    await store.delete_clock(key(1, created_at), user(1))
    results = await _create(store, make_record(1), clock(3))
    assert results == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))


# Quotas


async def test_rejected_creation_names_the_oldest_clock_and_does_not_use_the_key(store: Store, rows_of: RowsOf) -> None:
    await add_clock(store, clock(1, NOW - DAY), user(1))
    await add_clock(store, clock(2), user(1))
    for _ in range(3):
        assert await _create(store, make_record(1, b"rejected"), clock(3), limit=2) == key(1, NOW - DAY)
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [2, 2, 0]
    assert await schedule_of(store, key(3), user(1)) is None
    assert await store.delete_clock(key(2), user(1))
    assert await _create(store, make_record(1, b"stored"), clock(4), limit=2) is None
    assert await _create(store, make_record(1), clock(5), limit=2) == ExistingClock(
        b"stored", StoredClock(clock(4), b"schedule")
    )


async def test_existing_clock_is_returned_above_the_quota(store: Store) -> None:
    assert await _create(store, make_record(1), clock(1), limit=2) is None
    assert await _create(store, make_record(2), clock(2), limit=2) is None
    assert await _create(store, make_record(3), clock(3), limit=2) == key(1)
    for limit in (2, 1, 0):
        results = await _create(store, make_record(2), clock(3), limit=limit)
        assert results == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))
    assert await _create(store, make_record(3), clock(3), limit=2) == key(1)


async def test_existing_clock_counts_once(store: Store) -> None:
    for _ in range(10):
        await _create(store, make_record(1), clock(1), limit=3)
    assert [await _create(store, make_record(number), clock(number), limit=3) for number in (2, 3, 4)] == [
        None,
        None,
        key(1),
    ]


@pytest.mark.parametrize(("stored", "limit", "another"), [(0, 1, True), (1, 1, False), (2, 3, True), (3, 3, False)])
async def test_clocks_with_and_without_key_count(store: Store, stored: int, limit: int, another: bool) -> None:
    for number in range(stored):
        if number % 2:
            await add_clock(store, clock(number), user(1))
        else:
            assert await _create(store, make_record(number), clock(number), limit=limit) is None
    oldest = None if another else key(0)
    assert await _create(store, make_record(99), clock(99), limit=limit) == oldest
    assert await create(store, clock(98), user(1), b"", bytes(16), limit + another) == oldest


async def test_expired_clocks_do_not_count(store: Store) -> None:
    for number, created_at in enumerate((NOW - WEEK - DAY, NOW - WEEK, NOW - WEEK + MINUTE)):
        await add_clock(store, clock(number, created_at), user(1))
    assert await _create(store, make_record(1), clock(8), limit=1) == key(2, NOW - WEEK + MINUTE)
    assert await _create(store, make_record(1), clock(8), limit=2) is None


# Concurrency


@pytest.mark.parametrize("limit", [0, 1])
async def test_of_concurrent_calls_one_creates_and_the_others_return_its_clock(
    store: Store, open_another: OpenAnother, rows_of: RowsOf, limit: int
) -> None:
    stores = [store, await open_another()]
    for number in range(2):
        numbers = range(number * _CONCURRENT, (number + 1) * _CONCURRENT)
        results = await asyncio.gather(
            *(_create(stores[n % 2], make_record(number), clock(n), number, limit=limit) for n in numbers)
        )
        (created,) = [n for n, result in zip(numbers, results, strict=True) if result is None]
        others = [result for result in results if result is not None]
        assert others == [ExistingClock(b"parameters", StoredClock(clock(created), b"schedule"))] * (_CONCURRENT - 1)
        assert await listed(stores[-1], user(number)) == [key(created)]
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [2, 2, 2]


async def test_concurrent_calls_with_different_keys_respect_the_quota(store: Store, rows_of: RowsOf) -> None:
    """Half of the calls have no key. Rejected calls don't use their keys."""
    numbers = range(_CONCURRENT)
    plain = [create(store, clock(n), user(1), b"schedule", bytes(16), 7) for n in numbers[1::2]]
    results = await asyncio.gather(*(_create(store, make_record(n), clock(n), limit=7) for n in numbers[::2]), *plain)
    order = [*numbers[::2], *numbers[1::2]]
    stored = {n for n, result in zip(order, results, strict=True) if result is None}
    assert len(stored) == 7
    assert set(await listed(store, user(1))) == {key(n) for n in stored}
    assert {result for result in results if result is not None} <= {key(n) for n in stored}
    assert await rows_of("creations") == len([n for n in stored if n % 2 == 0])


async def test_concurrent_owners_and_keys_are_independent(store: Store) -> None:
    results = await asyncio.gather(
        *(_create(store, make_record(n // 2), clock(n), owner=n // 2 % 5, limit=100) for n in range(2 * _CONCURRENT))
    )
    existing = [result for result in results if isinstance(result, ExistingClock)]
    assert (len(existing), results.count(None)) == (_CONCURRENT, _CONCURRENT)
    assert len({one.stored.clock.key for one in existing}) == _CONCURRENT
    assert sum([len(await listed(store, user(owner))) for owner in range(5)]) == _CONCURRENT


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
