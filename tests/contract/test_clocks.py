"""The contract of every store: clocks are kept, counted, and moved forward by their owner alone."""

import asyncio
from datetime import UTC, datetime

import pytest

from tests.contract.values import (
    DAY,
    END,
    INSTANT,
    NOW,
    START,
    WEEK,
    advance,
    clock,
    create,
    keep,
    key,
    schedule_of,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, years_after
from tickover.server.domain.clocks import Clock
from tickover.server.storage.store import Store

_ANYTHING = bytes(range(256)) * 400


# Creating


async def test_a_clock_is_kept_with_its_schedule(store: Store) -> None:
    await keep(store, clock(1), user(1), _ANYTHING)
    assert await schedule_of(store, key(1), user(1)) == _ANYTHING
    assert await advance(store, key(1), user(1), START) == clock(1)


async def test_an_unknown_clock_has_no_schedule(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await schedule_of(store, key(2), user(1)) is None


async def test_a_clock_stands_apart_from_its_start(store: Store) -> None:
    """Such as a fork would be."""
    elsewhere = Clock(key(1), START, START + DAY, END)
    await keep(store, elsewhere, user(1))
    assert await advance(store, key(1), user(1), START + DAY) == elsewhere


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), id="the first"),
        pytest.param(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), id="before 1970"),
        pytest.param(datetime(2027, 1, 1, 12, 0, 0, 1, tzinfo=UTC), id="with microseconds"),
        pytest.param(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), id="the last"),
    ],
)
async def test_every_moment_is_given_back_to_the_microsecond(store: Store, moment: Instant) -> None:
    there = Clock(key(1), moment, moment, moment)
    await keep(store, there, user(1))
    assert await advance(store, key(1), user(1), moment) == there


@pytest.mark.parametrize(
    ("kept", "limit", "another_is_kept"),
    [
        pytest.param(0, 1, True, id="none of one"),
        pytest.param(1, 1, False, id="one of one"),
        pytest.param(2, 3, True, id="one below the most"),
        pytest.param(3, 3, False, id="at the most"),
        pytest.param(4, 3, False, id="above a most that was lowered"),
        pytest.param(20, 0, True, id="no limit"),
    ],
)
async def test_an_owner_has_at_most_so_many_clocks(store: Store, kept: int, limit: int, another_is_kept: bool) -> None:
    for number in range(kept):
        await keep(store, clock(number, NOW + number * DAY), user(1))
    refused_for = await create(store, clock(99), user(1), b"new", min_live_key=bytes(16), limit=limit)
    assert refused_for == (None if another_is_kept else key(0))
    assert await schedule_of(store, key(99), user(1)) == (b"new" if another_is_kept else None)


