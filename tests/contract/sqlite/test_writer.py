"""The writer: waiting jobs are committed together, and results come only after the commit.

Jobs and commits run on the event loop's thread only while they are fast.
"""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Event, current_thread, main_thread
from time import monotonic
from typing import Any

import apsw
import pytest

from tickover.api.errors import Reason, Rejection
from tickover.server.storage.sqlite import writer as module
from tickover.server.storage.sqlite.writer import Writer

Job = Callable[[apsw.Connection], Any]

_CONTINUE = False
"""The result of a commit hook that lets the commit continue."""


class _JobError(Exception):
    """An error of one job."""


def _insert(name: str) -> Job:
    def job(db: apsw.Connection) -> str:
        db.execute("insert into things (name) values (?)", (name,))
        return name

    return job


def _insert_and_fail(name: str) -> Job:
    def job(db: apsw.Connection) -> None:
        db.execute("insert into things (name) values (?)", (name,))
        raise _JobError(name)

    return job


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(20)
    connection.pragma("journal_mode", "wal")
    connection.pragma("foreign_keys", True)
    return connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "things.db"


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    """The connection of the writer. The test uses it only before and after."""
    connection = _connect(path)
    connection.execute("create table things (number integer primary key autoincrement, name text not null unique)")
    yield connection
    connection.close()


@pytest.fixture
def witness(connection: apsw.Connection, path: Path) -> Iterator[apsw.Connection]:
    """A second connection, which sees only committed data."""
    witness = _connect(path)
    yield witness
    witness.close()


@pytest.fixture
async def writer(connection: apsw.Connection) -> AsyncIterator[Writer]:
    writer = Writer(connection, 0.02)
    yield writer
    await writer.close()


def _names(witness: apsw.Connection) -> list[str]:
    return [str(name) for (name,) in witness.execute("select name from things order by number")]


@asynccontextmanager
async def _busy(writer: Writer) -> AsyncIterator[None]:
    """Keep the writer busy with a job, so that submitted jobs wait."""
    busy, go_on = asyncio.Event(), Event()
    loop = asyncio.get_running_loop()

    def job(db: apsw.Connection) -> None:
        loop.call_soon_threadsafe(busy.set)
        assert go_on.wait(30)

    waiting = writer.submit(job, is_long=True)
    await busy.wait()
    try:
        yield
    finally:
        go_on.set()
    await waiting


async def _outcomes(futures: list["asyncio.Future[Any]"]) -> list[Any]:
    async with asyncio.timeout(30):
        return await asyncio.gather(*futures, return_exceptions=True)


def _is_unavailable(outcome: object) -> bool:
    return isinstance(outcome, Rejection) and outcome.reason is Reason.UNAVAILABLE


# Batches


async def test_waiting_jobs_are_committed_together(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection
) -> None:
    commits: list[str] = []

    def count_commit() -> bool:
        commits.append("a commit")
        return _CONTINUE

    connection.set_commit_hook(count_commit)
    async with _busy(writer):
        futures = [writer.submit(_insert(f"thing {number}")) for number in range(100)]
    assert await _outcomes(futures) == [f"thing {number}" for number in range(100)]
    assert len(commits) == 2, "one for the job that kept the writer busy, and one for all waiting jobs"
    assert len(_names(witness)) == 100


async def test_more_jobs_than_a_batch_are_all_done(writer: Writer, witness: apsw.Connection) -> None:
    async with _busy(writer):
        futures = [writer.submit(_insert(f"thing {number}")) for number in range(1000)]
    await _outcomes(futures)
    assert _names(witness) == [f"thing {number}" for number in range(1000)]


async def test_jobs_run_in_order(writer: Writer, witness: apsw.Connection) -> None:
    results: list[str] = []
    futures = [writer.submit(_insert(f"thing {number}")) for number in range(50)]
    async with _busy(writer):
        futures += [writer.submit(_insert(f"thing {number}")) for number in range(50, 100)]
    for future in futures:
        future.add_done_callback(lambda done: results.append(done.result()))
    await _outcomes(futures)
    assert results == _names(witness) == [f"thing {number}" for number in range(100)]


