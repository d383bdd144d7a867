"""The contract of every store: a clock is found by its owner alone, as it stands, and is wholly gone once deleted."""

import asyncio
from collections.abc import Awaitable, Callable
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
    keep_once,
    key,
    listed,
    once,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.domain.clocks import Clock
from tickover.server.storage.store import ExistingClock, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]

_ANYTHING = bytes(range(256)) * 400
_with_schedule_or_without = pytest.mark.parametrize("with_schedule", [True, False], ids=["with schedule", "without"])


# Finding


@_with_schedule_or_without
async def test_a_clock_is_found_as_it_was_kept(store: Store, with_schedule: bool) -> None:
    await keep(store, clock(1), user(1), _ANYTHING)
    await keep(store, clock(2), user(1), b"another")
    found = await store.find_clock(key(1), user(1), with_schedule=with_schedule)
    assert found == StoredClock(clock(1), _ANYTHING if with_schedule else b"")


async def test_the_schedule_comes_unless_it_is_declined(store: Store) -> None:
    await keep(store, clock(1), user(1), _ANYTHING)
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), _ANYTHING)


@_with_schedule_or_without
async def test_an_empty_schedule_is_found_too(store: Store, with_schedule: bool) -> None:
    await keep(store, clock(1), user(1), b"")
    assert await store.find_clock(key(1), user(1), with_schedule=with_schedule) == StoredClock(clock(1), b"")


@_with_schedule_or_without
async def test_a_clock_is_found_where_the_last_advance_has_left_it(store: Store, with_schedule: bool) -> None:
    await keep(store, clock(1), user(1), b"schedule")
    schedule = b"schedule" if with_schedule else b""
    for to, stands in (
        (START + DAY, START + DAY),
        (START + DAY - INSTANT, START + DAY),
        (END + INSTANT, START + DAY),
        (START + DAY + INSTANT, START + DAY + INSTANT),
        (END, END),
    ):
        await advance(store, key(1), user(1), to)
        found = await store.find_clock(key(1), user(1), with_schedule=with_schedule)
        assert found == StoredClock(Clock(key(1), START, stands, END), schedule)


async def test_finding_a_clock_does_not_move_it(store: Store) -> None:
    await keep(store, clock(1), user(1))
    for _ in range(3):
        assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule")


@pytest.mark.parametrize(
    ("start", "stands", "end"),
    [
        pytest.param(START, START + DAY, END, id="apart from its start, as a fork may"),
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), NOW, datetime.max.replace(tzinfo=UTC), id="from first to last"),
        pytest.param(NOW - INSTANT, NOW, NOW + INSTANT, id="to the microsecond"),
    ],
)
async def test_every_moment_of_a_clock_is_found(store: Store, start: Instant, stands: Instant, end: Instant) -> None:
    there = Clock(key(1), start, stands, end)
    await keep(store, there, user(1))
    assert await store.find_clock(key(1), user(1)) == StoredClock(there, b"schedule")
    assert await store.list_clocks(user(1), bytes(16), None, 10) == [there]


@_with_schedule_or_without
async def test_a_clock_of_somebody_else_is_as_absent_as_one_that_never_was(store: Store, with_schedule: bool) -> None:
    await keep(store, clock(1), user(1))
    for which, whose in ((key(1), user(2)), (key(2), user(1)), (key(1, NOW + DAY), user(1))):
        assert await store.find_clock(which, whose, with_schedule=with_schedule) is None


async def test_an_expired_clock_is_found_until_it_is_swept(store: Store) -> None:
    """Who asks has looked at its id, which tells that it has expired."""
    born = NOW - 8 * DAY
    await keep(store, clock(1, born), user(1))
    assert await store.find_clock(key(1, born), user(1)) is not None
    while await store.sweep(NOW, 100):
        pass
    assert await store.find_clock(key(1, born), user(1)) is None


@pytest.mark.parametrize("age", range(12))
async def test_a_clock_of_any_day_is_found_and_deleted(store: Store, age: int) -> None:
    """Ten days are as many parts as a store may have for clocks."""
    there = clock(1, NOW - age * DAY)
    for other in range(12):
        await keep(store, clock(2, NOW - other * DAY), user(1))
    await keep(store, there, user(1))
    assert await store.find_clock(there.key, user(1)) == StoredClock(there, b"schedule")
    assert await store.delete_clock(there.key, user(1))
    assert await store.find_clock(there.key, user(1)) is None
    assert len(await listed(store, user(1))) == 12


