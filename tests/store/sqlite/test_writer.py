"""The writer: waiting jobs are committed together, on the event loop while commits are fast, and results come later."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any

import apsw
import pytest

from tests.store.sqlite.writer_jobs import (
    CONTINUE,
    Job,
    JobError,
    busy_writer,
    insert,
    insert_and_fail,
    is_unavailable,
    names,
    outcomes_of,
    runs_on_loop,
    watch_statements,
)
from tickover.api.errors import Reason, Rejection
from tickover.server.storage.sqlite import writer as module
from tickover.server.storage.sqlite.writer import Writer

# The writer counts iterations of the event loop, so other tests must not use the same one.
pytestmark = pytest.mark.asyncio(loop_scope="function")

# Batches


async def test_waiting_jobs_are_committed_together(
    writer: Writer, connection: apsw.Connection, other: apsw.Connection
) -> None:
    commits = _count_commits(connection)
    async with busy_writer(writer):
        futures = [writer.submit(insert(f"thing {number}")) for number in range(100)]
    assert await outcomes_of(futures) == [f"thing {number}" for number in range(100)]
    assert len(commits) == 2, "one for the job that kept the writer busy, and one for all waiting jobs"
    assert len(names(other)) == 100


async def test_result_comes_only_after_the_commit(
    writer: Writer, connection: apsw.Connection, other: apsw.Connection
) -> None:
    seen: list[tuple[bool, int]] = []

    futures: list[asyncio.Future[Any]] = []

    def count_commit() -> bool:
        seen.append((any(future.done() for future in futures), len(names(other))))
        return CONTINUE

    connection.set_commit_hook(count_commit)
    async with busy_writer(writer):
        futures += [writer.submit(insert(f"thing {number}")) for number in range(3)]
    for future in futures:
        future.add_done_callback(lambda _: seen.append((True, len(names(other)))))
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
async def test_failing_job_does_not_affect_others(writer: Writer, other: apsw.Connection, faulty: set[int]) -> None:
    async with busy_writer(writer):
        futures = [
            writer.submit((insert_and_fail if number in faulty else insert)(f"thing {number}")) for number in range(5)
        ]
    good = [f"thing {number}" for number in range(5) if number not in faulty]
    outcomes = await outcomes_of(futures)
    assert [isinstance(outcome, JobError) for outcome in outcomes] == [number in faulty for number in range(5)]
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == good
    # In order, each once, and nothing of the failed jobs.
    assert names(other) == good


async def test_failure_at_the_commit_fails_only_its_job(connection: apsw.Connection, other: apsw.Connection) -> None:
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
    assert names(other) == ["a", "b"]
    assert other.execute("select count(*) from parts").fetchall() == [(0,)]


# Unavailable databases


async def test_full_disk_is_unavailable_and_leaves_no_partial_data(
    connection: apsw.Connection, other: apsw.Connection
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
    assert names(other) == [outcome for outcome in outcomes if isinstance(outcome, str)]
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
    writer: Writer, other: apsw.Connection, commit_seconds: float
) -> None:
    """The jobs have run, and nothing is written before the commit."""
    writer._last_commit_seconds = commit_seconds
    futures = [writer.submit(insert(name)) for name in ("a", "b")]
    with _writes_fail():
        outcomes = await outcomes_of(futures)
    assert all(map(is_unavailable, outcomes)), outcomes
    assert names(other) == []
    assert await writer.submit(insert("later")) == "later"


@pytest.mark.parametrize("used", [False, True], ids=["at first", "after the thread has run a batch"])
async def test_loop_is_not_blocked_while_another_process_holds_the_write_lock(
    connection: apsw.Connection, other: apsw.Connection, used: bool
) -> None:
    writer = Writer(connection, 60)
    if used:
        await writer.submit(lambda _: None, is_long=True)
    tried = watch_statements(connection)
    other.execute("begin immediate")
    futures = [writer.submit(insert(f"thing {number}")) for number in range(3)]
    # This event loop releases the lock. If it waited for the lock, this would never end.
    async with asyncio.timeout(30):
        await tried.in_the_thread.wait()
    other.execute("rollback")
    assert await outcomes_of(futures) == ["thing 0", "thing 1", "thing 2"]
    assert names(other) == ["thing 0", "thing 1", "thing 2"]
    await writer.close()


async def test_jobs_wait_together_for_the_write_lock(connection: apsw.Connection, other: apsw.Connection) -> None:
    tried = watch_statements(connection)
    other.execute("begin immediate")
    writer = Writer(connection, 0.02)
    outcomes = await outcomes_of([writer.submit(insert(f"thing {number}")) for number in range(100)])
    assert all(map(is_unavailable, outcomes)), outcomes
    assert tried.statements.count("begin immediate") == 2, "once on the loop, and once in the thread, which waits"
    other.execute("rollback")
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


async def test_close_finishes_accepted_jobs(writer: Writer, other: apsw.Connection) -> None:
    async with busy_writer(writer):
        futures = [writer.submit(insert(f"thing {number}")) for number in range(600)]
        closing = asyncio.create_task(writer.close())
        await asyncio.sleep(0)
        with pytest.raises(Rejection) as error:
            writer.submit(insert("too late"))
    await closing
    assert all(future.done() for future in futures)
    assert error.value.reason is Reason.UNAVAILABLE
    assert names(other) == [f"thing {number}" for number in range(600)]


# Commit modes


def _current_thread(name: str) -> Job:
    def job(db: apsw.Connection) -> tuple[str, bool]:
        return name, runs_on_loop()

    return job


class _Disk:
    """Lets each commit take the configured simulated time, and records the thread of each."""

    def __init__(self, connection: apsw.Connection, seconds: list[float]) -> None:
        self.on_the_loop: list[bool] = []
        self.now = 0.0
        self._seconds = seconds
        connection.set_commit_hook(self._before_commit)

    def _before_commit(self) -> bool:
        self.on_the_loop.append(runs_on_loop())
        self.now += self._seconds.pop(0)
        return CONTINUE


async def test_thread_commits_after_a_slow_commit_and_the_loop_after_a_fast_one(
    writer: Writer, connection: apsw.Connection, other: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", 0.125)
    disk = _Disk(connection, [0.125, 0.25, 0.25, 0.125, 0])
    monkeypatch.setattr(module, "monotonic", lambda: disk.now)
    for number in range(5):
        assert await writer.submit(insert(f"thing {number}")) == f"thing {number}"
        assert len(names(other)) == number + 1
    assert disk.on_the_loop == [True, True, False, False, True]


async def test_loop_runs_and_collects_jobs_while_the_thread_commits(
    writer: Writer, connection: apsw.Connection, other: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", -1)
    loop = asyncio.get_running_loop()
    committing, go_on = asyncio.Event(), Event()
    on_the_loop: list[bool] = []

    def count_commit() -> bool:
        on_the_loop.append(runs_on_loop())
        loop.call_soon_threadsafe(committing.set)
        # If this ran on the event loop, it would never end.
        assert runs_on_loop() or go_on.wait(30)
        return CONTINUE

    connection.set_commit_hook(count_commit)
    first = writer.submit(insert("first"))
    await committing.wait()
    futures = []
    for number in range(10):
        futures.append(writer.submit(insert(f"thing {number}")))
        await asyncio.sleep(0)
    assert not first.done()
    go_on.set()
    assert await outcomes_of([first, *futures]) == ["first", *(f"thing {number}" for number in range(10))]
    assert on_the_loop == [False, False], "one for the first job, and one for all later ones"
    assert len(names(other)) == 11


async def test_long_job_runs_alone_and_not_on_the_loop(writer: Writer, connection: apsw.Connection) -> None:
    statements = watch_statements(connection).statements
    futures = [
        writer.submit(_current_thread(name), is_long=name.startswith("long")) for name in ("a", "b", "long", "c", "d")
    ]
    assert await outcomes_of(futures) == [("a", True), ("b", True), ("long", False), ("c", True), ("d", True)]
    assert statements == ["begin immediate", "commit"] * 3


# Collecting


def _count_commits(connection: apsw.Connection) -> list[str]:
    commits: list[str] = []

    def count_commit() -> bool:
        commits.append("a commit")
        return CONTINUE

    connection.set_commit_hook(count_commit)
    return commits


@pytest.mark.parametrize(
    ("longest", "commits"), [pytest.param(60, 1, id="unlimited"), pytest.param(0, 20, id="not at all")]
)
async def test_jobs_of_several_iterations_are_collected_up_to_the_wait_limit(
    writer: Writer, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch, longest: float, commits: int
) -> None:
    monkeypatch.setattr(module, "_MAX_COLLECT_SECONDS", longest)
    counted = _count_commits(connection)
    futures = []
    for number in range(20):
        futures.append(writer.submit(insert(f"thing {number}")))
        await asyncio.sleep(0)
    assert await outcomes_of(futures) == [f"thing {number}" for number in range(20)]
    assert len(counted) == commits


async def test_batch_ends_after_its_time_and_the_rest_follow_in_order(
    writer: Writer, connection: apsw.Connection, other: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_RUN_SECONDS", 0.004)
    commits = _count_commits(connection)

    def slowly(number: int) -> Job:
        def job(db: apsw.Connection) -> int:
            until = monotonic() + 0.003
            while monotonic() < until:
                pass
            insert(f"thing {number}")(db)
            return number

        return job

    assert await outcomes_of([writer.submit(slowly(number)) for number in range(10)]) == list(range(10))
    assert names(other) == [f"thing {number}" for number in range(10)]
    assert 5 <= len(commits) <= 10, "a batch has no time for a third job"
