"""The contract of every store: a sweep takes what has expired, a little at a time, and touches nothing alive.

Clocks may go a whole day's at once instead, and so the dead of a day may stay until its last one has died. Nobody sees
it: the id of a clock tells that it has expired.

What a sweep has deleted shows through the port, because `now` is an argument: a token that has expired today lets its
user in yesterday, unless it is gone.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

import pytest

from tests.contract.values import (
    ANA,
    DAY,
    HOUR,
    INSTANT,
    MINUTE,
    NOW,
    START,
    WEEK,
    advance,
    allowing,
    claim,
    clock,
    code,
    digest,
    keep,
    keep_once,
    key,
    link,
    once,
    schedule_of,
    sent,
    session,
    tries_left,
    user,
)
from tickover.api.limits import CLOCK_LIFETIME, LINK_LIFETIME, TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Try
from tickover.server.storage.store import ExistingClock, Store

_MILLISECOND = timedelta(milliseconds=1)


def _address(number: int) -> str:
    return f"user-{number}@example.test"


async def _keep_clock(store: Store, number: int, born: Instant) -> None:
    await keep(store, clock(number, born), user(1))


async def _clock_is_there(store: Store, number: int, born: Instant) -> bool:
    schedule = await schedule_of(store, key(number, born), user(1))
    stands = await advance(store, key(number, born), user(1), START)
    assert (schedule is None) == (stands is None), "a clock and its schedule go together"
    return schedule is not None


async def _keep_creation(store: Store, number: int, born: Instant) -> None:
    """With its clock; how it goes by itself is in `test_sweeping_creations`."""
    assert await keep_once(store, once(number), clock(number, born), user(1)) is None


async def _creation_is_there(store: Store, number: int, born: Instant) -> bool:
    """Whether the clock is found by the key that it was made with, by one who asks as soon as it is made."""
    probe = clock(number + 1_000_000, born)
    if isinstance(await keep_once(store, once(number), probe, user(1)), ExistingClock):
        return True
    assert await store.delete_clock(probe.key, user(1))
    return False


async def _keep_token(store: Store, number: int, born: Instant) -> None:
    """Leaves no letter behind."""
    letter = await sent(store, code(number, born, _address(number)))
    await store.redeem_code(letter.email, letter.digest, session(number, born))
    await store.undo_send(letter)


async def _token_is_there(store: Store, number: int, born: Instant) -> bool:
    return await store.user_of_token(digest(number), born) is not None


async def _keep_code(store: Store, number: int, born: Instant) -> None:
    await sent(store, code(number, born, _address(number)))


async def _keep_link(store: Store, number: int, born: Instant) -> None:
    await sent(store, link(number, born, _address(number)))


async def _letter_is_there(store: Store, number: int, born: Instant) -> bool:
    """Whether it holds the slot, seen from just after it was sent."""
    probe = code(number + 1_000_000, born + INSTANT, _address(number))
    if await claim(store, probe, probe.sent_at - born + INSTANT) is not None:
        return True
    await store.undo_send(probe)
    return False


class _Thing(NamedTuple):
    lifetime: timedelta
    keep: Callable[[Store, int, Instant], Awaitable[None]]
    is_there: Callable[[Store, int, Instant], Awaitable[bool]]
    by_the_day: bool = False
    """Whether a whole day's may go at once, and may stay for a day."""


# Letters, whatever they carry, are kept for as long as a link lives: the slot is read from them.
_THINGS = {
    "clock": _Thing(CLOCK_LIFETIME, _keep_clock, _clock_is_there, by_the_day=True),
    "creation": _Thing(CLOCK_LIFETIME, _keep_creation, _creation_is_there, by_the_day=True),
    "token": _Thing(TOKEN_LIFETIME, _keep_token, _token_is_there),
    "code": _Thing(LINK_LIFETIME, _keep_code, _letter_is_there),
    "link": _Thing(LINK_LIFETIME, _keep_link, _letter_is_there),
}

_every_thing = pytest.mark.parametrize("thing", [pytest.param(thing, id=name) for name, thing in _THINGS.items()])


async def _swept_clean(store: Store, now: Instant, limit: int) -> int:
    """Sweep until there is nothing left to sweep; how many sweeps found something."""
    for number in range(1000):
        if await store.sweep(now, limit) == 0:
            return number
    raise AssertionError("sweeping does not come to an end")


async def test_an_empty_store_has_nothing_to_sweep(store: Store) -> None:
    assert await store.sweep(NOW, 100) == 0