# Deleting


async def test_a_deleted_clock_is_gone_for_every_verb(store: Store) -> None:
    for number in (1, 2, 3):
        await keep(store, clock(number), user(1), b"schedule %d" % number)
    assert await store.delete_clock(key(2), user(1)) is True
    for with_schedule in (True, False):
        assert await store.find_clock(key(2), user(1), with_schedule=with_schedule) is None
        assert await store.advance_clock(key(2), user(1), START + DAY, with_schedule=with_schedule) is None
    assert await listed(store, user(1)) == [key(3), key(1)]
    assert await store.delete_clock(key(2), user(1)) is False
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule 1")
    assert await advance(store, key(3), user(1), START + DAY) == Clock(key(3), START, START + DAY, END)


async def test_only_its_owner_deletes_a_clock(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await store.delete_clock(key(1), user(2)) is False
    assert await store.find_clock(key(1), user(1)) == StoredClock(clock(1), b"schedule")
    assert await store.delete_clock(key(1), user(1)) is True


async def test_a_clock_that_never_was_is_not_deleted(store: Store) -> None:
    await keep(store, clock(1), user(1))
    for absent in (key(2), key(1, NOW + DAY), bytes(16), b"\xff" * 16):
        assert await store.delete_clock(absent, user(1)) is False
    assert await listed(store, user(1)) == [key(1)]


async def test_nothing_of_a_deleted_clock_is_left_behind(store: Store, rows_of: RowsOf) -> None:
    for number in (1, 2):
        assert await keep_once(store, once(number), clock(number), user(1)) is None
    await keep(store, clock(3), user(1))
    for deleted, left in ((1, (2, 2, 1)), (3, (1, 1, 1)), (2, (0, 0, 0))):
        assert await store.delete_clock(key(deleted), user(1))
        assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [*left]


async def test_one_who_may_not_delete_it_frees_no_key(store: Store, rows_of: RowsOf) -> None:
    await keep_once(store, once(1), clock(1), user(1))
    assert await store.delete_clock(key(1), user(2)) is False
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [1, 1, 1]
    earlier = await keep_once(store, once(1), clock(2), user(1))
    assert isinstance(earlier, ExistingClock)
    assert earlier.stored.clock == clock(1)


async def test_the_same_key_may_be_kept_again_once_its_clock_was_deleted(store: Store) -> None:
    await keep(store, clock(1), user(1), b"before")
    await advance(store, key(1), user(1), END)
    assert await store.delete_clock(key(1), user(1))
    await keep(store, clock(1), user(2), b"after")
    assert await store.find_clock(key(1), user(2)) == StoredClock(clock(1), b"after")
    assert await store.find_clock(key(1), user(1)) is None


async def test_of_many_who_delete_a_clock_at_once_one_has_deleted_it(store: Store) -> None:
    for number in range(10):
        await keep(store, clock(number), user(1))
        answers = await asyncio.gather(*(store.delete_clock(key(number), user(1)) for _ in range(20)))
        assert sorted(answers) == [False] * 19 + [True]


async def test_advances_at_once_with_a_deletion_meet_the_clock_or_nothing(store: Store, rows_of: RowsOf) -> None:
    for number in range(10):
        await keep(store, clock(number), user(1))
        advances = [store.advance_clock(key(number), user(1), START + step * DAY) for step in range(20)]
        place = 2 * number
        answers = await asyncio.gather(*advances[:place], store.delete_clock(key(number), user(1)), *advances[place:])
        assert answers.pop(place) is True
        assert {answer.clock.key for answer in answers if isinstance(answer, StoredClock)} <= {key(number)}
        assert await store.find_clock(key(number), user(1)) is None
        assert await advance(store, key(number), user(1), END) is None
    assert [await rows_of(table) for table in ("clocks", "schedules")] == [0, 0]


async def test_many_clocks_are_deleted_at_once(store: Store, rows_of: RowsOf) -> None:
    for number in range(100):
        await keep_once(store, once(number), clock(number, NOW - number % 12 * DAY), user(1))
    deleted = await asyncio.gather(
        *(store.delete_clock(key(number, NOW - number % 12 * DAY), user(1)) for number in range(0, 100, 2))
    )
    assert deleted == [True] * 50
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [50, 50, 50]
    left = {key(number, NOW - number % 12 * DAY) for number in range(1, 100, 2)}
    assert set(await listed(store, user(1))) == left


# Places


async def _create(store: Store, number: int, limit: int, owner: int = 1, now: Instant = NOW) -> bytes | None:
    return await create(store, clock(number, now), user(owner), b"new", first_live_key(now), limit)


async def test_a_deleted_clock_leaves_its_place_to_another_at_once(store: Store) -> None:
    for number in (1, 2, 3):
        assert await _create(store, number, limit=3) is None
    for number in range(4, 10):
        # It is full, whoever asks, and however often.
        assert [await _create(store, 99, limit=3) for _ in range(3)] == [key(number - 3)] * 3
        assert await store.delete_clock(key(number - 3), user(1))
        assert await _create(store, number, limit=3) is None
    assert await listed(store, user(1)) == [key(9), key(8), key(7)]
    assert await _create(store, 99, limit=3) == key(7)


async def test_several_deleted_clocks_leave_as_many_places(store: Store) -> None:
    for number in range(5):
        assert await _create(store, number, limit=5) is None
    assert await _create(store, 99, limit=5) == key(0)
    for number in (3, 1, 4):
        assert await store.delete_clock(key(number), user(1))
    assert [await _create(store, number, limit=5) for number in (10, 11, 12)] == [None] * 3
    assert await _create(store, 99, limit=5) == key(0)


async def test_a_deletion_that_deleted_nothing_leaves_no_place(store: Store) -> None:
    assert await _create(store, 1, limit=1) is None
    assert await _create(store, 2, limit=1) == key(1)
    assert await store.delete_clock(key(2), user(1)) is False
    assert await store.delete_clock(key(1), user(2)) is False
    assert await _create(store, 2, limit=1) == key(1)


async def test_a_deleted_clock_leaves_no_place_to_others(store: Store) -> None:
    for owner in (1, 2):
        assert await _create(store, owner, limit=1, owner=owner) is None
        assert await _create(store, 99, limit=1, owner=owner) == key(owner)
    assert await store.delete_clock(key(1), user(1))
    assert await _create(store, 99, limit=1, owner=2) == key(2)
    assert await _create(store, 3, limit=1, owner=1) is None


async def test_the_oldest_of_those_that_are_left_is_named(store: Store) -> None:
    for number in (1, 2, 3):
        assert await _create(store, number, limit=3, now=NOW + number * DAY) is None
    assert await store.delete_clock(key(1, NOW + DAY), user(1))
    assert await _create(store, 4, limit=3, now=NOW + 4 * DAY) is None
    assert await _create(store, 99, limit=3, now=NOW + 4 * DAY) == key(2, NOW + 2 * DAY)


async def test_an_expired_clock_that_is_deleted_leaves_no_further_place(store: Store) -> None:
    born = NOW - WEEK
    await keep(store, clock(1, born), user(1))
    await keep(store, clock(2), user(1))
    assert await _create(store, 3, limit=1) == key(2)
    assert await store.delete_clock(key(1, born), user(1))
    assert await _create(store, 3, limit=1) == key(2)


async def test_however_creations_and_deletions_meet_the_limit_is_kept(store: Store) -> None:
    for owner in range(10):
        numbers = range(owner * 100, owner * 100 + 4)
        for number in numbers:
            assert await _create(store, number, 4, owner) is None
        assert await _create(store, 9999, 4, owner) is not None
        deletions = [store.delete_clock(key(number), user(owner)) for number in numbers]
        creations = [_create(store, owner * 100 + 50 + number, 4, owner) for number in range(20)]
        together = [call for pair in zip(creations, deletions, strict=False) for call in pair]
        answers = await asyncio.gather(*together, *creations[4:])
        kept = answers[0:8:2].count(None) + answers[8:].count(None)
        assert answers[1:8:2] == [True] * 4
        assert len(await listed(store, user(owner))) == kept <= 4
        # Whatever happened before, there are so many places now and no more.
        left = 4 - kept
        again = [await _create(store, owner * 100 + 80 + number, 4, owner) for number in range(left + 1)]
        assert [answer is None for answer in again] == [True] * left + [False]
