"""Every store: clocks are found, advanced and deleted, and creations with a key are repeatable."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from tests.store.values import (
    DAY,
    END,
    NOW,
    SECOND,
    START,
    add_clock,
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
from tickover.api.timestamps import Instant
from tickover.server.schedule.clock import Clock, encode_labels
from tickover.server.storage.store import Amended, Amendment, ExistingClock, Moved, Quota, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]

_MOVES = 20
_LARGE_SCHEDULE = bytes(range(256)) * 400


# Finding


@pytest.mark.parametrize(
    ("start", "stands", "end"),
    [
        pytest.param(START, START + DAY, END, id="after its start, as a fork"),
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), NOW, datetime.max.replace(tzinfo=UTC), id="minimum to maximum"),
        pytest.param(*[datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)] * 3, id="before 1970"),
    ],
)
@pytest.mark.parametrize("schedule", [_LARGE_SCHEDULE, b""], ids=["large", "empty"])
async def test_stored_clock_is_found(
    store: Store, start: Instant, stands: Instant, end: Instant, schedule: bytes
) -> None:
    there = Clock(key(1), start, stands, end, "Sümmer 😀", encode_labels({"ci": "1", "team/a": 'é"\\😀'}))
    await add_clock(store, there, user(1), schedule)
    await add_clock(store, clock(2), user(1), b"another")
    assert await store.find_clock(key(1), user(1)) == StoredClock(there, schedule)
    assert await store.find_clock(key(1), user(1), known_revision=0) == StoredClock(there, b"")
    assert await store.advance_clock(key(1), user(1), stands) == StoredClock(there, schedule)
    assert await store.advance_clock(key(1), user(1), stands, known_revision=0) == StoredClock(there, b"")
    assert await store.list_clocks(user(1), bytes(16), None, 10) == [clock(2), there]


# Advancing


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


@pytest.mark.usefixtures("long_timeouts")
async def test_of_concurrent_advances_the_latest_time_wins(store: Store) -> None:
    shuffle = random.Random(1).shuffle
    await add_clock(store, clock(1), user(1))
    for number in range(3):
        targets = [START + number * DAY + racer * SECOND for racer in range(50)]
        shuffle(targets)
        results = await asyncio.gather(*(advance(store, key(1), user(1), target) for target in targets))
        for target, result in zip(targets, results, strict=True):
            assert result is not None
            assert target <= result.frozen_time <= max(targets)
        stands = await advance(store, key(1), user(1), START)
        assert stands is not None
        assert stands.frozen_time == max(targets)


async def test_concurrent_moves_add_up(store: Store, open_another: OpenAnother) -> None:
    """Together with advances of the same clock, which don't wait for them."""
    stores = [store, await open_another()]
    await add_clock(store, clock(1), user(1))

    async def move(number: int) -> Instant:
        outcome = await stores[number % 2].move_clock(key(1), user(1), lambda found: found.frozen_time + DAY, Quota())
        assert isinstance(outcome, Moved)
        assert outcome.stored.clock.frozen_time == outcome.before + DAY
        return outcome.before

    starts = await asyncio.gather(*(move(number) for number in range(_MOVES)))
    assert sorted(starts) == [START + number * DAY for number in range(_MOVES)]
    late = START + 5 * _MOVES * DAY
    advancing = asyncio.create_task(advance(store, key(1), user(1), late))
    starts = await asyncio.gather(*(move(number) for number in range(_MOVES)))
    await advancing
    stands = await advance(store, key(1), user(1), START)
    assert stands is not None
    assert stands.frozen_time == late + sum(start >= late for start in starts) * DAY


async def test_of_concurrent_moves_with_one_record_one_moves(store: Store, open_another: OpenAnother) -> None:
    stores = [store, await open_another()]
    await add_clock(store, clock(1), user(1))
    moving = [
        stores[number % 2].move_clock(key(1), user(1), lambda found: found.frozen_time + DAY, Quota(), make_record(1))
        for number in range(_MOVES)
    ]
    outcomes = await asyncio.gather(*moving)
    moved = StoredClock(Clock(key(1), START, START + DAY, END), b"schedule")
    assert outcomes.count(Moved(START, moved)) == 1
    assert outcomes.count(ExistingClock(b"parameters", moved)) == _MOVES - 1


# Deleting


async def test_deletion_leaves_no_rows(store: Store, rows_of: RowsOf) -> None:
    for number in (1, 2):
        assert await add_clock_once(store, make_record(number), clock(number), user(1)) is None
    await add_clock(store, clock(3), user(1))
    # An amendment binds a second key to the first clock.
    amendment = Amendment(0, START, b"amended", make_record(4))
    assert isinstance(await store.amend_clock(key(1), user(1), amendment, Quota()), Amended)
    for deleted, left in ((1, (2, 2, 1)), (3, (1, 1, 1)), (2, (0, 0, 0))):
        assert await store.delete_clock(key(deleted), user(1))
        assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [*left]


# Idempotency keys: a creation is repeatable while its clock is live


_CONCURRENT = 50


def _existing(stored: Clock, params: bytes = b"parameters") -> ExistingClock:
    return ExistingClock(params, StoredClock(stored, b"schedule"))


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