@_every_thing
async def test_what_has_expired_is_swept_at_its_very_end(store: Store, thing: _Thing) -> None:
    await thing.keep(store, 1, NOW)
    # A clock's end is known to the millisecond, so that is the step for all.
    assert await store.sweep(NOW + thing.lifetime - _MILLISECOND, 100) == 0
    assert await thing.is_there(store, 1, NOW)
    assert await store.sweep(NOW + thing.lifetime, 100) >= 1
    assert not await thing.is_there(store, 1, NOW)
    assert await store.sweep(NOW + thing.lifetime, 100) == 0


@_every_thing
async def test_a_sweep_takes_so_many_at_the_most(store: Store, thing: _Thing) -> None:
    for number in range(7):
        await thing.keep(store, number, NOW)
    left = []
    while await store.sweep(NOW + thing.lifetime, 3):
        left.append(sum([await thing.is_there(store, number, NOW) for number in range(7)]))
    assert left == [4, 1, 0] or (thing.by_the_day and left == [0])


async def test_dead_clocks_among_living_ones_go_so_many_at_the_most(store: Store) -> None:
    """Ten days apart, which is the longest that stores may take two days for one."""
    for number in range(7):
        await _keep_clock(store, number, NOW)
    await _keep_clock(store, 7, NOW + 10 * DAY)
    left = []
    while await store.sweep(NOW + 10 * DAY, 3):
        left.append(sum([await _clock_is_there(store, number, NOW) for number in range(7)]))
    assert left == [4, 1, 0]
    assert await _clock_is_there(store, 7, NOW + 10 * DAY)


@_every_thing
async def test_only_the_dead_are_swept(store: Store, thing: _Thing) -> None:
    end = NOW - thing.lifetime
    gone = end - DAY if thing.by_the_day else end
    dead = [gone - age * MINUTE for age in (2, 1, 0)]
    living = [end + age * MINUTE for age in (1, 2, 30)]
    for number, born in enumerate((*dead, *living)):
        await thing.keep(store, number, born)
    await _swept_clean(store, NOW, 2)
    assert [await thing.is_there(store, number, born) for number, born in enumerate(dead)] == [False] * 3
    assert [await thing.is_there(store, number, born) for number, born in enumerate(living, 3)] == [True] * 3


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(NOW.replace(hour=0), id="as a day begins"),
        pytest.param(NOW, id="in the middle of a day"),
        pytest.param(NOW.replace(hour=0) - _MILLISECOND, id="as a day ends"),
    ],
)
@pytest.mark.parametrize("days", [9, 25], ids=["swept every day", "not swept for weeks"])
async def test_what_is_dead_for_a_day_is_gone_and_what_lives_is_there(store: Store, now: Instant, days: int) -> None:
    births = [now - age * 3 * HOUR for age in range(days * 8)]
    for number, born in enumerate(births):
        await _keep_clock(store, number, born)
    await _swept_clean(store, now, 5)
    there = {born: await _clock_is_there(store, number, born) for number, born in enumerate(births)}
    assert [born for born in births if born > now - CLOCK_LIFETIME and not there[born]] == []
    assert [born for born in births if born <= now - CLOCK_LIFETIME - DAY and there[born]] == []


async def test_each_kind_is_swept_as_far_as_it_may_be(store: Store) -> None:
    dead = NOW - TOKEN_LIFETIME
    for name, thing in _THINGS.items():
        for number in range(4):
            await thing.keep(store, 10 * [*_THINGS].index(name) + number, dead)
    assert await _swept_clean(store, NOW, 4) == 2, "at most eight of a kind"
    for name, thing in _THINGS.items():
        for number in range(4):
            assert not await thing.is_there(store, 10 * [*_THINGS].index(name) + number, dead)


async def test_what_lives_is_as_it_was(store: Store) -> None:
    await keep(store, clock(1, NOW - DAY), user(1), b"living")
    await advance(store, key(1, NOW - DAY), user(1), START + DAY)
    await keep(store, clock(2, NOW - WEEK), user(1), b"dead")
    await sent(store, code(3, NOW - 2 * HOUR))
    await sent(store, code(4, NOW - MINUTE))
    await store.count_try(ANA, allowing(), NOW)
    await _swept_clean(store, NOW, 100)
    assert await schedule_of(store, key(1, NOW - DAY), user(1)) == b"living"
    moved = await advance(store, key(1, NOW - DAY), user(1), START)
    assert moved is not None
    assert moved.frozen_time == START + DAY
    assert await store.count_try(ANA, allowing(), NOW) == Try(digest(4), NOW - MINUTE)
    assert await tries_left(store, ANA, 5, NOW) == 3


async def test_a_user_outlives_token_and_letters(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(1))
    later = NOW + 2 * TOKEN_LIFETIME
    await _swept_clean(store, later, 100)
    await sent(store, code(2, later))
    assert await store.redeem_code(ANA, digest(2), session(2, later)) == user(1)
