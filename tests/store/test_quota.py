"""Every store: quotas on the number and the bytes of an owner's live clocks."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.store.values import NOW, add_clock, clock, key, listed, make_record, user
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.storage.store import Created, ExistingClock, Quota, QuotaExceeded, Store

OpenAnother = Callable[[], Awaitable[Store]]
Outcome = ExistingClock | Created | QuotaExceeded

_CONCURRENT = 50
_with_and_without_key = pytest.mark.parametrize("with_key", [False, True], ids=["without key", "with key"])


async def _create(
    store: Store, number: int, size: int, quota: Quota, owner: int = 1, *, now: Instant = NOW, with_key: bool = False
) -> Outcome:
    new = clock(number, now), user(owner), bytes(size), first_live_key(now), quota
    return await (store.create_clock_once(make_record(number), *new) if with_key else store.create_clock(*new))


# Limits


@_with_and_without_key
@pytest.mark.parametrize(
    ("stored", "size", "quota", "expected"),
    [
        pytest.param([], 101, Quota(bytes=100), QuotaExceeded("bytes", key(99)), id="one clock of too many bytes"),
        pytest.param([40, 30], 30, Quota(bytes=100), Created(), id="up to the bytes"),
        pytest.param([40, 30], 31, Quota(bytes=100), QuotaExceeded("bytes", key(0)), id="one byte above"),
        pytest.param([40, 30], 1, Quota(bytes=50), QuotaExceeded("bytes", key(0)), id="above lowered bytes"),
        pytest.param([1], 1, Quota(clocks=1), QuotaExceeded("clocks", key(0)), id="one of one clock"),
        pytest.param([1] * 4, 1, Quota(clocks=3), QuotaExceeded("clocks", key(0)), id="above lowered clocks"),
        pytest.param([50], 50, Quota(1, 60), QuotaExceeded("clocks", key(0)), id="clocks before bytes"),
        pytest.param([50], 50, Quota(2, 60), QuotaExceeded("bytes", key(0)), id="bytes within clocks"),
        pytest.param([10**5] * 20, 10**5, Quota(), Created(), id="no limit"),
    ],
)
async def test_clocks_of_an_owner_are_limited(
    store: Store, stored: list[int], size: int, quota: Quota, expected: Outcome, with_key: bool
) -> None:
    for number, length in enumerate(stored):
        await add_clock(store, clock(number), user(1), bytes(length))
        await add_clock(store, clock(1000 + number), user(2), bytes(length))
    assert await _create(store, 99, size, quota, with_key=with_key) == expected
    found = await store.find_clock(key(99), user(1))
    assert (found.schedule if found else None) == (bytes(size) if expected == Created() else None)


# Concurrency


async def test_concurrent_creations_fill_the_quota_exactly(
    store: Store, open_another: OpenAnother, database_url: str
) -> None:
    """Seven clocks of the same size fit, with and without an idempotency key. Rejected calls don't use their keys."""
    # Only one server uses an SQLite file at a time.
    stores = [store] if database_url.startswith("sqlite") else [store, await open_another()]
    for owner in range(10):
        quota = Quota(clocks=_CONCURRENT, bytes=7 * 1000 + 999) if owner % 2 else Quota(clocks=7)
        numbers = range(owner * _CONCURRENT, (owner + 1) * _CONCURRENT)
        outcomes = await asyncio.gather(
            *(_create(stores[n % len(stores)], n, 1000, quota, owner, with_key=n % 3 == 0) for n in numbers)
        )
        created = {n for n, outcome in zip(numbers, outcomes, strict=True) if outcome == Created()}
        assert len(created) == 7
        assert set(await listed(store, user(owner))) == {key(n) for n in created}
        rejected = [outcome for outcome in outcomes if outcome != Created()]
        assert {type(outcome) for outcome in rejected} == {QuotaExceeded}
        assert {outcome.oldest for outcome in rejected if isinstance(outcome, QuotaExceeded)} <= {
            key(n) for n in created
        }
        bound = [
            n
            for n in numbers
            if await store.find_creation(make_record(n).key_digest, user(owner), bytes(16)) is not None
        ]
        assert bound == [n for n in numbers if n in created and n % 3 == 0]
