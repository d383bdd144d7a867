"""The contract of every store: what is created once is given back when it is asked for again, as long as it lives."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.contract.values import (
    DAY,
    END,
    HOUR,
    MINUTE,
    NOW,
    START,
    WEEK,
    advance,
    clock,
    create,
    create_once,
    keep,
    keep_once,
    key,
    listed,
    once,
    schedule_of,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.domain.clocks import Clock
from tickover.server.storage.store import ExistingClock, IdempotencyRecord, Store, StoredClock

RowsOf = Callable[[str], Awaitable[int]]
OpenAnother = Callable[[], Awaitable[Store]]

_ANYTHING = bytes(range(256)) * 400
_MILLISECOND = timedelta(milliseconds=1)
_AT_ONCE = 50


async def _create(
    store: Store, known: IdempotencyRecord, new: Clock, owner: int = 1, now: Instant = NOW, limit: int = 0
) -> ExistingClock | bytes | None:
    return await create_once(store, known, new, user(owner), b"schedule", first_live_key(now), limit)


# The first and the next


async def test_the_first_is_kept_like_any_other(store: Store) -> None:
    new = Clock(key(1), START, START + DAY, END)
    assert await create_once(store, once(1), new, user(1), _ANYTHING, bytes(16), 0) is None
    assert await store.find_clock(key(1), user(1)) == StoredClock(new, _ANYTHING)
    assert await listed(store, user(1)) == [key(1)]
    assert await advance(store, key(1), user(1), END) == Clock(key(1), START, END, END)


async def test_the_next_is_given_the_first_and_nothing_is_kept(store: Store, rows_of: RowsOf) -> None:
    await create_once(store, once(1), clock(1), user(1), _ANYTHING, bytes(16), 0)
    for number in (2, 3):
        given = await _create(store, once(1), clock(number))
        assert given == ExistingClock(b"parameters", StoredClock(clock(1), _ANYTHING))
        assert await store.find_clock(key(number), user(1)) is None
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [1, 1, 1]


async def test_the_first_is_given_as_it_stands_now(store: Store) -> None:
    await _create(store, once(1), clock(1))
    for to in (START + DAY, START + WEEK, END):
        await advance(store, key(1), user(1), to)
        given = await _create(store, once(1), clock(2))
        assert given == ExistingClock(b"parameters", StoredClock(Clock(key(1), START, to, END), b"schedule"))


@pytest.mark.parametrize("params", [b"parameters", b"others", b"", bytes(range(256))])
async def test_the_parameters_of_the_first_are_given_back_whatever_the_next_has(store: Store, params: bytes) -> None:
    """Whether they are the same is for whoever asks to say."""
    assert await _create(store, once(1, params), clock(1)) is None
    for other in (b"parameters", b"others", params):
        given = await _create(store, once(1, other), clock(2))
        assert given == ExistingClock(params, StoredClock(clock(1), b"schedule"))


async def test_another_digest_is_another_clock(store: Store) -> None:
    for number in range(5):
        assert await _create(store, once(number), clock(number)) is None
    given = [await _create(store, once(number), clock(9)) for number in range(5)]
    assert given == [ExistingClock(b"parameters", StoredClock(clock(number), b"schedule")) for number in range(5)]
    longer = IdempotencyRecord(once(1).digest + b"\0", b"parameters")
    assert await _create(store, longer, clock(6)) is None


async def test_a_clock_made_without_a_key_is_never_given(store: Store) -> None:
    await keep(store, clock(1), user(1))
    assert await _create(store, once(1), clock(2)) is None
    await keep(store, clock(3), user(1))
    given = await _create(store, once(1), clock(4))
    assert isinstance(given, ExistingClock)
    assert given.stored.clock == clock(2)


@pytest.mark.parametrize("age", range(7))
async def test_a_clock_of_any_day_of_its_week_is_given(store: Store, age: int) -> None:
    for day in range(10):
        assert await _create(store, once(day), clock(day, NOW - day * DAY)) is None
    given = await _create(store, once(age), clock(99))
    assert given == ExistingClock(b"parameters", StoredClock(clock(age, NOW - age * DAY), b"schedule"))


async def test_two_owners_with_equal_keys_do_not_meet(store: Store) -> None:
    """Their digests differ, for the owner is in it."""
    for owner in (1, 2):
        assert await _create(store, once(owner), clock(owner), owner) is None
    for owner in (1, 2):
        given = await _create(store, once(owner), clock(9), owner)
        assert given == ExistingClock(b"parameters", StoredClock(clock(owner), b"schedule"))
        assert await listed(store, user(owner)) == [key(owner)]


async def test_nobody_is_given_a_clock_of_somebody_else(store: Store) -> None:
    """Not even by a digest that is theirs, which cannot be."""
    await _create(store, once(1), clock(1), owner=1)
    given = await _create(store, once(1), clock(2), owner=2)
    assert not isinstance(given, ExistingClock)


# As long as the clock lives


@pytest.mark.parametrize(
    ("age", "lives"),
    [
        pytest.param(CLOCK_LIFETIME - _MILLISECOND, True, id="in its last millisecond"),
        pytest.param(CLOCK_LIFETIME, False, id="at its end"),
        pytest.param(CLOCK_LIFETIME + DAY, False, id="long after"),
    ],
)
@pytest.mark.parametrize("swept", [False, True], ids=["not swept", "swept"])
async def test_a_key_is_free_when_its_clock_has_expired(
    store: Store, rows_of: RowsOf, age: timedelta, lives: bool, swept: bool
) -> None:
    born = NOW - age
    await _create(store, once(1, b"before"), clock(1, born), now=born)
    while swept and await store.sweep(NOW, 100):
        pass
    given = await _create(store, once(1, b"after"), clock(2))
    assert (given is None) is not lives
    # The same key is for one clock at any time.
    assert await rows_of("creations") == 1
    kept, params = (clock(1, born), b"before") if lives else (clock(2), b"after")
    assert await _create(store, once(1, b"again"), clock(3)) == ExistingClock(params, StoredClock(kept, b"schedule"))


async def test_a_key_is_used_week_after_week(store: Store, rows_of: RowsOf) -> None:
    for week in range(5):
        now = NOW + week * CLOCK_LIFETIME
        assert await _create(store, once(1), clock(week, now), now=now) is None
        given = await _create(store, once(1), clock(9, now + HOUR), now=now + HOUR)
        assert given == ExistingClock(b"parameters", StoredClock(clock(week, now), b"schedule"))
    assert await rows_of("creations") == 1


async def test_a_key_is_free_when_its_clock_was_deleted(store: Store, rows_of: RowsOf) -> None:
    for number in range(5):
        assert await _create(store, once(1, b"of %d" % number), clock(number)) is None
        assert await rows_of("creations") == 1
        given = await _create(store, once(1, b"others"), clock(9))
        assert given == ExistingClock(b"of %d" % number, StoredClock(clock(number), b"schedule"))
        assert await store.delete_clock(key(number), user(1))
        assert await rows_of("creations") == 0


async def test_what_replaces_an_expired_clock_is_not_swept_with_it(store: Store) -> None:
    born = NOW - WEEK
    await _create(store, once(1), clock(1, born), now=born)
    await _create(store, once(1), clock(2))
    while await store.sweep(NOW + DAY, 100):
        pass
    given = await _create(store, once(1), clock(3))
    assert given == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))


async def test_to_delete_the_expired_clock_does_not_free_the_key_of_its_successor(store: Store) -> None:
    born = NOW - WEEK
    await _create(store, once(1), clock(1, born), now=born)
    await _create(store, once(1), clock(2))
    await store.delete_clock(key(1, born), user(1))
    given = await _create(store, once(1), clock(3))
    assert given == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))


# Places


async def test_who_is_full_is_told_the_oldest_and_the_key_is_not_taken(store: Store, rows_of: RowsOf) -> None:
    await keep(store, clock(1, NOW - DAY), user(1))
    await keep(store, clock(2), user(1))
    for _ in range(3):
        assert await _create(store, once(1, b"refused"), clock(3), limit=2) == key(1, NOW - DAY)
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [2, 2, 0]
    assert await schedule_of(store, key(3), user(1)) is None
    assert await store.delete_clock(key(2), user(1))
    assert await _create(store, once(1, b"kept"), clock(4), limit=2) is None
    assert await _create(store, once(1), clock(5), limit=2) == ExistingClock(
        b"kept", StoredClock(clock(4), b"schedule")
    )


async def test_an_earlier_clock_is_given_even_to_who_is_full(store: Store) -> None:
    assert await _create(store, once(1), clock(1), limit=2) is None
    assert await _create(store, once(2), clock(2), limit=2) is None
    assert await _create(store, once(3), clock(3), limit=2) == key(1)
    for limit in (2, 1, 0):
        given = await _create(store, once(2), clock(3), limit=limit)
        assert given == ExistingClock(b"parameters", StoredClock(clock(2), b"schedule"))
    assert await _create(store, once(3), clock(3), limit=2) == key(1)


async def test_an_earlier_clock_takes_no_further_place(store: Store) -> None:
    for _ in range(10):
        await _create(store, once(1), clock(1), limit=3)
    assert [await _create(store, once(number), clock(number), limit=3) for number in (2, 3, 4)] == [None, None, key(1)]


@pytest.mark.parametrize(("kept", "limit", "another"), [(0, 1, True), (1, 1, False), (2, 3, True), (3, 3, False)])
async def test_clocks_of_both_kinds_count_alike(store: Store, kept: int, limit: int, another: bool) -> None:
    for number in range(kept):
        if number % 2:
            await keep(store, clock(number), user(1))
        else:
            assert await _create(store, once(number), clock(number), limit=limit) is None
    oldest = None if another else key(0)
    assert await _create(store, once(99), clock(99), limit=limit) == oldest
    assert await create(store, clock(98), user(1), b"", bytes(16), limit + another) == oldest


async def test_expired_clocks_take_no_place(store: Store) -> None:
    for number, born in enumerate((NOW - WEEK - DAY, NOW - WEEK, NOW - WEEK + MINUTE)):
        await keep(store, clock(number, born), user(1))
    assert await _create(store, once(1), clock(8), limit=1) == key(2, NOW - WEEK + MINUTE)
    assert await _create(store, once(1), clock(8), limit=2) is None


# Many at once


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("limit", [0, 1, 100])
async def test_of_many_at_once_one_creates_and_all_others_are_given_its_clock(
    store: Store, open_another: OpenAnother, rows_of: RowsOf, servers: int, limit: int
) -> None:
    stores = [store, *[await open_another() for _ in range(servers - 1)]]
    for number in range(4):
        numbers = range(number * _AT_ONCE, (number + 1) * _AT_ONCE)
        answers = await asyncio.gather(
            *(_create(stores[n % servers], once(number), clock(n), number, limit=limit) for n in numbers)
        )
        (created,) = [n for n, answer in zip(numbers, answers, strict=True) if answer is None]
        others = [answer for answer in answers if answer is not None]
        assert others == [ExistingClock(b"parameters", StoredClock(clock(created), b"schedule"))] * (_AT_ONCE - 1)
        assert await listed(stores[-1], user(number)) == [key(created)]
    assert [await rows_of(table) for table in ("clocks", "schedules", "creations")] == [4, 4, 4]


async def test_of_many_at_once_with_keys_of_their_own_so_many_are_kept_as_may_be(store: Store, rows_of: RowsOf) -> None:
    """Half of them have no key; those that are refused have taken none."""
    numbers = range(_AT_ONCE)
    plain = [create(store, clock(n), user(1), b"schedule", bytes(16), 7) for n in numbers[1::2]]
    answers = await asyncio.gather(*(_create(store, once(n), clock(n), limit=7) for n in numbers[::2]), *plain)
    order = [*numbers[::2], *numbers[1::2]]
    kept = {n for n, answer in zip(order, answers, strict=True) if answer is None}
    assert len(kept) == 7
    assert set(await listed(store, user(1))) == {key(n) for n in kept}
    assert {answer for answer in answers if answer is not None} <= {key(n) for n in kept}
    assert await rows_of("creations") == len([n for n in kept if n % 2 == 0])


async def test_many_owners_and_keys_at_once_do_not_hinder_each_other(store: Store) -> None:
    answers = await asyncio.gather(
        *(_create(store, once(n // 2), clock(n), owner=n // 2 % 5, limit=100) for n in range(2 * _AT_ONCE))
    )
    given = [answer for answer in answers if isinstance(answer, ExistingClock)]
    assert (len(given), answers.count(None)) == (_AT_ONCE, _AT_ONCE)
    assert len({one.stored.clock.key for one in given}) == _AT_ONCE
    assert sum([len(await listed(store, user(owner))) for owner in range(5)]) == _AT_ONCE


async def test_a_key_that_is_freed_while_many_ask_for_it_is_for_one_clock_or_for_none(
    store: Store, rows_of: RowsOf
) -> None:
    for number in range(10):
        owner, first = user(number), number * 100
        assert await keep_once(store, once(number), clock(first), owner) is None
        asking = [keep_once(store, once(number), clock(first + n), owner) for n in range(1, 21)]
        place = 2 * number
        answers = await asyncio.gather(*asking[:place], store.delete_clock(key(first), owner), *asking[place:])
        assert answers.pop(place) is True
        created = [first + n for n, answer in enumerate(answers, 1) if answer is None]
        assert await listed(store, owner) == [key(n) for n in created]
        assert len(created) <= 1
        given = {answer.stored.clock.key for answer in answers if isinstance(answer, ExistingClock)}
        assert given <= {key(first), *(key(n) for n in created)}
        assert await rows_of("creations") == len(created)
        for n in created:
            assert await store.delete_clock(key(n), owner)
