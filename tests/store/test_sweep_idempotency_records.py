"""Every store: an idempotency record is swept when its clock has expired, and not before.

Through the interface, a missing record looks like a missing clock. So these tests read the rows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import timedelta

import apsw
import asyncpg
import pytest

from tests.store.values import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    add_clock,
    add_clock_once,
    clock,
    create_once,
    digest,
    key,
    make_record,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.limits import CLOCK_LIFETIME
from tickover.server.storage.store import ExistingClock, Store, StoredClock

OpenAnother = Callable[[], Awaitable[Store]]

_MILLISECOND = timedelta(milliseconds=1)
_EXPIRED = NOW - CLOCK_LIFETIME


class Records:
    """The rows of the table, read and written without the store."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def put(self, clock_keys: Sequence[bytes]) -> None:
        """Insert records without clocks, as after a sweep of a whole day of clocks."""
        rows = [(digest(number), b"parameters", each) for number, each in enumerate(clock_keys, 1_000)]
        if self._url.startswith("sqlite"):
            with closing(apsw.Connection(self._url.removeprefix("sqlite:///"))) as connection, connection:
                connection.executemany("insert into creations values (?, ?, ?)", rows)
            return
        witness = await asyncpg.connect(self._url)
        await witness.executemany("insert into creations values ($1, $2, encode($3, 'hex')::uuid)", rows)
        await witness.close()

    async def remaining(self) -> list[bytes]:
        """Return the clock keys of the records, oldest first."""
        query = "select clock_key from creations order by clock_key"
        if self._url.startswith("sqlite"):
            with closing(apsw.Connection(self._url.removeprefix("sqlite:///"))) as connection:
                return [bytes(each) for (each,) in connection.execute(query)]
        witness = await asyncpg.connect(self._url)
        found = await witness.fetch(query)
        await witness.close()
        return [each.bytes for (each,) in found]


@pytest.fixture
def records(database_url: str) -> Records:
    return Records(database_url)


@pytest.mark.parametrize(
    ("age", "goes"),
    [
        pytest.param(timedelta(0), False, id="new"),
        pytest.param(CLOCK_LIFETIME - _MILLISECOND, False, id="in the last millisecond of its clock"),
        pytest.param(CLOCK_LIFETIME, True, id="when its clock expires"),
        pytest.param(CLOCK_LIFETIME + HOUR, True, id="an hour after"),
        pytest.param(40 * DAY, True, id="weeks after"),
    ],
)
async def test_record_is_swept_when_its_clock_expires(
    store: Store, records: Records, age: timedelta, goes: bool
) -> None:
    assert await add_clock_once(store, make_record(1), clock(1, NOW - age), user(1)) is None
    while await store.sweep(NOW, 100):
        pass
    assert await records.remaining() == ([] if goes else [key(1, NOW - age)])


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_sweep_deletes_at_most_the_limit_and_returns_the_number(
    store: Store, records: Records, limit: int
) -> None:
    await records.put([key(number, _EXPIRED) for number in range(7)])
    swept, remaining = [], []
    while count := await store.sweep(NOW, limit):
        swept.append(count)
        remaining.append(len(await records.remaining()))
    assert sum(swept) == 7
    assert swept == [limit] * (7 // limit) + [7 % limit] * (7 % limit > 0)
    assert remaining == [max(7 - limit * turn, 0) for turn in range(1, len(swept) + 1)]
    assert await store.sweep(NOW, limit) == 0


async def test_expired_records_are_deleted_and_live_ones_stay(store: Store, records: Records) -> None:
    expired = [_EXPIRED - age * MINUTE for age in (2, 1, 0)]
    live = [_EXPIRED + age for age in (_MILLISECOND, MINUTE, DAY, CLOCK_LIFETIME)]
    for number, created_at in enumerate((*expired, *live)):
        assert await add_clock_once(store, make_record(number), clock(number, created_at), user(1)) is None
    while await store.sweep(NOW, 2):
        pass
    assert await records.remaining() == [key(number, created_at) for number, created_at in enumerate(live, 3)]
    for number, created_at in enumerate(live, 3):
        results = await create_once(store, make_record(number), clock(99), user(1), b"", first_live_key(NOW), 0)
        assert results == ExistingClock(b"parameters", StoredClock(clock(number, created_at), b"schedule"))


async def test_only_creations_with_a_key_have_records(store: Store, records: Records) -> None:
    for number in range(20):
        if number % 2:
            await add_clock(store, clock(number, _EXPIRED), user(1))
        else:
            assert await add_clock_once(store, make_record(number), clock(number, _EXPIRED), user(1)) is None
    assert len(await records.remaining()) == 10
    while await store.sweep(NOW, 3):
        pass
    assert await records.remaining() == []


async def test_concurrent_sweeps_delete_each_expired_record_once(
    store: Store, open_another: OpenAnother, records: Records
) -> None:
    others = [await open_another() for _ in range(3)]
    await records.put([key(number, _EXPIRED - number % 30 * HOUR) for number in range(2000)])
    assert await add_clock_once(store, make_record(1), clock(1), user(1)) is None
    swept = 0
    while turn := sum(await asyncio.gather(*(each.sweep(NOW, 37) for each in (store, *others) * 3))):
        swept += turn
    assert swept == 2000
    assert await records.remaining() == [key(1)]


async def test_key_reused_during_a_sweep_is_deleted_at_most_once(
    store: Store, open_another: OpenAnother, records: Records
) -> None:
    """A sweep deletes the record before or after the reuse, but not the record of the new clock."""
    other = await open_another()
    for turn in range(10):
        await records.put([key(number, _EXPIRED) for number in range(20)])
        numbers = range(1_000, 1_020)
        created = await asyncio.gather(
            *(
                add_clock_once(store, make_record(n), clock(turn * 100 + n), user(1), first_live_key(NOW))
                for n in numbers[:10]
            ),
            other.sweep(NOW, 7),
            *(
                add_clock_once(store, make_record(n), clock(turn * 100 + n), user(1), first_live_key(NOW))
                for n in numbers[10:]
            ),
            other.sweep(NOW, 7),
        )
        assert created.count(None) == 20
        while await other.sweep(NOW, 7):
            pass
        assert await records.remaining() == [key(turn * 100 + n) for n in numbers]
        for n in numbers:
            assert await store.delete_clock(key(turn * 100 + n), user(1))
