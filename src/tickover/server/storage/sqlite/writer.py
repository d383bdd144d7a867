"""The single writer of the SQLite store. It commits waiting jobs together, with one fsync.

Jobs take microseconds, so they run on the event loop's thread. While the disk is fast, the commit runs there too:
another thread would take longer, and both would compete for Python's lock. If the disk is slow, the writer's thread
commits while the next batch collects.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeVar

import apsw

from tickover.api.errors import unavailable
from tickover.server.storage.store import Cause, DatabaseUnavailable, overloaded

# Failures of the database or the disk. All other exceptions of a job are bugs.
_DATABASE_ERRORS = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.ConnectionClosedError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)

_CAUSES: Final[Mapping[type[BaseException], Cause]] = {
    apsw.FullError: "disk_full",
    apsw.ReadOnlyError: "read_only",
    apsw.BusyError: "lock",
    apsw.LockedError: "lock",
    apsw.IOError: "io",
    apsw.CorruptError: "io",
    apsw.NotADBError: "io",
}

_DAMAGED: Final = "The database file is damaged. The operator must restore a backup, or start with a new file."

_T = TypeVar("_T")
_MAX_WAITING = 4096
_MAX_BATCH = 256
_MAX_COLLECT_SECONDS = 0.002
"""The time that the first job of a batch waits for others."""
_MAX_RUN_SECONDS = 0.005
"""The time after which a batch accepts no more jobs, so that the event loop is not blocked for long."""
_MAX_INLINE_COMMIT_SECONDS = 0.002
"""If the last commit took longer than this, the thread commits the next batch."""


class _Job:
    """A function of the database, and the future for its result. Running it again must be safe."""

    __slots__ = ("failure", "future", "is_long", "result", "run")

    def __init__(self, run: Callable[[apsw.Connection], Any], future: "asyncio.Future[Any]", is_long: bool) -> None:
        self.run = run
        self.future = future
        self.is_long = is_long
        self.result: Any = None
        self.failure: BaseException | None = None

    def resolve(self) -> None:
        if self.future.cancelled():
            return
        if self.failure is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.failure)


class Writer:
    """Runs jobs in the order of their submission. A job's future is done only after the commit."""

    def __init__(self, connection: apsw.Connection, lock_wait_seconds: float) -> None:
        self._connection = connection
        self._lock_wait_milliseconds = int(lock_wait_seconds * 1000)
        # The event loop must not wait for the locks of other processes. The thread does.
        connection.set_busy_timeout(0)
        self._file_identity = _file_identity(connection.filename)
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()
        self._running = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._collect_until = 0.0
        self._last_commit_seconds = 0.0
        self._closed = False
        self._batches: SimpleQueue[tuple[bool, list[_Job]] | None] = SimpleQueue()
        """Batches for the thread. True if their jobs have run, so that it only commits them."""
        # A daemon thread, so that a process that fails to close the store can exit.
        self._thread = Thread(target=self._work, name="tickover-writer", daemon=True)
        self._thread.start()

    def submit(self, run: Callable[[apsw.Connection], _T], *, is_long: bool = False) -> "asyncio.Future[_T]":
        """Queue a job. Raise UNAVAILABLE if too many jobs are waiting, or the store is closing.

        A long job runs alone in the thread. It delays other jobs, but doesn't block the event loop.
        """
        if self._closed:
            raise unavailable("The server is shutting down.")
        if self.waiting_jobs >= _MAX_WAITING:
            raise overloaded()
        future: asyncio.Future[_T] = self._loop.create_future()
        self._waiting.append(_Job(run, future, is_long))
        if self._is_idle.is_set():
            self._is_idle.clear()
            self._start_collecting()
        return future

    @property
    def waiting_jobs(self) -> int:
        return len(self._waiting) + self._running

    async def close(self) -> None:
        """Finish all accepted jobs, then stop."""
        if not self._closed:
            self._closed = True
            await self._is_idle.wait()
            self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    # These methods run on the event loop's thread.

    def _start_collecting(self) -> None:
        self._collect_until = monotonic() + _MAX_COLLECT_SECONDS
        self._loop.call_soon(self._collect, 0)

    def _collect(self, previously_waiting: int) -> None:
        """Start a batch when one iteration of the event loop has added no more jobs."""
        waiting = len(self._waiting)
        if previously_waiting < waiting < _MAX_BATCH and monotonic() < self._collect_until:
            self._loop.call_soon(self._collect, waiting)
        else:
            self._start_batch()

    def _start_batch(self) -> None:
        """Run and commit the waiting jobs, here or in the thread."""
        batch: list[_Job] = []
        have_run = self._run_waiting(batch)
        self._running = len(batch)
        if have_run and self._last_commit_seconds <= _MAX_INLINE_COMMIT_SECONDS:
            if self._commit(batch):
                self._resolve(batch)
                return
            have_run = False
        self._batches.put((have_run, batch))

    def _run_waiting(self, batch: list[_Job]) -> bool:
        """Move waiting jobs into the batch, and run them here if possible. Return False if the thread must run them."""
        if self._waiting[0].is_long:
            batch.append(self._waiting.popleft())
            return False
        try:
            self._run_in_transaction(batch)
        except Exception as failure:
            # The thread runs the batch again, and finds out which job failed.
            if isinstance(failure, _DATABASE_ERRORS):
                self._add_all_waiting(batch)
            return False
        return True

    def _run_in_transaction(self, batch: list[_Job]) -> None:
        """Run waiting jobs in one transaction and leave it open. Roll it back if a job fails."""
        deadline = monotonic() + _MAX_RUN_SECONDS
        batch.append(self._waiting.popleft())
        try:
            self._check_file()
            self._connection.execute("begin immediate")
            batch[0].result = batch[0].run(self._connection)
            while self._waiting and len(batch) < _MAX_BATCH and monotonic() < deadline:
                if self._waiting[0].is_long:
                    break
                job = self._waiting.popleft()
                batch.append(job)
                job.result = job.run(self._connection)
        except BaseException:
            _roll_back(self._connection)
            raise

    def _add_all_waiting(self, batch: list[_Job]) -> None:
        """Add the waiting jobs, so that they wait for another process together and not one by one."""
        while self._waiting and len(batch) < _MAX_BATCH and not self._waiting[0].is_long:
            batch.append(self._waiting.popleft())

    def _resolve(self, batch: list[_Job]) -> None:
        for job in batch:
            job.resolve()
        self._running = 0
        if self._waiting:
            self._start_collecting()
        else:
            self._is_idle.set()

    # These methods run on the writer's thread. `_commit` runs on either. Only one thread uses the connection at a time.

    def _work(self) -> None:
        while (item := self._batches.get()) is not None:
            have_run, batch = item
            if not have_run or not self._commit(batch):
                self._run_and_commit(batch)
            self._loop.call_soon_threadsafe(self._resolve, batch)

    def _commit(self, batch: list[_Job]) -> bool:
        """Commit the jobs that have run. Return False if they were rolled back because one of several failed."""
        start = monotonic()
        try:
            self._connection.execute("commit")
        except Exception as failure:
            _roll_back(self._connection)
            if not _fail_all(batch, failure):
                return False
        self._last_commit_seconds = monotonic() - start
        return True

    def _run_and_commit(self, batch: list[_Job]) -> None:
        """Run the jobs, possibly again, and commit them. Wait for the locks of other processes."""
        self._connection.set_busy_timeout(self._lock_wait_milliseconds)
        try:
            self._check_file()
            with transaction(self._connection):
                for job in batch:
                    job.result = job.run(self._connection)
        except Exception as failure:
            if not _fail_all(batch, failure):
                # Only the job that fails gets the error.
                for job in batch:
                    self._run_and_commit([job])
        finally:
            self._connection.set_busy_timeout(0)

    def _check_file(self) -> None:
        """Raise an error if the database file was deleted or replaced. SQLite would write to the old file."""
        if _file_identity(self._connection.filename) != self._file_identity:
            raise apsw.CantOpenError("the database file was deleted or replaced")


