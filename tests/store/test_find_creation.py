"""Every store: only the owner finds a live clock by its idempotency key."""

import asyncio
from datetime import timedelta

import pytest

from tests.store.values import (
    DAY,
    END,
    NOW,
    START,
    WEEK,
    add_clock,
    add_clock_once,
    advance,
    clock,
    create_once,
    digest,
    key,
    make_record,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import ExistingClock, Store, StoredClock

_LARGE_SCHEDULE = bytes(range(256)) * 400
_MILLISECOND = timedelta(milliseconds=1)


async def test_creation_is_found_with_params_and_schedule(store: Store) -> None:
    await create_once(store, make_record(1, b"of one"), clock(1), user(1), _LARGE_SCHEDULE, bytes(16), 0)
    await create_once(store, make_record(2, b"of two"), clock(2), user(1), b"", bytes(16), 0)
    assert await store.find_creation(digest(1), user(1), bytes(16)) == ExistingClock(
        b"of one", StoredClock(clock(1), _LARGE_SCHEDULE)
    )
    assert await store.find_creation(digest(2), user(1), bytes(16)) == ExistingClock(
        b"of two", StoredClock(clock(2), b"")
    )


async def test_creation_is_found_at_the_current_frozen_time(store: Store) -> None:
    await add_clock_once(store, make_record(1), clock(1), user(1))
    for to in (START + DAY, START + WEEK, END):
        await advance(store, key(1), user(1), to)
        found = await store.find_creation(digest(1), user(1), bytes(16))
        assert found == ExistingClock(b"parameters", StoredClock(Clock(key(1), START, to, END), b"schedule"))


async def test_unused_key_is_not_found(store: Store) -> None:
    await add_clock_once(store, make_record(1), clock(1), user(1))
    await add_clock(store, clock(2), user(1))
    for unknown in (digest(2), digest(1)[:-1], digest(1) + b"\0", b""):
        assert await store.find_creation(unknown, user(1), bytes(16)) is None


async def test_creation_of_another_owner_is_not_found(store: Store) -> None:
    await add_clock_once(store, make_record(1), clock(1), user(1))
    assert await store.find_creation(digest(1), user(2), bytes(16)) is None


async def test_creation_of_any_day_of_the_week_is_found(store: Store) -> None:
    for day in range(10):
        assert await add_clock_once(store, make_record(day), clock(day, NOW - day * DAY), user(1)) is None
    for age in range(7):
        found = await store.find_creation(digest(age), user(1), first_live_key(NOW))
        assert found == ExistingClock(b"parameters", StoredClock(clock(age, NOW - age * DAY), b"schedule")), age


@pytest.mark.parametrize(
    ("age", "lives"),
    [
        pytest.param(CLOCK_LIFETIME - _MILLISECOND, True, id="in its last millisecond"),
        pytest.param(CLOCK_LIFETIME, False, id="when it expires"),
        pytest.param(CLOCK_LIFETIME + DAY, False, id="long after"),
    ],
)
async def test_creation_is_found_while_its_clock_is_live(store: Store, age: timedelta, lives: bool) -> None:
    await add_clock_once(store, make_record(1), clock(1, NOW - age), user(1))
    found = await store.find_creation(digest(1), user(1), first_live_key(NOW))
    assert found == (ExistingClock(b"parameters", StoredClock(clock(1, NOW - age), b"schedule")) if lives else None)


async def test_min_live_key_is_inclusive(store: Store) -> None:
    await add_clock_once(store, make_record(5), clock(5), user(1))
    assert await store.find_creation(digest(5), user(1), min_live_key=key(5)) is not None
    assert await store.find_creation(digest(5), user(1), min_live_key=key(6)) is None
    assert isinstance(
        await add_clock_once(store, make_record(5), clock(7), user(1), min_live_key=key(5)), ExistingClock
    )
    assert await add_clock_once(store, make_record(5), clock(7), user(1), min_live_key=key(6)) is None


async def test_creation_of_a_deleted_clock_is_not_found(store: Store) -> None:
    await add_clock_once(store, make_record(1), clock(1), user(1))
    await store.delete_clock(key(1), user(1))
    assert await store.find_creation(digest(1), user(1), bytes(16)) is None
    await add_clock_once(store, make_record(1, b"others"), clock(2), user(1))
    found = await store.find_creation(digest(1), user(1), bytes(16))
    assert found == ExistingClock(b"others", StoredClock(clock(2), b"schedule"))


async def test_rejected_creation_is_not_found(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await create_once(store, make_record(1), clock(2), user(1), b"", bytes(16), 1) == key(1)
    assert await store.find_creation(digest(1), user(1), bytes(16)) is None


async def test_finding_a_creation_changes_nothing(store: Store) -> None:
    assert await store.find_creation(digest(1), user(1), bytes(16)) is None
    assert await create_once(store, make_record(1), clock(1), user(1), b"", bytes(16), 1) is None
    for _ in range(3):
        assert await store.find_creation(digest(1), user(1), bytes(16)) is not None
    assert await create_once(store, make_record(2), clock(2), user(1), b"", bytes(16), 2) is None


async def test_search_during_concurrent_creations_finds_nothing_or_the_one_clock(store: Store) -> None:
    for number in range(5):
        creating = [add_clock_once(store, make_record(number), clock(number * 100 + n), user(1)) for n in range(20)]
        looking = [store.find_creation(digest(number), user(1), bytes(16)) for _ in range(20)]
        results = await asyncio.gather(*(call for pair in zip(creating, looking, strict=True) for call in pair))
        created = [n for n, result in enumerate(results[::2]) if result is None]
        found = await store.find_creation(digest(number), user(1), bytes(16))
        assert found == ExistingClock(b"parameters", StoredClock(clock(number * 100 + created[0]), b"schedule"))
        assert len(created) == 1
        assert {result.stored.clock.key for result in results[1::2] if isinstance(result, ExistingClock)} <= {
            found.stored.clock.key
        }
