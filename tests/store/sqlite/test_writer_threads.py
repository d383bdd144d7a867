"""The writer: jobs and commits run on the event loop's thread only while they are fast, and jobs are collected."""

import asyncio
from threading import Event
from time import monotonic

import apsw
import pytest

from tests.store.sqlite.writer_jobs import CONTINUE, Job, insert, names, outcomes_of, runs_on_loop, watch_statements
from tickover.server.storage.sqlite import writer as module
from tickover.server.storage.sqlite.writer import Writer

# The writer counts iterations of the event loop, so other tests must not use the same one.
pytestmark = pytest.mark.asyncio(loop_scope="function")

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
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", 0.125)
    disk = _Disk(connection, [0.125, 0.25, 0.25, 0.125, 0])
    monkeypatch.setattr(module, "monotonic", lambda: disk.now)
    for number in range(5):
        assert await writer.submit(insert(f"thing {number}")) == f"thing {number}"
        assert len(names(witness)) == number + 1
    assert disk.on_the_loop == [True, True, False, False, True]


async def test_loop_runs_and_collects_jobs_while_the_thread_commits(
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
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
    assert len(names(witness)) == 11


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
    writer: Writer, connection: apsw.Connection, witness: apsw.Connection, monkeypatch: pytest.MonkeyPatch
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
    assert names(witness) == [f"thing {number}" for number in range(10)]
    assert 5 <= len(commits) <= 10, "a batch has no time for a third job"
