"""The writer: waiting jobs are committed together, and results come only after the commit."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from tests.store.sqlite.writer_jobs import (
    CONTINUE,
    JobError,
    busy_writer,
    insert,
    insert_and_fail,
    is_unavailable,
    names,
    outcomes_of,
    watch_statements,
)
from tickover.api.errors import Reason, Rejection
from tickover.server.storage.sqlite.writer import Writer

# The writer counts iterations of the event loop, so other tests must not use the same one.
pytestmark = pytest.mark.asyncio(loop_scope="function")

# Batches


async def test_waiting_jobs_are_committed_together(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection
) -> None:
    commits: list[str] = []

    def count_commit() -> bool:
        commits.append("a commit")
        return CONTINUE

    connection.set_commit_hook(count_commit)
    async with busy_writer(writer):
        futures = [writer.submit(insert(f"thing {number}")) for number in range(100)]
    assert await outcomes_of(futures) == [f"thing {number}" for number in range(100)]
    assert len(commits) == 2, "one for the job that kept the writer busy, and one for all waiting jobs"
    assert len(names(witness)) == 100


async def test_result_comes_only_after_the_commit(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection
) -> None:
    seen: list[tuple[bool, int]] = []

    futures: list[asyncio.Future[Any]] = []

    def count_commit() -> bool:
        seen.append((any(future.done() for future in futures), len(names(witness))))
        return CONTINUE

    connection.set_commit_hook(count_commit)
    async with busy_writer(writer):
        futures += [writer.submit(insert(f"thing {number}")) for number in range(3)]
    for future in futures:
        future.add_done_callback(lambda _: seen.append((True, len(names(witness)))))
    await outcomes_of(futures)
    empty_job, commit, *results = seen
    assert empty_job == (False, 0)
    assert commit == (False, 0)
    assert results == [(True, 3)] * 3


# Failing jobs


@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param({2}, id="in the middle"),
        pytest.param({0}, id="first"),
        pytest.param({0, 1, 2, 3, 4}, id="all"),
    ],
)
async def test_failing_job_does_not_affect_others(writer: Writer, witness: apsw.Connection, faulty: set[int]) -> None:
    async with busy_writer(writer):
        futures = [
            writer.submit((insert_and_fail if number in faulty else insert)(f"thing {number}")) for number in range(5)
        ]
    good = [f"thing {number}" for number in range(5) if number not in faulty]
    outcomes = await outcomes_of(futures)
    assert [isinstance(outcome, JobError) for outcome in outcomes] == [number in faulty for number in range(5)]
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == good
    # In order, each once, and nothing of the failed jobs.
    assert names(witness) == good


async def test_failure_at_the_commit_fails_only_its_job(connection: apsw.Connection, witness: apsw.Connection) -> None:
    connection.execute(
        "create table parts (thing text not null references things (name) deferrable initially deferred)"
    )
    writer = Writer(connection, 0.02)

    def orphan(db: apsw.Connection) -> None:
        db.execute("insert into parts values ('of nothing')")

    async with busy_writer(writer):
        futures = [writer.submit(job) for job in (insert("a"), orphan, insert("b"))]
    first, second, third = await outcomes_of(futures)
    await writer.close()
    assert (first, third) == ("a", "b")
    assert isinstance(second, apsw.ConstraintError)
    assert names(witness) == ["a", "b"]
    assert witness.execute("select count(*) from parts").fetchall() == [(0,)]


# Unavailable databases


async def test_full_disk_is_unavailable_and_leaves_no_partial_data(
    connection: apsw.Connection, witness: apsw.Connection
) -> None:
    connection.pragma("max_page_count", connection.pragma("page_count") + 10)
    writer = Writer(connection, 0.02)

    def fill(db: apsw.Connection) -> None:
        db.execute("insert into things (name) values ('before the flood')")
        db.execute("insert into things (name) values (hex(zeroblob(1000000)))")

    async with busy_writer(writer):
        futures = [writer.submit(job) for job in (insert("a"), fill, insert("b"))]
    outcomes = await outcomes_of(futures)
    assert is_unavailable(outcomes[1])
    assert all(isinstance(outcome, str) or is_unavailable(outcome) for outcome in outcomes), outcomes
    assert names(witness) == [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert await writer.submit(insert("small enough")) == "small enough"
    await writer.close()


@contextmanager
def _writes_fail() -> Iterator[None]:
    """Make every write to a file fail, as on a broken disk. Python ignores the signal of this limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("commit_seconds", [0.0, 1.0], ids=["commit on the loop", "commit in the thread"])