async def test_result_comes_only_after_the_commit(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection
) -> None:
    seen: list[tuple[bool, int]] = []

    futures: list[asyncio.Future[Any]] = []

    def count_commit() -> bool:
        seen.append((any(future.done() for future in futures), len(_names(witness))))
        return _CONTINUE

    connection.set_commit_hook(count_commit)
    async with _busy(writer):
        futures += [writer.submit(_insert(f"thing {number}")) for number in range(3)]
    for future in futures:
        future.add_done_callback(lambda _: seen.append((True, len(_names(witness)))))
    await _outcomes(futures)
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
        pytest.param({4}, id="last"),
        pytest.param({0, 1, 3}, id="most"),
        pytest.param({0, 1, 2, 3, 4}, id="all"),
    ],
)
async def test_failing_job_does_not_affect_others(writer: Writer, witness: apsw.Connection, faulty: set[int]) -> None:
    async with _busy(writer):
        futures = [
            writer.submit((_insert_and_fail if number in faulty else _insert)(f"thing {number}")) for number in range(5)
        ]
    good = [f"thing {number}" for number in range(5) if number not in faulty]
    outcomes = await _outcomes(futures)
    assert [isinstance(outcome, _JobError) for outcome in outcomes] == [number in faulty for number in range(5)]
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == good
    # In order, each once, and nothing of the failed jobs.
    assert _names(witness) == good


async def test_failing_single_job_is_rolled_back(writer: Writer, witness: apsw.Connection) -> None:
    with pytest.raises(_JobError):
        await writer.submit(_insert_and_fail("thing"))
    assert _names(witness) == []
    await writer.submit(_insert("thing"))
    assert _names(witness) == ["thing"]


async def test_statement_rejected_by_the_database_fails_only_its_job(writer: Writer, witness: apsw.Connection) -> None:
    async with _busy(writer):
        futures = [writer.submit(_insert(name)) for name in ("a", "a", "b")]
    first, second, third = await _outcomes(futures)
    assert (first, third) == ("a", "b")
    assert isinstance(second, apsw.ConstraintError)
    assert _names(witness) == ["a", "b"]


async def test_failure_at_the_commit_fails_only_its_job(connection: apsw.Connection, witness: apsw.Connection) -> None:
    connection.execute(
        "create table parts (thing text not null references things (name) deferrable initially deferred)"
    )
    writer = Writer(connection, 0.02)

    def orphan(db: apsw.Connection) -> None:
        db.execute("insert into parts values ('of nothing')")

    async with _busy(writer):
        futures = [writer.submit(job) for job in (_insert("a"), orphan, _insert("b"))]
    first, second, third = await _outcomes(futures)
    await writer.close()
    assert (first, third) == ("a", "b")
    assert isinstance(second, apsw.ConstraintError)
    assert _names(witness) == ["a", "b"]
    assert witness.execute("select count(*) from parts").fetchall() == [(0,)]


# Unavailable databases


async def test_jobs_are_unavailable_while_another_process_holds_the_write_lock(
    writer: Writer, witness: apsw.Connection
) -> None:
    witness.execute("begin immediate")
    outcomes = await _outcomes([writer.submit(_insert(f"thing {number}")) for number in range(3)])
    assert all(map(_is_unavailable, outcomes)), outcomes
    witness.execute("rollback")
    assert _names(witness) == []
    # When the lock is free, jobs succeed again.
    assert await writer.submit(_insert("another")) == "another"


