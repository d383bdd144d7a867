"""Cached quotas on SQLite: exact after failures and deletions, and rarely counted."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.store.values import DAY, NOW, WEEK, add_clock, clock, create, create_once, key, make_record, user
from tickover.api.errors import Reason, Rejection
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import ExistingClock

_numbers = count(1)


async def _create(store: SqliteStore, owner: int, limit: int, now: Instant = NOW) -> tuple[bytes, bytes | None]:
    """Create a clock with a new key. Return the key and the result."""
    new = clock(next(_numbers), now)
    return new.key, await create(store, new, user(owner), b"", first_live_key(now), limit)


async def _create_once(
    store: SqliteStore, owner: int, limit: int, now: Instant
) -> tuple[bytes, ExistingClock | bytes | None]:
    """The same, with a new idempotency key."""
    number = next(_numbers)
    new = clock(number, now)
    return new.key, await create_once(store, make_record(number), new, user(owner), b"", first_live_key(now), limit)


@contextmanager
def _record_counts(store: SqliteStore) -> Iterator[list[str]]:
    """Record the statements that count clocks."""
    counted: list[str] = []

    def just_before_a_statement(_: object, statement: str, __: object) -> bool:
        if "count(*)" in statement:
            counted.append(statement)
        return True

    store._writing.set_exec_trace(just_before_a_statement)
    yield counted
    store._writing.set_exec_trace(None)


def _fail(db: apsw.Connection) -> None:
    raise RuntimeError("a fault in another job")


@pytest.mark.parametrize("failing", [_fail, lambda db: db.execute("insert into users values (1, null, null)")])
async def test_failing_job_in_the_batch_uses_no_quota(
    store: SqliteStore, failing: Callable[[apsw.Connection], Any]
) -> None:
    """Clocks counted before the rollback are counted again."""
    for _ in range(2):
        creating, failed = asyncio.create_task(_create(store, 1, 2)), store._writer.submit(failing)
        await asyncio.wait([creating, failed])
        assert (await creating)[1] is None
        assert failed.exception() is not None
    assert (await _create(store, 1, 2))[1] is not None


async def test_failed_commit_uses_no_quota(store: SqliteStore) -> None:
    """Also for owners rejected in the same batch as the clock that reached the limit."""

    def fail_commit() -> bool:
        raise apsw.IOError("the disk is broken")

    store._writing.set_commit_hook(fail_commit)
    outcomes = await asyncio.gather(*(_create(store, 1, 1) for _ in range(3)), return_exceptions=True)
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)]
    assert reasons == [Reason.UNAVAILABLE] * 3
    store._writing.set_commit_hook(None)
    assert (await _create(store, 1, 1))[1] is None
    assert (await _create(store, 1, 1))[1] is not None


# Freed quota


@pytest.fixture
async def full(path: Path) -> AsyncIterator[SqliteStore]:
    """User 1 has two clocks, the limit, and the count is cached."""
    store = await SqliteStore.open(path)
    for number in (1_000_001, 1_000_002):
        await add_clock(store, clock(number), user(1))
    assert (await _create(store, 1, 2))[1] == key(1_000_001)
    with _record_counts(store) as counted:
        assert (await _create(store, 1, 2))[1] == key(1_000_001)
    assert counted == []
    yield store
    await store.close()


@pytest.mark.parametrize("before", range(3))
@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize("once_only", [False, True], ids=["without key", "with key"])
async def test_rejection_by_the_cache_during_a_deletion_does_not_last(
    full: SqliteStore, before: int, after: int, once_only: bool
) -> None:
    """The cached bounds reject the call before the commit of the deletion, and the result arrives after it."""

    async def create(number: int) -> bool:
        return (await (_create_once(full, 1, 2, NOW) if once_only else _create(full, 1, 2)))[1] is None

    results = await asyncio.gather(
        *map(create, range(before)), full.delete_clock(key(1_000_001), user(1)), *map(create, range(after))
    )
    assert results[before]
    created = results[:before].count(True) + results[before + 1 :].count(True)
    assert [await create(number) for number in range(2)] == [created == 0, False]


@pytest.mark.parametrize("failing", [True, False], ids=["with a failing job", "alone"])
async def test_rejection_by_a_count_during_a_deletion_does_not_last(store: SqliteStore, failing: bool) -> None:
    """The clocks are counted, and the count is cached before the deletion is recorded."""
    for number in (1_000_001, 1_000_002):
        await add_clock(store, clock(number), user(1))
    # The writer receives all calls before it runs the first one.
    received = threading.Event()
    waiting = store._writer.submit(lambda db: received.wait(60), is_long=True)
    faults = [store._writer.submit(_fail)] if failing else []

    async def release() -> None:
        received.set()

    rejected, deleted, created, *_ = await asyncio.gather(
        _create(store, 1, 2),
        store.delete_clock(key(1_000_002), user(1)),
        _create(store, 1, 2),
        release(),
        *faults,
        return_exceptions=True,
    )
    assert await waiting
    assert isinstance(rejected, tuple)
    assert isinstance(created, tuple)
    assert (rejected[1], deleted, created[1]) == (key(1_000_001), True, None)
    assert (await _create(store, 1, 2))[1] == created[0], "of the lower number"
    await store.delete_clock(created[0], user(1))
    assert (await _create(store, 1, 2))[1] is None


# Rare counts


async def test_owner_at_the_limit_is_rejected_without_a_count_until_the_oldest_clock_expires(
    store: SqliteStore,
) -> None:
    await add_clock(store, clock(1_000_001, NOW), user(1))
    await add_clock(store, clock(1_000_002, NOW + DAY), user(1))
    end = NOW + WEEK - timedelta(milliseconds=1)
    with _record_counts(store) as counted:
        for now in (NOW + DAY, NOW + 2 * DAY, end):
            assert (await _create(store, 1, 2, now))[1] == key(1_000_001, NOW)
        assert len(counted) == 1
        assert (await _create(store, 1, 2, NOW + WEEK))[1] is None
        assert len(counted) == 2
        assert (await _create(store, 1, 2, NOW + WEEK))[1] == key(1_000_002, NOW + DAY)
    assert len(counted) == 3
