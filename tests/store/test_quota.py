"""Every store: concurrent creations fill the quotas of their owners exactly. `test_models.py` has the limits."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.store.values import clock, key, listed, make_record, user
from tickover.server.storage.store import Created, ExistingClock, Quota, QuotaExceeded, Store

_CONCURRENT = 50


async def _create(store: Store, number: int, quota: Quota, owner: int) -> ExistingClock | Created | QuotaExceeded:
    """Create a clock of 1000 bytes. Every third one has an idempotency key."""
    new = clock(number), user(owner), bytes(1000), quota
    return await store.create_clock(*new, None if number % 3 else make_record(number))


async def test_concurrent_creations_fill_the_quota_exactly(
    store: Store, open_another: Callable[[], Awaitable[Store]], database_url: str
) -> None:
    """Seven clocks of the same size fit, with and without an idempotency key. Rejected calls don't use their keys."""
    # Only one server uses an SQLite file at a time.
    stores = [store] if database_url.startswith("sqlite") else [store, await open_another()]
    for owner in range(10):
        quota = Quota(clocks=_CONCURRENT, bytes=7 * 1000 + 999) if owner % 2 else Quota(clocks=7)
        numbers = range(owner * _CONCURRENT, (owner + 1) * _CONCURRENT)
        outcomes = await asyncio.gather(*(_create(stores[n % len(stores)], n, quota, owner) for n in numbers))
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