def _fail_all(batch: list[_Job], failure: Exception) -> bool:
    """Set the failure on every job if it concerns all: there is only one job, or the database failed."""
    if len(batch) > 1 and not isinstance(failure, _DATABASE_ERRORS):
        return False
    for job in batch:
        job.failure = to_rejection(failure)
    return True


def _file_identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - faster than Path.stat, and it runs before every commit
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def transaction(connection: apsw.Connection, begin: str = "begin immediate") -> Iterator[None]:
    """Commit at the end, or roll back after an error. By default, it takes the write lock at its start."""
    connection.execute(begin)
    try:
        yield
        connection.execute("commit")
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: apsw.Connection) -> None:
    # SQLite rolls back by itself after some errors, such as a full disk.
    if connection.in_transaction:
        connection.execute("rollback")


def to_rejection(failure: Exception) -> Exception:
    """Return UNAVAILABLE for a failure of the database, and any other exception unchanged."""
    if not isinstance(failure, _DATABASE_ERRORS):
        return failure
    # The traceback would keep the whole batch in memory.
    cause, failure = cause_of(failure), failure.with_traceback(None)
    if isinstance(failure, apsw.CorruptError | apsw.NotADBError):
        return DatabaseUnavailable(cause, failure, _DAMAGED)
    return DatabaseUnavailable(cause, failure)


def cause_of(error: BaseException) -> Cause:
    return _CAUSES.get(type(error), "other")
