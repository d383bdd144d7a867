"""The contract of every store: what makes a creation known is swept when its clock has expired, and not before.

Through the port it cannot be told from a clock that is gone, so these tests look at the rows themselves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import timedelta

import apsw
import asyncpg
import pytest

from tests.contract.values import DAY, HOUR, MINUTE, NOW, clock, create_once, digest, keep, keep_once, key, once, user
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.server.storage.store import ExistingClock, Store, StoredClock

OpenAnother = Callable[[], Awaitable[Store]]

_MILLISECOND = timedelta(milliseconds=1)
_DEAD = NOW - CLOCK_LIFETIME


class Creations:
    """The rows of their table, seen and written behind the store's back."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def put(self, clock_keys: Sequence[bytes]) -> None:
        """Rows whose clocks are gone already, as they are where a whole day's clocks go at once."""
        rows = [(digest(number), b"parameters", each) for number, each in enumerate(clock_keys, 1_000)]
        if self._url.startswith("sqlite"):
            with closing(apsw.Connection(self._url.removeprefix("sqlite:///"))) as connection, connection:
                connection.executemany("insert into creations values (?, ?, ?)", rows)
            return
        witness = await asyncpg.connect(self._url)
        await witness.executemany("insert into creations values ($1, $2, encode($3, 'hex')::uuid)", rows)
        await witness.close()

    async def left(self) -> list[bytes]:
        """The keys of the clocks that they are about, oldest first."""
        asked = "select clock_key from creations order by clock_key"
        if self._url.startswith("sqlite"):
            with closing(apsw.Connection(self._url.removeprefix("sqlite:///"))) as connection:
                return [bytes(each) for (each,) in connection.execute(asked)]
        witness = await asyncpg.connect(self._url)
        found = await witness.fetch(asked)
        await witness.close()
        return [each.bytes for (each,) in found]


@pytest.fixture
def creations(database_url: str) -> Creations:
    return Creations(database_url)


@pytest.mark.parametrize(
    ("age", "goes"),
    [
        pytest.param(timedelta(0), False, id="just made"),
        pytest.param(CLOCK_LIFETIME - _MILLISECOND, False, id="in the last millisecond of its clock"),
        pytest.param(CLOCK_LIFETIME, True, id="at the end of its clock"),
        pytest.param(CLOCK_LIFETIME + HOUR, True, id="an hour after"),
        pytest.param(40 * DAY, True, id="weeks after"),
    ],
)
async def test_it_goes_with_the_end_of_its_clock(
    store: Store, creations: Creations, age: timedelta, goes: bool
) -> None:
    assert await keep_once(store, once(1), clock(1, NOW - age), user(1)) is None
    while await store.sweep(NOW, 100):
        pass
    assert await creations.left() == ([] if goes else [key(1, NOW - age)])


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_a_sweep_takes_so_many_at_the_most_and_tells_how_many(
    store: Store, creations: Creations, limit: int
) -> None:
    await creations.put([key(number, _DEAD) for number in range(7)])
    swept, left = [], []
    while count := await store.sweep(NOW, limit):
        swept.append(count)
        left.append(len(await creations.left()))
    assert sum(swept) == 7
    assert swept == [limit] * (7 // limit) + [7 % limit] * (7 % limit > 0)
    assert left == [max(7 - limit * turn, 0) for turn in range(1, len(swept) + 1)]
    assert await store.sweep(NOW, limit) == 0


async def test_the_dead_go_and_the_living_stay(store: Store, creations: Creations) -> None:
    dead = [_DEAD - age * MINUTE for age in (2, 1, 0)]
    living = [_DEAD + age for age in (_MILLISECOND, MINUTE, DAY, CLOCK_LIFETIME)]
    for number, born in enumerate((*dead, *living)):
        assert await keep_once(store, once(number), clock(number, born), user(1)) is None
    while await store.sweep(NOW, 2):
        pass
    assert await creations.left() == [key(number, born) for number, born in enumerate(living, 3)]
    for number, born in enumerate(living, 3):
        given = await create_once(store, once(number), clock(99), user(1), b"", first_live_key(NOW), 0)
        assert given == ExistingClock(b"parameters", StoredClock(clock(number, born), b"schedule"))


async def test_of_many_clocks_only_those_that_were_made_once_are_known(store: Store, creations: Creations) -> None:
    for number in range(20):
        if number % 2:
            await keep(store, clock(number, _DEAD), user(1))
        else:
            assert await keep_once(store, once(number), clock(number, _DEAD), user(1)) is None
    assert len(await creations.left()) == 10
    while await store.sweep(NOW, 3):
        pass
    assert await creations.left() == []


async def test_sweeps_at_once_on_several_servers_take_each_dead_one_once(
    store: Store, open_another: OpenAnother, creations: Creations
) -> None:
    others = [await open_another() for _ in range(3)]
    await creations.put([key(number, _DEAD - number % 30 * HOUR) for number in range(2000)])
    assert await keep_once(store, once(1), clock(1), user(1)) is None
    swept = 0
    while turn := sum(await asyncio.gather(*(each.sweep(NOW, 37) for each in (store, *others) * 3))):
        swept += turn
    assert swept == 2000
    assert await creations.left() == [key(1)]


async def test_a_key_that_is_used_again_while_its_row_is_swept_is_taken_once(
    store: Store, open_another: OpenAnother, creations: Creations
) -> None:
    """By a sweep before or after it, but never by both: the new clock is known."""
    other = await open_another()
    for turn in range(10):
        await creations.put([key(number, _DEAD) for number in range(20)])
        numbers = range(1_000, 1_020)
        created = await asyncio.gather(
            *(keep_once(store, once(n), clock(turn * 100 + n), user(1), first_live_key(NOW)) for n in numbers[:10]),
            other.sweep(NOW, 7),
            *(keep_once(store, once(n), clock(turn * 100 + n), user(1), first_live_key(NOW)) for n in numbers[10:]),
            other.sweep(NOW, 7),
        )
        assert created.count(None) == 20
        while await other.sweep(NOW, 7):
            pass
        assert await creations.left() == [key(turn * 100 + n) for n in numbers]
        for n in numbers:
            assert await store.delete_clock(key(turn * 100 + n), user(1))