async def test_a_refused_clock_leaves_nothing_behind(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await create(store, clock(2), user(1), b"new", min_live_key=bytes(16), limit=1) == key(1)
    assert await schedule_of(store, key(2), user(1)) is None
    assert await advance(store, key(2), user(1), START) is None
    assert await schedule_of(store, key(1), user(1)) == b"schedule"


async def test_the_oldest_is_given_back_whatever_the_order_of_keeping(store: Store) -> None:
    for number, age in ((1, 2), (2, 3), (3, 1)):
        await keep(store, clock(number, NOW - age * DAY), user(1))
    assert await create(store, clock(9), user(1), b"", min_live_key=bytes(16), limit=2) == key(2, NOW - 3 * DAY)


async def test_clocks_from_before_living_from_do_not_count(store: Store) -> None:
    dead, dying, young = (NOW - WEEK, NOW - WEEK + DAY / 24 / 60, NOW - DAY)
    for number, born in enumerate((dead, dying, young)):
        await keep(store, clock(number, born), user(1))
    min_live_key = first_live_key(NOW)
    assert await create(store, clock(9), user(1), b"", min_live_key, limit=2) == key(1, dying)
    assert await create(store, clock(9), user(1), b"", min_live_key, limit=3) is None


async def test_a_clock_at_exactly_living_from_counts(store: Store) -> None:
    await keep(store, clock(5), user(1))
    assert await create(store, clock(9), user(1), b"", min_live_key=key(5), limit=1) == key(5)
    assert await create(store, clock(9), user(1), b"", min_live_key=key(6), limit=1) is None


async def test_the_clocks_of_others_do_not_count(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await create(store, clock(2), user(2), b"", min_live_key=bytes(16), limit=1) is None


# Advancing


@pytest.mark.parametrize(
    ("to", "then"),
    [
        pytest.param(START + INSTANT, START + INSTANT, id="an instant on"),
        pytest.param(START + DAY, START + DAY, id="a day on"),
        pytest.param(END, END, id="to the very end"),
        pytest.param(START, START, id="where it is"),
        pytest.param(START - INSTANT, START, id="an instant back"),
        pytest.param(START - WEEK, START, id="a week back"),
        pytest.param(END + INSTANT, START, id="an instant beyond the end"),
        pytest.param(years_after(END, 100), START, id="far beyond the end"),
    ],
)
async def test_a_clock_moves_from_where_it_is_up_to_its_end(store: Store, to: Instant, then: Instant) -> None:
    await keep(store, clock(1), user(1))
    assert await advance(store, key(1), user(1), to) == Clock(key(1), START, then, END)
    # And that is where it stays.
    assert await advance(store, key(1), user(1), then) == Clock(key(1), START, then, END)


@pytest.mark.parametrize("to", [START + DAY, START - DAY, END + INSTANT], ids=["on", "back", "beyond the end"])
async def test_a_schedule_that_is_not_asked_for_is_not_given(store: Store, to: Instant) -> None:
    for number in (1, 2):
        await keep(store, clock(number), user(1), _ANYTHING)
    bare = await store.advance_clock(key(1), user(1), to, with_schedule=False)
    whole = await store.advance_clock(key(2), user(1), to)
    assert bare is not None
    assert whole is not None
    assert (bare.schedule, whole.schedule) == (b"", _ANYTHING)
    stands = START + DAY if to == START + DAY else START
    assert bare.clock == Clock(key(1), START, stands, END)
    assert whole.clock == Clock(key(2), START, stands, END)


async def test_a_clock_of_nobody_is_none_with_its_schedule_or_without(store: Store) -> None:
    await keep(store, clock(1), user(1))
    for who, which in ((user(2), key(1)), (user(1), key(2))):
        for with_schedule in (True, False):
            assert await store.advance_clock(which, who, START, with_schedule=with_schedule) is None


async def test_each_of_many_at_once_is_given_what_it_asked_for(store: Store) -> None:
    for number in range(6):
        await keep(store, clock(number), user(1), b"schedule %d" % (number % 3))
    # Neighbours ask for different things, and so do the two that ask for one clock.
    asked = [(number, (number + turn) % 2 == 0) for turn in range(2) for number in range(6)]
    kept = await asyncio.gather(
        *(
            store.advance_clock(key(number), user(1), START, with_schedule=with_schedule)
            for number, with_schedule in asked
        )
    )
    given = [(one.clock.key, one.schedule) for one in kept if one]
    assert given == [
        (key(number), b"schedule %d" % (number % 3) if with_schedule else b"") for number, with_schedule in asked
    ]


async def test_a_clock_that_has_moved_does_not_go_back(store: Store) -> None:
    await keep(store, clock(1), user(1))
    await advance(store, key(1), user(1), START + WEEK)
    for back in (START, START + DAY, START + WEEK - INSTANT):
        assert await advance(store, key(1), user(1), back) == Clock(key(1), START, START + WEEK, END)


async def test_a_clock_at_its_end_stays_there(store: Store) -> None:
    await keep(store, clock(1), user(1))
    at_end = Clock(key(1), START, END, END)
    for to in (END, END, END + INSTANT, END - INSTANT):
        assert await advance(store, key(1), user(1), to) == at_end


async def test_only_its_owner_moves_a_clock(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await advance(store, key(1), user(2), START + DAY) is None
    assert await advance(store, key(1), user(1), START) == clock(1)


async def test_an_absent_clock_is_not_moved(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await advance(store, key(2), user(1), START + DAY) is None
    assert await schedule_of(store, key(2), user(1)) is None


async def test_moving_one_clock_leaves_the_others_where_they_are(store: Store) -> None:
    for number in (1, 2, 3):
        await keep(store, clock(number), user(1))
    await advance(store, key(2), user(1), START + DAY)
    assert await advance(store, key(1), user(1), START) == clock(1)
    assert await advance(store, key(3), user(1), START) == clock(3)


async def test_a_schedule_does_not_change_when_its_clock_moves(store: Store) -> None:
    await keep(store, clock(1), user(1), _ANYTHING)
    await advance(store, key(1), user(1), END)
    assert await schedule_of(store, key(1), user(1)) == _ANYTHING
