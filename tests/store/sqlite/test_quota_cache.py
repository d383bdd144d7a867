"""Cached quotas on SQLite: exact after failures and deletions, and rarely counted."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import apsw
import pytest

from tests.store.values import DAY, NOW, WEEK, add_clock, clock, create, key, user
from tickover.api.errors import Reason, Rejection
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant
from tickover.server.storage.sqlite.store import SqliteStore

_numbers = count(1)


async def _create(store: SqliteStore, owner: int, limit: int, now: Instant = NOW) -> tuple[bytes, bytes | None]:
    """Create a clock with a new key. Return the key and the result."""
    new = clock(next(_numbers), now)
    return new.key, await create(store, new, user(owner), b"", first_live_key(now), limit)


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
