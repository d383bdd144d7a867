"""Every store: clocks are stored, counted, and advanced only by their owner."""

import asyncio
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
    advance,
    clock,
    create,
    key,
    schedule_of,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, years_after
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.store import Store

_LARGE_SCHEDULE = bytes(range(256)) * 400


# Creating


async def test_clock_is_stored_with_its_schedule(store: Store) -> None:
    await add_clock(store, clock(1), user(1), _LARGE_SCHEDULE)
    assert await schedule_of(store, key(1), user(1)) == _LARGE_SCHEDULE
    assert await advance(store, key(1), user(1), START) == clock(1)


async def test_unknown_clock_has_no_schedule(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await schedule_of(store, key(2), user(1)) is None


async def test_frozen_time_may_differ_from_start(store: Store) -> None:
    """A fork is such a clock."""
    elsewhere = Clock(key(1), START, START + DAY, END)
    await add_clock(store, elsewhere, user(1))
    assert await advance(store, key(1), user(1), START + DAY) == elsewhere


@pytest.mark.parametrize(
    "instant",
    [
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), id="the first"),
        pytest.param(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), id="before 1970"),
        pytest.param(datetime(2027, 1, 1, 12, 0, 0, 1, tzinfo=UTC), id="with microseconds"),
        pytest.param(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), id="the last"),
    ],
)
async def test_instants_round_trip_to_the_microsecond(store: Store, instant: Instant) -> None:
    expected = Clock(key(1), instant, instant, instant)
    await add_clock(store, expected, user(1))
    assert await advance(store, key(1), user(1), instant) == expected


@pytest.mark.parametrize(
    ("stored", "limit", "is_created"),
    [
        pytest.param(0, 1, True, id="none of one"),
        pytest.param(1, 1, False, id="one of one"),
        pytest.param(2, 3, True, id="one below the limit"),
        pytest.param(3, 3, False, id="at the limit"),
        pytest.param(4, 3, False, id="above a lowered limit"),
        pytest.param(20, 0, True, id="no limit"),
    ],
)
async def test_number_of_clocks_is_limited(store: Store, stored: int, limit: int, is_created: bool) -> None:
    for number in range(stored):
        await add_clock(store, clock(number, NOW + number * DAY), user(1))
    oldest = await create(store, clock(99), user(1), b"new", min_live_key=bytes(16), limit=limit)
    assert oldest == (None if is_created else key(0))
    assert await schedule_of(store, key(99), user(1)) == (b"new" if is_created else None)