async def test_failed_commit_is_unavailable_and_leaves_nothing(
    writer: Writer, witness: apsw.Connection, commit_seconds: float
) -> None:
    """The jobs have run, and nothing is written before the commit."""
    writer._last_commit_seconds = commit_seconds
    futures = [writer.submit(insert(name)) for name in ("a", "b")]
    with _writes_fail():
        outcomes = await outcomes_of(futures)
    assert all(map(is_unavailable, outcomes)), outcomes
    assert names(witness) == []
    assert await writer.submit(insert("later")) == "later"


@pytest.mark.parametrize("used", [False, True], ids=["at first", "after the thread has run a batch"])
async def test_loop_is_not_blocked_while_another_process_holds_the_write_lock(
    connection: apsw.Connection, witness: apsw.Connection, used: bool
) -> None:
    writer = Writer(connection, 60)
    if used:
        await writer.submit(lambda _: None, is_long=True)
    tried = watch_statements(connection)
    witness.execute("begin immediate")
    futures = [writer.submit(insert(f"thing {number}")) for number in range(3)]
    # This event loop releases the lock. If it waited for the lock, this would never end.
    async with asyncio.timeout(30):
        await tried.in_the_thread.wait()
    witness.execute("rollback")
    assert await outcomes_of(futures) == ["thing 0", "thing 1", "thing 2"]
    assert names(witness) == ["thing 0", "thing 1", "thing 2"]
    await writer.close()


async def test_jobs_wait_together_for_the_write_lock(connection: apsw.Connection, witness: apsw.Connection) -> None:
    tried = watch_statements(connection)
    witness.execute("begin immediate")
    writer = Writer(connection, 0.02)
    outcomes = await outcomes_of([writer.submit(insert(f"thing {number}")) for number in range(100)])
    assert all(map(is_unavailable, outcomes)), outcomes
    assert tried.statements.count("begin immediate") == 2, "once on the loop, and once in the thread, which waits"
    witness.execute("rollback")
    await writer.close()


# The queue


def _fill_queue(writer: Writer) -> list["asyncio.Future[Any]"]:
    """Submit jobs until the queue is full."""
    futures: list[asyncio.Future[Any]] = []
    with pytest.raises(Rejection) as error:  # noqa: PT012 - any call may fail
        while len(futures) < 1_000_000:
            futures.append(writer.submit(lambda db: db.execute("select 1").fetchall()))
    assert error.value.reason is Reason.UNAVAILABLE
    assert error.value.details == {"retryAfterSeconds": 1}
    return futures


async def test_full_queue_is_unavailable_until_jobs_finish(writer: Writer) -> None:
    async with busy_writer(writer):
        futures = _fill_queue(writer)
        assert len(futures) >= 1000
    assert await outcomes_of(futures) == [[(1,)]] * len(futures)
    assert await writer.submit(lambda _: "room") == "room"


async def test_cancelled_jobs_do_not_count_as_waiting(writer: Writer) -> None:
    async with busy_writer(writer):
        futures = _fill_queue(writer)
        for future in futures:
            future.cancel()
    await writer.submit(lambda _: None)
    async with busy_writer(writer):
        again = _fill_queue(writer)
        assert len(again) == len(futures)
    await outcomes_of(again)


# Closing


async def test_close_finishes_accepted_jobs(writer: Writer, witness: apsw.Connection) -> None:
    async with busy_writer(writer):
        futures = [writer.submit(insert(f"thing {number}")) for number in range(600)]
        closing = asyncio.create_task(writer.close())
        await asyncio.sleep(0)
        with pytest.raises(Rejection) as error:
            writer.submit(insert("too late"))
    await closing
    assert all(future.done() for future in futures)
    assert error.value.reason is Reason.UNAVAILABLE
    assert names(witness) == [f"thing {number}" for number in range(600)]
