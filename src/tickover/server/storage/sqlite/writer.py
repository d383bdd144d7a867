"""SQLite's one writer: jobs that wait together are committed together, one fsync for all.

Statements take microseconds, and so they run where they are asked for, on the event loop's thread. So does the commit,
as long as the disk is fast: to hand it to a thread and back takes longer, and while two threads are at work, each
keeps the other from Python's lock. Where the disk is slow, the thread commits, and the next batch gathers meanwhile.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

import apsw

from tickover.api.errors import unavailable

# What can befall any database; all else that a job raises is a fault of ours.
_AWAY = (
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

_T = TypeVar("_T")
_MAX_WAITING = 4096
_LARGEST_BATCH = 256
_LONGEST_GATHERING = 0.002
"""Seconds that the first job of a batch waits for others."""
_LONGEST_RUN = 0.005
"""Seconds after which a batch takes no further job, so that nothing else waits long for its turn."""
_SHORT_COMMIT = 0.002
"""Seconds that the event loop waits for the disk; when the last commit took longer, the thread waits for the next."""


class _Job:
    """A function of the database, and whom to tell. It may run twice, so all that it changes is in the database."""

    __slots__ = ("failure", "future", "is_long", "result", "run")

    def __init__(self, run: Callable[[apsw.Connection], Any], future: "asyncio.Future[Any]", is_long: bool) -> None:
        self.run = run
        self.future = future
        self.is_long = is_long
        self.result: Any = None
        self.failure: BaseException | None = None

    def tell(self) -> None:
        if self.future.cancelled():
            return
        if self.failure is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.failure)


class Writer:
    """Runs jobs in the order in which they came. A job is told of its result only after the disk has it."""

    def __init__(self, connection: apsw.Connection, lock_wait_seconds: float) -> None:
        self._connection = connection
        self._lock_wait_milliseconds = int(lock_wait_seconds * 1000)
        # The loop never waits for another process; the thread does.
        connection.set_busy_timeout(0)
        self._file = _identity(connection.filename)
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()
        self._under_way = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._begin_by = 0.0
        self._last_commit_took = 0.0
        self._closed = False
        self._handed_over: SimpleQueue[tuple[Callable[[list[_Job]], None], list[_Job]] | None] = SimpleQueue()
        # A daemon: a program that dies without closing must not hang; what was answered is on the disk.
        self._thread = Thread(target=self._work, name="tickover-writer", daemon=True)
        self._thread.start()

    def submit(self, run: Callable[[apsw.Connection], _T], *, is_long: bool = False) -> "asyncio.Future[_T]":
        """Queue a job; UNAVAILABLE when too many are waiting, or the store is closing.

        A long one runs by itself and in the thread, so that it holds up other jobs but not the event loop.
        """
        if self._closed:
            raise unavailable("The server is shutting down.")
        if len(self._waiting) + self._under_way >= _MAX_WAITING:
            raise unavailable("The server has more to write than it can; try again in a moment.")
        future: asyncio.Future[_T] = self._loop.create_future()
        self._waiting.append(_Job(run, future, is_long))
        if self._is_idle.is_set():
            self._is_idle.clear()
            self._begin_by = monotonic() + _LONGEST_GATHERING
            self._loop.call_soon(self._gather, 0)
        return future

    async def close(self) -> None:
        """Finish the jobs that were accepted, then stop."""
        if not self._closed:
            self._closed = True
            await self._is_idle.wait()
            self._handed_over.put(None)
        await asyncio.to_thread(self._thread.join)

    # On the event loop's thread.

    def _gather(self, before: int) -> None:
        """Begin when a turn of the event loop has brought no further job, for what comes in together goes together."""
        waiting = len(self._waiting)
        if before < waiting < _LARGEST_BATCH and monotonic() < self._begin_by:
            self._loop.call_soon(self._gather, waiting)
        else:
            self._begin()

    def _begin(self) -> None:
        """Run what is waiting and commit it, here or in the thread."""
        batch: list[_Job] = []
        way = self._run_and_commit
        if self._waiting[0].is_long:
            batch.append(self._waiting.popleft())
        else:
            try:
                self._run_waiting(batch)
                way = self._only_commit
            except Exception as failure:
                # Whatever it was, the other way finds out whose fault it is.
                if isinstance(failure, _AWAY):
                    self._take_the_rest(batch)
        self._under_way = len(batch)
        if way == self._only_commit and self._last_commit_took <= _SHORT_COMMIT:
            if self._commit(batch):
                self._tell(batch)
                return
            way = self._run_and_commit
        self._handed_over.put((way, batch))

    def _run_waiting(self, batch: list[_Job]) -> None:
        """Run what is waiting in one database transaction and leave it open; none is left open after a failure."""
        last_start = monotonic() + _LONGEST_RUN
        batch.append(self._waiting.popleft())
        try:
            self._check_file()
            self._connection.execute("begin immediate")
            batch[0].result = batch[0].run(self._connection)
            while self._waiting and len(batch) < _LARGEST_BATCH and monotonic() < last_start:
                if self._waiting[0].is_long:
                    break
                job = self._waiting.popleft()
                batch.append(job)
                job.result = job.run(self._connection)
        except BaseException:
            _roll_back(self._connection)
            raise

    def _take_the_rest(self, batch: list[_Job]) -> None:
        """So that all wait for another process together, and not one after the other."""
        while self._waiting and len(batch) < _LARGEST_BATCH and not self._waiting[0].is_long:
            batch.append(self._waiting.popleft())

    def _tell(self, batch: list[_Job]) -> None:
        for job in batch:
            job.tell()
        self._under_way = 0
        if self._waiting:
            self._begin_by = monotonic() + _LONGEST_GATHERING
            self._loop.call_soon(self._gather, 0)
        else:
            self._is_idle.set()

    # On the writer's own thread, but for `_commit`. Only one of the two is at work on the connection at any time.

    def _work(self) -> None:
        while (handed_over := self._handed_over.get()) is not None:
            way, batch = handed_over
            way(batch)
            self._loop.call_soon_threadsafe(self._tell, batch)

    def _commit(self, batch: list[_Job]) -> bool:
        """Commit what was run; False when all was undone because one of several is at fault."""
        began = monotonic()
        try:
            self._connection.execute("commit")
        except Exception as failure:
            _roll_back(self._connection)
            if not _fails_all(batch, failure):
                return False
        self._last_commit_took = monotonic() - began
        return True

    def _only_commit(self, batch: list[_Job]) -> None:
        if not self._commit(batch):
            self._run_and_commit(batch)

    def _run_and_commit(self, batch: list[_Job]) -> None:
        """Run the jobs, again if need be, and commit them; wait if another process is writing."""
        self._connection.set_busy_timeout(self._lock_wait_milliseconds)
        try:
            self._check_file()
            with immediate(self._connection):
                for job in batch:
                    job.result = job.run(self._connection)
        except Exception as failure:
            if not _fails_all(batch, failure):
                # One of the jobs is at fault, and the others are not to suffer.
                for job in batch:
                    self._run_and_commit([job])
        finally:
            self._connection.set_busy_timeout(0)

    def _check_file(self) -> None:
        """What is written to a file that was deleted, or moved away, is lost, though SQLite would not notice."""
        if _identity(self._connection.filename) != self._file:
            raise apsw.CantOpenError("the database file was deleted or replaced")


def _fails_all(batch: list[_Job], failure: Exception) -> bool:
    """Note the failure if it is that of every job: there is only one, or the database is away."""
    if len(batch) > 1 and not isinstance(failure, _AWAY):
        return False
    for job in batch:
        job.failure = to_rejection(failure)
    return True


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - as light as it can be, for it stands before every commit
    except OSError:
        return None
    return found.st_dev, found.st_ino


class immediate:  # noqa: N801 - it reads as a statement
    """A database transaction that has the write lock from its first statement on."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("begin immediate")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._connection.execute("commit")
                return
            except apsw.Error:
                _roll_back(self._connection)
                raise
        _roll_back(self._connection)


def _roll_back(connection: apsw.Connection) -> None:
    # SQLite has rolled back by itself after some errors, such as a full disk.
    if connection.in_transaction:
        connection.execute("rollback")


def to_rejection(failure: Exception) -> Exception:
    """The database's own troubles as UNAVAILABLE; a fault of ours stays what it is."""
    if not isinstance(failure, _AWAY):
        return failure
    rejection = unavailable("The database does not answer just now.")
    # For the log. Without its traceback, which would keep the whole batch in memory.
    rejection.__cause__ = failure.with_traceback(None)
    return rejection