async def test_rejected_clock_leaves_no_rows(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await create(store, clock(2), user(1), b"new", min_live_key=bytes(16), limit=1) == key(1)
    assert await schedule_of(store, key(2), user(1)) is None
    assert await advance(store, key(2), user(1), START) is None
    assert await schedule_of(store, key(1), user(1)) == b"schedule"


async def test_oldest_clock_is_returned_in_any_order_of_creation(store: Store) -> None:
    for number, age in ((1, 2), (2, 3), (3, 1)):
        await add_clock(store, clock(number, NOW - age * DAY), user(1))
    assert await create(store, clock(9), user(1), b"", min_live_key=bytes(16), limit=2) == key(2, NOW - 3 * DAY)


async def test_clocks_before_min_live_key_do_not_count(store: Store) -> None:
    expired, dying, young = (NOW - WEEK, NOW - WEEK + DAY / 24 / 60, NOW - DAY)
    for number, created_at in enumerate((expired, dying, young)):
        await add_clock(store, clock(number, created_at), user(1))
    min_live_key = first_live_key(NOW)
    assert await create(store, clock(9), user(1), b"", min_live_key, limit=2) == key(1, dying)
    assert await create(store, clock(9), user(1), b"", min_live_key, limit=3) is None


async def test_clock_at_min_live_key_counts(store: Store) -> None:
    await add_clock(store, clock(5), user(1))
    assert await create(store, clock(9), user(1), b"", min_live_key=key(5), limit=1) == key(5)
    assert await create(store, clock(9), user(1), b"", min_live_key=key(6), limit=1) is None


async def test_clocks_of_other_owners_do_not_count(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await create(store, clock(2), user(2), b"", min_live_key=bytes(16), limit=1) is None


# Advancing


@pytest.mark.parametrize(
    ("to", "then"),
    [
        pytest.param(START + MICROSECOND, START + MICROSECOND, id="a microsecond forward"),
        pytest.param(START + DAY, START + DAY, id="a day forward"),
        pytest.param(END, END, id="to the max time"),
        pytest.param(START, START, id="to the same time"),
        pytest.param(START - MICROSECOND, START, id="a microsecond back"),
        pytest.param(START - WEEK, START, id="a week back"),
        pytest.param(END + MICROSECOND, START, id="a microsecond after the max time"),
        pytest.param(years_after(END, 100), START, id="long after the max time"),
    ],
)
async def test_clock_advances_up_to_its_max_time(store: Store, to: Instant, then: Instant) -> None:
    await add_clock(store, clock(1), user(1))
    assert await advance(store, key(1), user(1), to) == Clock(key(1), START, then, END)
    # The clock keeps this time.
    assert await advance(store, key(1), user(1), then) == Clock(key(1), START, then, END)


@pytest.mark.parametrize(
    "to", [START + DAY, START - DAY, END + MICROSECOND], ids=["forward", "back", "after the max time"]
)
async def test_schedule_is_omitted_unless_requested(store: Store, to: Instant) -> None:
    for number in (1, 2):
        await add_clock(store, clock(number), user(1), _LARGE_SCHEDULE)
    bare = await store.advance_clock(key(1), user(1), to, known_revision=0)
    whole = await store.advance_clock(key(2), user(1), to)
    assert bare is not None
    assert whole is not None
    assert (bare.schedule, whole.schedule) == (b"", _LARGE_SCHEDULE)
    stands = START + DAY if to == START + DAY else START
    assert bare.clock == Clock(key(1), START, stands, END)
    assert whole.clock == Clock(key(2), START, stands, END)


async def test_unknown_clock_is_none_with_and_without_schedule(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    for who, which in ((user(2), key(1)), (user(1), key(2))):
        for with_schedule in (True, False):
            assert await store.advance_clock(which, who, START, known_revision=None if with_schedule else 0) is None


async def test_concurrent_advances_return_what_each_requested(store: Store) -> None:
    for number in range(6):
        await add_clock(store, clock(number), user(1), b"schedule %d" % (number % 3))
    # Adjacent calls differ in with_schedule, and so do the two calls for one clock.
    calls = [(number, (number + turn) % 2 == 0) for turn in range(2) for number in range(6)]
    stored = await asyncio.gather(
        *(
            store.advance_clock(key(number), user(1), START, known_revision=None if with_schedule else 0)
            for number, with_schedule in calls
        )
    )
    results = [(one.clock.key, one.schedule) for one in stored if one]
    assert results == [
        (key(number), b"schedule %d" % (number % 3) if with_schedule else b"") for number, with_schedule in calls
    ]


async def test_advanced_clock_does_not_go_back(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    await advance(store, key(1), user(1), START + WEEK)
    for back in (START, START + DAY, START + WEEK - MICROSECOND):
        assert await advance(store, key(1), user(1), back) == Clock(key(1), START, START + WEEK, END)


async def test_clock_at_its_max_time_stays_there(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    at_end = Clock(key(1), START, END, END)
    for to in (END, END, END + MICROSECOND, END - MICROSECOND):
        assert await advance(store, key(1), user(1), to) == at_end


async def test_only_the_owner_advances_a_clock(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await advance(store, key(1), user(2), START + DAY) is None
    assert await advance(store, key(1), user(1), START) == clock(1)


async def test_unknown_clock_is_not_advanced(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    assert await advance(store, key(2), user(1), START + DAY) is None
    assert await schedule_of(store, key(2), user(1)) is None


async def test_advance_changes_no_other_clock(store: Store) -> None:
    for number in (1, 2, 3):
        await add_clock(store, clock(number), user(1))
    await advance(store, key(2), user(1), START + DAY)
    assert await advance(store, key(1), user(1), START) == clock(1)
    assert await advance(store, key(3), user(1), START) == clock(3)


async def test_advance_does_not_change_the_schedule(store: Store) -> None:
    await add_clock(store, clock(1), user(1), _LARGE_SCHEDULE)
    await advance(store, key(1), user(1), END)
    assert await schedule_of(store, key(1), user(1)) == _LARGE_SCHEDULE
