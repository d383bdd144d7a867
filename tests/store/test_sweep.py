"""Every store: a sweep deletes expired data in small steps, and nothing else.

The tests see what a sweep deleted through the store, because `now` is an argument: a token that expired today is valid
yesterday, unless it was deleted.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

import pytest

from tests.store.values import (
    ANA,
    MICROSECOND,
    MINUTE,
    NOW,
    START,
    add_clock,
    add_clock_once,
    advance,
    clock,
    code,
    delaying_email,
    digest,
    key,
    make_record,
    schedule_of,
    sent,
    session,
    user,
    user_of_token,
)
from tests.support.stores import open_checked_store
from tickover.api.limits import CLOCK_LIFETIME, LINK_LIFETIME, TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.storage.store import ExistingClock, Store
from tickover.server.storage.urls import is_postgres

_MILLISECOND = timedelta(milliseconds=1)


def _address(number: int) -> str:
    return f"user-{number}@example.test"


async def _create_clock(store: Store, number: int, created_at: Instant) -> None:
    await add_clock(store, clock(number, created_at), user(1))


async def _clock_exists(store: Store, number: int, created_at: Instant) -> bool:
    schedule = await schedule_of(store, key(number, created_at), user(1))
    stands = await advance(store, key(number, created_at), user(1), START)
    assert (schedule is None) == (stands is None), "a clock and its schedule are deleted together"
    return schedule is not None


async def _create_clock_once(store: Store, number: int, created_at: Instant) -> None:
    """Create a clock with an idempotency key. `test_sweep_idempotency_records` tests the record alone."""
    assert await add_clock_once(store, make_record(number), clock(number, created_at), user(1)) is None


async def _creation_exists(store: Store, number: int, created_at: Instant) -> bool:
    """Return whether the clock is found by its key right after its creation."""
    probe = clock(number + 1_000_000, created_at)
    if isinstance(await add_clock_once(store, make_record(number), probe, user(1)), ExistingClock):
        return True
    assert await store.delete_clock(probe.key, user(1))
    return False


async def _create_token(store: Store, number: int, created_at: Instant) -> None:
    """Leaves no email behind."""
    message = await sent(store, code(number, created_at, _address(number)))
    await store.redeem_code(message.address, message.digest, session(number, created_at))
    await store.delete_email(message)


async def _token_exists(store: Store, number: int, created_at: Instant) -> bool:
    return await user_of_token(store, digest(number), created_at) is not None


async def _send_code(store: Store, number: int, created_at: Instant) -> None:
    await sent(store, code(number, created_at, _address(number)))


async def _email_exists(store: Store, number: int, created_at: Instant) -> bool:
    """Return whether the email delays the next one, right after it was sent."""
    probe = code(number + 1_000_000, created_at + MICROSECOND, _address(number))
    if await delaying_email(store, probe, probe.sent_at - created_at + MICROSECOND) is not None:
        return True
    await store.delete_email(probe)
    return False


class _Kind(NamedTuple):
    lifetime: timedelta
    create: Callable[[Store, int, Instant], Awaitable[None]]
    exists: Callable[[Store, int, Instant], Awaitable[bool]]


# Emails stay for an hour, because the limits read them.
_KINDS = {
    "clock": _Kind(CLOCK_LIFETIME, _create_clock, _clock_exists),
    "creation": _Kind(CLOCK_LIFETIME, _create_clock_once, _creation_exists),
    "token": _Kind(TOKEN_LIFETIME, _create_token, _token_exists),
    "code": _Kind(LINK_LIFETIME, _send_code, _email_exists),
}

_every_kind = pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in _KINDS.items()])


async def _sweep_all(store: Store, now: Instant, limit: int) -> int:
    """Sweep until nothing is left. Return the number of sweeps that deleted something."""
    for number in range(1000):
        if await store.sweep(now, limit) == 0:
            return number
    raise AssertionError("sweeping doesn't come to an end")


@_every_kind
async def test_expired_data_is_swept_at_its_expiry(store: Store, kind: _Kind) -> None:
    await kind.create(store, 1, NOW)
    # Keys have milliseconds, so that is the step.
    assert await store.sweep(NOW + kind.lifetime - _MILLISECOND, 100) == 0
    assert await kind.exists(store, 1, NOW)
    assert await store.sweep(NOW + kind.lifetime, 100) >= 1
    assert not await kind.exists(store, 1, NOW)
    assert await store.sweep(NOW + kind.lifetime, 100) == 0


@_every_kind
async def test_sweep_deletes_at_most_the_limit(store: Store, kind: _Kind) -> None:
    for number in range(7):
        await kind.create(store, number, NOW)
    left = []
    while await store.sweep(NOW + kind.lifetime, 3):
        left.append(sum([await kind.exists(store, number, NOW) for number in range(7)]))
    assert left == [4, 1, 0]


@pytest.fixture
async def store_without_indexes(database_url: str) -> AsyncIterator[Store]:
    """A store whose PostgreSQL reads whole tables, so that a statement without an order returns rows as inserted."""
    scans = "enable_indexscan=off&enable_indexonlyscan=off&enable_bitmapscan=off"
    opened = await open_checked_store(f"{database_url}?{scans}" if is_postgres(database_url) else database_url)
    yield opened
    await opened.close()


@_every_kind
async def test_oldest_data_is_swept_first(store_without_indexes: Store, kind: _Kind) -> None:
    """So that nothing waits long if more expires than is swept."""
    store = store_without_indexes
    births = [NOW + age * MINUTE for age in (4, 1, 3, 0, 2)]
    for number, created_at in enumerate(births):
        await kind.create(store, number, created_at)
    now = NOW + 5 * MINUTE + kind.lifetime
    left = []
    while await store.sweep(now, 1):
        left.append({at for number, at in enumerate(births) if await kind.exists(store, number, at)})
    in_order = sorted(births)
    assert left == [set(in_order[number:]) for number in range(1, 6)]


async def test_user_outlives_tokens_and_emails(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(1))
    later = NOW + 2 * TOKEN_LIFETIME
    await _sweep_all(store, later, 100)
    await sent(store, code(2, later))
    assert await store.redeem_code(ANA, digest(2), session(2, later)) == user(1)
