"""Every store: quotas on the number and the bytes of an owner's live clocks."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.store.values import (
    DAY,
    MINUTE,
    NOW,
    WEEK,
    add_clock,
    clock,
    create_once,
    key,
    listed,
    make_record,
    user,
)
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.storage.store import Created, ExistingClock, Quota, QuotaExceeded, Store

OpenAnother = Callable[[], Awaitable[Store]]
Outcome = ExistingClock | Created | QuotaExceeded

_CONCURRENT = 50


async def _create(
    store: Store, number: int, size: int, quota: Quota, owner: int = 1, *, now: Instant = NOW, with_key: bool = False
) -> Outcome:
    new = clock(number, now), user(owner), bytes(size), first_live_key(now), quota
    return await (store.create_clock_once(make_record(number), *new) if with_key else store.create_clock(*new))


@pytest.mark.parametrize("with_key", [False, True], ids=["without idempotency key", "with an idempotency key"])
@pytest.mark.parametrize(
    ("stored", "size", "limit", "expected"),
    [
        pytest.param([], 100, 100, Created(), id="the whole quota in one clock"),
        pytest.param([], 101, 100, QuotaExceeded("bytes", key(99)), id="one clock above the quota"),
        pytest.param([40, 30], 30, 100, Created(), id="up to the limit"),
        pytest.param([40, 30], 31, 100, QuotaExceeded("bytes", key(0)), id="one byte above the limit"),
        pytest.param([40, 30], 0, 70, Created(), id="at the limit"),
        pytest.param([40, 30], 1, 50, QuotaExceeded("bytes", key(0)), id="above a lowered limit"),
        pytest.param([10**6, 10**6], 10**6, 0, Created(), id="no limit"),
    ],
)
async def test_bytes_of_an_owner_are_limited(
    store: Store, stored: list[int], size: int, limit: int, expected: Outcome, with_key: bool
) -> None:
    for number, length in enumerate(stored):
        await add_clock(store, clock(number), user(1), bytes(length))
    assert await _create(store, 99, size, Quota(bytes=limit), with_key=with_key) == expected
    found = await store.find_clock(key(99), user(1))
    assert (found.schedule if found else None) == (bytes(size) if expected == Created() else None)


@pytest.mark.parametrize("with_key", [False, True], ids=["without idempotency key", "with an idempotency key"])
async def test_exceeded_limit_is_named(store: Store, with_key: bool) -> None:
    await add_clock(store, clock(1), user(1), bytes(50))
    for quota, limit in [
        (Quota(clocks=1), "clocks"),
        (Quota(bytes=60), "bytes"),
        (Quota(clocks=1, bytes=60), "clocks"),
        (Quota(clocks=1, bytes=1000), "clocks"),
        (Quota(clocks=9, bytes=60), "bytes"),
    ]:
        assert await _create(store, 2, 50, quota, with_key=with_key) == QuotaExceeded(limit, key(1))  # type: ignore[arg-type]
    assert await _create(store, 2, 50, Quota(clocks=2, bytes=100), with_key=with_key) == Created()


async def test_smaller_clock_fits_where_a_larger_one_did_not(store: Store) -> None:
    quota = Quota(clocks=100, bytes=100)
    sizes = [60, 60, 30, 20, 10, 1]
    outcomes = [await _create(store, number, size, quota) for number, size in enumerate(sizes)]
    assert [outcome == Created() for outcome in outcomes] == [True, False, True, False, True, False]


async def test_concurrent_smaller_clock_fits_where_a_larger_one_did_not(store: Store) -> None:
    """The clocks of one batch are checked one by one."""
    quota = Quota(clocks=100, bytes=100)
    for owner in range(5):
        sizes = [60, 60, 30, 20, 10, 1]
        creating = [_create(store, owner * 10 + n, size, quota, owner) for n, size in enumerate(sizes)]
        outcomes = await asyncio.gather(*creating)
        assert [outcome == Created() for outcome in outcomes] == [True, False, True, False, True, False]
        assert outcomes[1] == QuotaExceeded("bytes", key(owner * 10))


async def test_deletion_frees_bytes(store: Store) -> None:
    quota = Quota(bytes=100)
    for number, size in enumerate((50, 30, 20)):
        assert await _create(store, number, size, quota) == Created()
    assert await _create(store, 9, 1, quota) == QuotaExceeded("bytes", key(0))
    assert await store.delete_clock(key(1), user(1))
    assert await _create(store, 9, 31, quota) == QuotaExceeded("bytes", key(0))
    assert await _create(store, 9, 30, quota) == Created()
    assert await _create(store, 10, 1, quota) == QuotaExceeded("bytes", key(0))
    assert await store.delete_clock(key(0), user(1))
    assert await _create(store, 10, 51, quota) == QuotaExceeded("bytes", key(2))


async def test_expired_clocks_use_no_bytes(store: Store) -> None:
    quota = Quota(bytes=100)
    for number, created_at in enumerate((NOW - WEEK - DAY, NOW - WEEK, NOW - WEEK + MINUTE)):
        await add_clock(store, clock(number, created_at), user(1), bytes(40))
    assert await _create(store, 9, 61, quota) == QuotaExceeded("bytes", key(2, NOW - WEEK + MINUTE))
    assert await _create(store, 9, 60, quota) == Created()
    assert await _create(store, 10, 40, quota) == QuotaExceeded("bytes", key(2, NOW - WEEK + MINUTE))
    assert await _create(store, 10, 40, quota, now=NOW + MINUTE) == Created()


async def test_clocks_of_other_owners_use_no_bytes(store: Store) -> None:
    for owner in (1, 2, 3):
        assert await _create(store, owner, 100, Quota(bytes=100), owner) == Created()
        assert await _create(store, 9, 1, Quota(bytes=100), owner) == QuotaExceeded("bytes", key(owner))


async def test_repeated_creation_uses_no_more_bytes(store: Store) -> None:
    quota = Quota(bytes=100)
    for _ in range(3):
        await _create(store, 1, 60, quota, with_key=True)
    results = await store.create_clock_once(make_record(1), clock(2), user(1), bytes(60), bytes(16), quota)
    assert isinstance(results, ExistingClock)
    assert await _create(store, 3, 40, quota) == Created()


async def test_advance_does_not_change_usage(store: Store) -> None:
    assert await _create(store, 1, 60, Quota(bytes=100)) == Created()
    await store.advance_clock(key(1), user(1), clock(1).max_time)
    assert await _create(store, 2, 41, Quota(bytes=100)) == QuotaExceeded("bytes", key(1))
    assert await _create(store, 2, 40, Quota(bytes=100)) == Created()


async def test_clock_created_without_a_limit_counts_later(store: Store) -> None:
    assert await _create(store, 1, 60, Quota(bytes=100)) == Created()
    assert await _create(store, 2, 60, Quota()) == Created()
    assert await create_once(store, make_record(3), clock(3), user(1), bytes(60), bytes(16), 0) is None
    assert await _create(store, 4, 1, Quota(bytes=180)) == QuotaExceeded("bytes", key(1))
    assert await _create(store, 4, 1, Quota(bytes=181)) == Created()


# Concurrency


async def test_concurrent_creations_fill_the_quota_exactly(
    store: Store, open_another: OpenAnother, database_url: str
) -> None:
    """Seven clocks of the same size fit, with and without an idempotency key."""
    # Only one server uses an SQLite file at a time.
    stores = [store] if database_url.startswith("sqlite") else [store, await open_another()]
    quota = Quota(clocks=_CONCURRENT, bytes=7 * 1000 + 999)
    for owner in range(10):
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


async def test_concurrent_creations_and_deletions_respect_the_byte_limit(store: Store) -> None:
    quota = Quota(bytes=4 * 1000)
    for owner in range(10):
        first = owner * 100
        for number in range(first, first + 4):
            assert await _create(store, number, 1000, quota, owner) == Created()
        deleting = [store.delete_clock(key(number), user(owner)) for number in range(first, first + 4)]
        creating = [_create(store, first + 50 + n, 1000, quota, owner) for n in range(20)]
        outcomes = await asyncio.gather(*(call for pair in zip(creating, deleting, strict=False) for call in pair))
        later = await asyncio.gather(*creating[4:])
        created = [*outcomes[0::2], *later].count(Created())
        assert outcomes[1::2] == [True] * 4
        assert len(await listed(store, user(owner))) == created <= 4
        # Now exactly the limit fits.
        left = [await _create(store, first + 80 + n, 1000, quota, owner) == Created() for n in range(5 - created)]
        assert left == [True] * (4 - created) + [False]
