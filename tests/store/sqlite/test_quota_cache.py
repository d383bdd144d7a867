"""Cached quotas on SQLite are exact after failures."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import apsw
import pytest

from tests.store.values import NOW, clock, create, user
from tickover.api.errors import Reason, Rejection
from tickover.api.ids import first_live_key
from tickover.server.storage.sqlite.store import SqliteStore

_numbers = count(1)


async def _create(store: SqliteStore, owner: int, limit: int) -> bytes | None:
    """Create a clock with a new key. Return the oldest clock if the limit is exceeded."""
    return await create(store, clock(next(_numbers)), user(owner), b"", first_live_key(NOW), limit)


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
        assert await creating is None
        assert failed.exception() is not None
    assert await _create(store, 1, 2) is not None


async def test_failed_commit_uses_no_quota(store: SqliteStore) -> None:
    """Also for owners rejected in the same batch as the clock that reached the limit."""

    def fail_commit() -> bool:
        raise apsw.IOError("the disk is broken")

    store._writing.set_commit_hook(fail_commit)
    outcomes = await asyncio.gather(*(_create(store, 1, 1) for _ in range(3)), return_exceptions=True)
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)]
    assert reasons == [Reason.UNAVAILABLE] * 3
    store._writing.set_commit_hook(None)
    assert await _create(store, 1, 1) is None
    assert await _create(store, 1, 1) is not None
