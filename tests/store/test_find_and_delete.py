"""Every store: only the owner finds or deletes a clock, and deletion leaves nothing behind."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from tests.store.values import (
    DAY,
    END,
    MICROSECOND,
    NOW,
    START,
    WEEK,
    add_clock,
    add_clock_once,
    advance,
    clock,
    create,
    key,
    listed,
    make_record,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import ExistingClock, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]

_LARGE_SCHEDULE = bytes(range(256)) * 400
_with_and_without_schedule = pytest.mark.parametrize(
    "with_schedule", [True, False], ids=["with schedule", "without schedule"]
)


# Finding


@_with_and_without_schedule
async def test_stored_clock_is_found(store: Store, with_schedule: bool) -> None:
    await add_clock(store, clock(1), user(1), _LARGE_SCHEDULE)
    await add_clock(store, clock(2), user(1), b"another")
    found = await store.find_clock(key(1), user(1), known_revision=None if with_schedule else 0)
    assert found == StoredClock(clock(1), _LARGE_SCHEDULE if with_schedule else b"")


async def test_schedule_is_returned_unless_declined(store: Store) -> None:
    await add_clock(store, clock(1), user(1), _LARGE_SCHEDULE)
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), _LARGE_SCHEDULE)


@_with_and_without_schedule
async def test_empty_schedule_is_found(store: Store, with_schedule: bool) -> None:
    await add_clock(store, clock(1), user(1), b"")
    assert await store.find_clock(key(1), user(1), known_revision=None if with_schedule else 0) == StoredClock(
        clock(1), b""
    )


@_with_and_without_schedule
async def test_clock_is_found_at_its_last_frozen_time(store: Store, with_schedule: bool) -> None:
    await add_clock(store, clock(1), user(1), b"schedule")
    schedule = b"schedule" if with_schedule else b""
    for to, stands in (
        (START + DAY, START + DAY),
        (START + DAY - MICROSECOND, START + DAY),
        (END + MICROSECOND, START + DAY),
        (START + DAY + MICROSECOND, START + DAY + MICROSECOND),
        (END, END),
    ):
        await advance(store, key(1), user(1), to)
        found = await store.find_clock(key(1), user(1), known_revision=None if with_schedule else 0)
        assert found == StoredClock(Clock(key(1), START, stands, END), schedule)


async def test_finding_does_not_advance(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    for _ in range(3):
        assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule")


@pytest.mark.parametrize(
    ("start", "stands", "end"),
    [
        pytest.param(START, START + DAY, END, id="frozen time differs from start, as in a fork"),
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), NOW, datetime.max.replace(tzinfo=UTC), id="minimum to maximum"),
        pytest.param(NOW - MICROSECOND, NOW, NOW + MICROSECOND, id="with microseconds"),
    ],
)
async def test_all_instants_of_a_clock_are_found(store: Store, start: Instant, stands: Instant, end: Instant) -> None:
    there = Clock(key(1), start, stands, end)
    await add_clock(store, there, user(1))
    assert await store.find_clock(key(1), user(1)) == StoredClock(there, b"schedule")
    assert await store.list_clocks(user(1), bytes(16), None, 10) == [there]


@_with_and_without_schedule
async def test_clock_of_another_owner_is_not_found(store: Store, with_schedule: bool) -> None:
    await add_clock(store, clock(1), user(1))
    for which, whose in ((key(1), user(2)), (key(2), user(1)), (key(1, NOW + DAY), user(1))):
        assert await store.find_clock(which, whose, known_revision=None if with_schedule else 0) is None


async def test_expired_clock_is_found_until_swept(store: Store) -> None:
    """The caller checks expiry from the ID."""
    created_at = NOW - 8 * DAY
    await add_clock(store, clock(1, created_at), user(1))
    assert await store.find_clock(key(1, created_at), user(1)) is not None
    while await store.sweep(NOW, 100):
        pass
    assert await store.find_clock(key(1, created_at), user(1)) is None


async def test_clock_of_any_day_is_found_and_deleted(store: Store) -> None:
    """PostgreSQL has ten partitions, one for each of ten days."""
    for other in range(12):
        await add_clock(store, clock(2, NOW - other * DAY), user(1))
    for age in range(12):
        there = clock(1, NOW - age * DAY)
        await add_clock(store, there, user(1))
        assert await store.find_clock(there.key, user(1)) == StoredClock(there, b"schedule"), age
        assert await store.delete_clock(there.key, user(1)), age
        assert await store.find_clock(there.key, user(1)) is None, age
        assert len(await listed(store, user(1))) == 12, age


# Deleting


async def test_deleted_clock_is_gone_for_every_method(store: Store) -> None:
    for number in (1, 2, 3):
        await add_clock(store, clock(number), user(1), b"schedule %d" % number)
    assert await store.delete_clock(key(2), user(1)) is True
    for with_schedule in (True, False):
        assert await store.find_clock(key(2), user(1), known_revision=None if with_schedule else 0) is None
        assert (
            await store.advance_clock(key(2), user(1), START + DAY, known_revision=None if with_schedule else 0) is None
        )
    assert await listed(store, user(1)) == [key(3), key(1)]
    assert await store.delete_clock(key(2), user(1)) is False
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule 1")
    assert await advance(store, key(3), user(1), START + DAY) == Clock(key(3), START, START + DAY, END)


async def test_only_the_owner_deletes_a_clock(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await store.delete_clock(key(1), user(2)) is False
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule")
    assert await store.delete_clock(key(1), user(1)) is True


async def test_unknown_clock_is_not_deleted(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    for absent in (key(2), key(1, NOW + DAY), bytes(16), b"\xff" * 16):
        assert await store.delete_clock(absent, user(1)) is False
    assert await listed(store, user(1)) == [key(1)]


async def test_deletion_leaves_no_rows(store: Store, rows_of: RowsOf) -> None:
    for number in (1, 2):
        assert await add_clock_once(store, make_record(number), clock(number), user(1)) is None
    await add_clock(store, clock(3), user(1))
    for deleted, left in ((1, (2, 2, 1)), (3, (1, 1, 1)), (2, (0, 0, 0))):
        assert await store.delete_clock(key(deleted), user(1))
        assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [*left]


async def test_failed_deletion_frees_no_idempotency_key(store: Store, rows_of: RowsOf) -> None:
    await add_clock_once(store, make_record(1), clock(1), user(1))
    assert await store.delete_clock(key(1), user(2)) is False
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [1, 1, 1]
    earlier = await add_clock_once(store, make_record(1), clock(2), user(1))
    assert isinstance(earlier, ExistingClock)
    assert earlier.stored.clock == clock(1)


async def test_key_of_a_deleted_clock_can_be_stored_again(store: Store) -> None:
    await add_clock(store, clock(1), user(1), b"before")
    await advance(store, key(1), user(1), END)
    assert await store.delete_clock(key(1), user(1))
    await add_clock(store, clock(1), user(2), b"after")
    assert await store.find_clock(key(1), user(2)) == StoredClock(clock(1), b"after")
    assert await store.find_clock(key(1), user(1)) is None


async def test_of_concurrent_deletions_one_succeeds(store: Store) -> None:
    for number in range(10):
        await add_clock(store, clock(number), user(1))
        results = await asyncio.gather(*(store.delete_clock(key(number), user(1)) for _ in range(20)))
        assert sorted(results) == [False] * 19 + [True]


async def test_advances_concurrent_with_a_deletion_find_the_clock_or_nothing(store: Store, rows_of: RowsOf) -> None:
    for number in range(10):
        await add_clock(store, clock(number), user(1))
        advances = [store.advance_clock(key(number), user(1), START + step * DAY) for step in range(20)]
        index = 2 * number
        results = await asyncio.gather(*advances[:index], store.delete_clock(key(number), user(1)), *advances[index:])
        assert results.pop(index) is True
        assert {result.clock.key for result in results if isinstance(result, StoredClock)} <= {key(number)}
        assert await store.find_clock(key(number), user(1)) is None
        assert await advance(store, key(number), user(1), END) is None
    assert [await rows_of(table) for table in ("clocks", "schedules")] == [0, 0]


async def test_many_clocks_are_deleted_concurrently(store: Store, rows_of: RowsOf) -> None:
    for number in range(100):
        await add_clock_once(store, make_record(number), clock(number, NOW - number % 12 * DAY), user(1))
    deleted = await asyncio.gather(
        *(store.delete_clock(key(number, NOW - number % 12 * DAY), user(1)) for number in range(0, 100, 2))
    )
    assert deleted == [True] * 50
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [50, 50, 50]
    left = {key(number, NOW - number % 12 * DAY) for number in range(1, 100, 2)}
    assert set(await listed(store, user(1))) == left


# Quotas


async def _create(store: Store, number: int, limit: int, owner: int = 1, now: Instant = NOW) -> bytes | None:
    return await create(store, clock(number, now), user(owner), b"new", first_live_key(now), limit)


async def test_deletion_frees_quota_immediately(store: Store) -> None:
    for number in (1, 2, 3):
        assert await _create(store, number, limit=3) is None
    for number in range(4, 10):
        # The owner stays at the limit, however often they try.
        assert [await _create(store, 99, limit=3) for _ in range(3)] == [key(number - 3)] * 3
        assert await store.delete_clock(key(number - 3), user(1))
        assert await _create(store, number, limit=3) is None
    assert await listed(store, user(1)) == [key(9), key(8), key(7)]
    assert await _create(store, 99, limit=3) == key(7)


async def test_each_deletion_frees_quota_for_one_clock(store: Store) -> None:
    for number in range(5):
        assert await _create(store, number, limit=5) is None
    assert await _create(store, 99, limit=5) == key(0)
    for number in (3, 1, 4):
        assert await store.delete_clock(key(number), user(1))
    assert [await _create(store, number, limit=5) for number in (10, 11, 12)] == [None] * 3
    assert await _create(store, 99, limit=5) == key(0)


async def test_failed_deletion_frees_no_quota(store: Store) -> None:
    assert await _create(store, 1, limit=1) is None
    assert await _create(store, 2, limit=1) == key(1)
    assert await store.delete_clock(key(2), user(1)) is False
    assert await store.delete_clock(key(1), user(2)) is False
    assert await _create(store, 2, limit=1) == key(1)


async def test_deletion_frees_no_quota_of_other_owners(store: Store) -> None:
    for owner in (1, 2):
        assert await _create(store, owner, limit=1, owner=owner) is None
        assert await _create(store, 99, limit=1, owner=owner) == key(owner)
    assert await store.delete_clock(key(1), user(1))
    assert await _create(store, 99, limit=1, owner=2) == key(2)
    assert await _create(store, 3, limit=1, owner=1) is None


async def test_oldest_remaining_clock_is_named(store: Store) -> None:
    for number in (1, 2, 3):
        assert await _create(store, number, limit=3, now=NOW + number * DAY) is None
    assert await store.delete_clock(key(1, NOW + DAY), user(1))
    assert await _create(store, 4, limit=3, now=NOW + 4 * DAY) is None
    assert await _create(store, 99, limit=3, now=NOW + 4 * DAY) == key(2, NOW + 2 * DAY)


async def test_deleting_an_expired_clock_frees_no_quota(store: Store) -> None:
    created_at = NOW - WEEK
    await add_clock(store, clock(1, created_at), user(1))
    await add_clock(store, clock(2), user(1))
    assert await _create(store, 3, limit=1) == key(2)
    assert await store.delete_clock(key(1, created_at), user(1))
    assert await _create(store, 3, limit=1) == key(2)


async def test_concurrent_creations_and_deletions_respect_the_quota(store: Store) -> None:
    for owner in range(10):
        numbers = range(owner * 100, owner * 100 + 4)
        for number in numbers:
            assert await _create(store, number, 4, owner) is None
        assert await _create(store, 9999, 4, owner) is not None
        deletions = [store.delete_clock(key(number), user(owner)) for number in numbers]
        creations = [_create(store, owner * 100 + 50 + number, 4, owner) for number in range(20)]
        together = [call for pair in zip(creations, deletions, strict=False) for call in pair]
        results = await asyncio.gather(*together, *creations[4:])
        stored = results[0:8:2].count(None) + results[8:].count(None)
        assert results[1:8:2] == [True] * 4
        assert len(await listed(store, user(owner))) == stored <= 4
        # Now exactly the limit fits.
        left = 4 - stored
        again = [await _create(store, owner * 100 + 80 + number, 4, owner) for number in range(left + 1)]
        assert [result is None for result in again] == [True] * left + [False]