async def test_full_disk_is_unavailable_and_leaves_no_partial_data(
    connection: apsw.Connection, witness: apsw.Connection
) -> None:
    connection.pragma("max_page_count", connection.pragma("page_count") + 10)
    writer = Writer(connection, 0.02)

    def fill(db: apsw.Connection) -> None:
        db.execute("insert into things (name) values ('before the flood')")
        db.execute("insert into things (name) values (hex(zeroblob(1000000)))")

    async with _busy(writer):
        futures = [writer.submit(job) for job in (_insert("a"), fill, _insert("b"))]
    outcomes = await _outcomes(futures)
    assert _is_unavailable(outcomes[1])
    assert all(isinstance(outcome, str) or _is_unavailable(outcome) for outcome in outcomes), outcomes
    assert _names(witness) == [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert await writer.submit(_insert("small enough")) == "small enough"
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
    futures = [writer.submit(_insert(name)) for name in ("a", "b")]
    with _writes_fail():
        outcomes = await _outcomes(futures)
    assert all(map(_is_unavailable, outcomes)), outcomes
    assert _names(witness) == []
    assert await writer.submit(_insert("later")) == "later"


async def test_read_only_database_is_unavailable(path: Path, connection: apsw.Connection) -> None:
    read_only = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    writer = Writer(read_only, 0.02)
    outcomes = await _outcomes([writer.submit(_insert("thing"))])
    await writer.close()
    read_only.close()
    assert _is_unavailable(outcomes[0]), outcomes


@pytest.mark.parametrize("used", [False, True], ids=["at first", "after the thread has run a batch"])
async def test_loop_is_not_blocked_while_another_process_holds_the_write_lock(
    connection: apsw.Connection, witness: apsw.Connection, used: bool
) -> None:
    writer = Writer(connection, 5)
    if used:
        await writer.submit(lambda _: None, is_long=True)
    tried = _watch_statements(connection)
    witness.execute("begin immediate")
    futures = [writer.submit(_insert(f"thing {number}")) for number in range(3)]
    # This event loop releases the lock. If it waited for the lock, this would never end.
    async with asyncio.timeout(3):
        await tried.in_the_thread.wait()
    witness.execute("rollback")
    assert await _outcomes(futures) == ["thing 0", "thing 1", "thing 2"]
    assert _names(witness) == ["thing 0", "thing 1", "thing 2"]
    await writer.close()


async def test_jobs_wait_together_for_the_write_lock(connection: apsw.Connection, witness: apsw.Connection) -> None:
    tried = _watch_statements(connection)
    witness.execute("begin immediate")
    writer = Writer(connection, 0.02)
    outcomes = await _outcomes([writer.submit(_insert(f"thing {number}")) for number in range(100)])
    assert all(map(_is_unavailable, outcomes)), outcomes
    assert tried.statements.count("begin immediate") == 2, "once on the loop, and once in the thread, which waits"
    witness.execute("rollback")
    await writer.close()


# Commit modes


class _Watched:
    """The statements of a connection, and the number of those before the thread's first one."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.in_the_thread = asyncio.Event()


def _watch_statements(connection: apsw.Connection) -> _Watched:
    watched, loop = _Watched(), asyncio.get_running_loop()

    def record_statement(_: object, statement: str, __: object) -> bool:
        watched.statements.append(statement)
        if not _statements_on_loop():
            loop.call_soon_threadsafe(watched.in_the_thread.set)
        return True

    connection.set_exec_trace(record_statement)
    return watched


def _statements_on_loop() -> bool:
    return current_thread() is main_thread()


def _current_thread(name: str) -> Job:
    def job(db: apsw.Connection) -> tuple[str, bool]:
        return name, _statements_on_loop()

    return job


class _Disk:
    """Makes each commit take the configured time, and records the thread of each."""

    def __init__(self, connection: apsw.Connection, seconds: list[float]) -> None:
        self.on_the_loop: list[bool] = []
        self._seconds = seconds
        connection.set_commit_hook(self._before_commit)

    def _before_commit(self) -> bool:
        self.on_the_loop.append(_statements_on_loop())
        Event().wait(self._seconds.pop(0))
        return _CONTINUE


async def test_thread_commits_after_a_slow_commit_and_the_loop_after_a_fast_one(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", 0.1)
    disk = _Disk(connection, [0, 0.15, 0.15, 0, 0])
    for number in range(5):
        assert await writer.submit(_insert(f"thing {number}")) == f"thing {number}"
        assert len(_names(witness)) == number + 1
    assert disk.on_the_loop == [True, True, False, False, True]


async def test_loop_runs_and_collects_jobs_while_the_thread_commits(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", -1)
    loop = asyncio.get_running_loop()
    committing, go_on = asyncio.Event(), Event()
    on_the_loop: list[bool] = []

    def count_commit() -> bool:
        on_the_loop.append(_statements_on_loop())
        loop.call_soon_threadsafe(committing.set)
        # If this ran on the event loop, it would never end.
        assert _statements_on_loop() or go_on.wait(30)
        return _CONTINUE

    connection.set_commit_hook(count_commit)
    first = writer.submit(_insert("first"))
    await committing.wait()
    futures = []
    for number in range(10):
        futures.append(writer.submit(_insert(f"thing {number}")))
        await asyncio.sleep(0)
    assert not first.done()
    go_on.set()
    assert await _outcomes([first, *futures]) == ["first", *(f"thing {number}" for number in range(10))]
    assert on_the_loop == [False, False], "one for the first job, and one for all later ones"
    assert len(_names(witness)) == 11


async def test_long_job_runs_alone_and_not_on_the_loop(writer: Writer, connection: apsw.Connection) -> None:
    statements = _watch_statements(connection).statements
    futures = [
        writer.submit(_current_thread(name), is_long=name.startswith("long")) for name in ("a", "b", "long", "c", "d")
    ]
    assert await _outcomes(futures) == [("a", True), ("b", True), ("long", False), ("c", True), ("d", True)]
    assert statements == ["begin immediate", "commit"] * 3


async def test_loop_runs_during_a_long_job(writer: Writer) -> None:
    async with _busy(writer):
        # The job waits for this test.
        waiting = writer.submit(_current_thread("next"))
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting == ("next", True)


async def test_job_that_fails_on_the_loop_is_identified_in_the_thread(writer: Writer, witness: apsw.Connection) -> None:
    runs: list[tuple[int, bool]] = []

    def job(number: int) -> Job:
        def run(db: apsw.Connection) -> int:
            runs.append((number, _statements_on_loop()))
            (_insert_and_fail if number == 2 else _insert)(f"thing {number}")(db)
            return number

        return run

    outcomes = await _outcomes([writer.submit(job(number)) for number in range(5)])
    assert isinstance(outcomes[2], _JobError)
    assert [*outcomes[:2], *outcomes[3:]] == [0, 1, 3, 4]
    assert _names(witness) == ["thing 0", "thing 1", "thing 3", "thing 4"]
    assert runs[:3] == [(0, True), (1, True), (2, True)]
    assert (2, False) in runs
    assert runs.count((2, True)) == 1, "a failed job is not retried on the loop"


# Collecting


def _count_commits(connection: apsw.Connection) -> list[str]:
    commits: list[str] = []

    def count_commit() -> bool:
        commits.append("a commit")
        return _CONTINUE

    connection.set_commit_hook(count_commit)
    return commits


@pytest.mark.parametrize(
    ("longest", "commits"), [pytest.param(60, 1, id="unlimited"), pytest.param(0, 20, id="not at all")]
)
async def test_jobs_of_several_iterations_are_collected_up_to_the_wait_limit(
    writer: Writer, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch, longest: float, commits: int
) -> None:
    monkeypatch.setattr(module, "_MAX_COLLECT_SECONDS", longest)
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", 60)
    counted = _count_commits(connection)
    futures = []
    for number in range(20):
        futures.append(writer.submit(_insert(f"thing {number}")))
        await asyncio.sleep(0)
    assert await _outcomes(futures) == [f"thing {number}" for number in range(20)]
    assert len(counted) == commits


async def test_first_job_does_not_wait_while_others_keep_coming(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_BATCH", 1_000_000)
    monkeypatch.setattr(module, "_MAX_WAITING", 1_000_000)
    first = writer.submit(_current_thread("first"))
    turns = 0
    while not first.done():
        turns += 1
        assert turns < 100_000, "it waited for all the others"
        writer.submit(_current_thread("another"))
        await asyncio.sleep(0)


async def test_batch_ends_after_its_time_and_the_rest_follow_in_order(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_RUN_SECONDS", 0.004)
    commits = _count_commits(connection)

    def slowly(number: int) -> Job:
        def job(db: apsw.Connection) -> int:
            until = monotonic() + 0.003
            while monotonic() < until:
                pass
            _insert(f"thing {number}")(db)
            return number

        return job

    assert await _outcomes([writer.submit(slowly(number)) for number in range(10)]) == list(range(10))
    assert _names(witness) == [f"thing {number}" for number in range(10)]
    assert 5 <= len(commits) <= 10, "a batch has no time for a third job"


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
    async with _busy(writer):
        futures = _fill_queue(writer)
        assert len(futures) >= 1000
    assert await _outcomes(futures) == [[(1,)]] * len(futures)
    assert await writer.submit(lambda _: "room") == "room"


async def test_cancelled_jobs_do_not_count_as_waiting(writer: Writer) -> None:
    async with _busy(writer):
        futures = _fill_queue(writer)
        for future in futures:
            future.cancel()
    await writer.submit(lambda _: None)
    async with _busy(writer):
        again = _fill_queue(writer)
        assert len(again) == len(futures)
    await _outcomes(again)


async def test_cancelled_jobs_do_not_affect_others(writer: Writer, witness: apsw.Connection) -> None:
    async with _busy(writer):
        futures = [writer.submit(_insert(f"thing {number}")) for number in range(10)]
        failing = [writer.submit(_insert_and_fail(f"fault {number}")) for number in range(2)]
        for future in (*futures[::2], failing[0]):
            future.cancel()
    outcomes = await _outcomes(futures)
    assert outcomes[1::2] == [f"thing {number}" for number in range(1, 10, 2)]
    assert isinstance((await _outcomes(failing))[1], _JobError)
    assert set(outcomes[1::2]) <= set(_names(witness))


# Closing


async def test_close_finishes_accepted_jobs(writer: Writer, witness: apsw.Connection) -> None:
    async with _busy(writer):
        futures = [writer.submit(_insert(f"thing {number}")) for number in range(600)]
        closing = asyncio.create_task(writer.close())
        await asyncio.sleep(0)
        with pytest.raises(Rejection) as error:
            writer.submit(_insert("too late"))
    await closing
    assert all(future.done() for future in futures)
    assert error.value.reason is Reason.UNAVAILABLE
    assert _names(witness) == [f"thing {number}" for number in range(600)]


async def test_closing_twice_succeeds(writer: Writer) -> None:
    await asyncio.gather(writer.close(), writer.close())
    await writer.close()


async def test_failing_last_job_does_not_block_closing(writer: Writer, witness: apsw.Connection) -> None:
    async with _busy(writer):
        futures = [writer.submit(_insert_and_fail("fault")), writer.submit(_insert("thing"))]
        closing = asyncio.create_task(writer.close())
    fault, thing = await _outcomes(futures)
    await closing
    assert isinstance(fault, _JobError)
    assert thing == "thing"
    assert _names(witness) == ["thing"]
