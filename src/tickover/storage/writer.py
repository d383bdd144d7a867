"""SQLite's one writer: a thread that takes whatever jobs are waiting and commits them together, one fsync for all."""

import asyncio
import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import apsw

from tickover.core.errors import unavailable

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
_MOST_WAITING = 4096
_LARGEST_BATCH = 256


class _Job:
    """A function of the database, and whom to tell. It may run twice, so all that it changes is in the database."""

    __slots__ = ("failure", "future", "result", "run")

    def __init__(self, run: Callable[[apsw.Connection], Any], future: "asyncio.Future[Any]") -> None:
        self.run = run
        self.future = future
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

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._file = _identity(connection.filename)
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._waiting = 0
        self._closed = False
        # A daemon: a program that dies without closing must not hang; what was answered is on the disk.
        self._thread = Thread(target=self._work, name="tickover-writer", daemon=True)
        self._thread.start()

    def submit(self, run: Callable[[apsw.Connection], _T]) -> "asyncio.Future[_T]":
        """Queue a job; UNAVAILABLE when too many are waiting, or the store is closing."""
        if self._closed:
            raise unavailable("The server is shutting down.")
        if self._waiting >= _MOST_WAITING:
            raise unavailable("The server has more to write than it can; try again in a moment.")
        future: asyncio.Future[_T] = self._loop.create_future()
        self._waiting += 1
        self._queue.put(_Job(run, future))
        return future

    async def close(self) -> None:
        """Finish the jobs that were accepted, then stop."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            batch = [job]
            last = False
            while len(batch) < _LARGEST_BATCH and not last:
                try:
                    following = self._queue.get_nowait()
                except Empty:
                    break
                if following is None:
                    last = True
                else:
                    batch.append(following)
            self._commit_together(batch)
            self._loop.call_soon_threadsafe(self._tell, batch)
            if last:
                break

    def _commit_together(self, batch: list[_Job]) -> None:
        """Run the jobs in one database transaction. If one of them is at fault, undo all and run each in its own."""
        try:
            self._check_file()
            with immediate(self._connection):
                for job in batch:
                    job.result = job.run(self._connection)
        except Exception as failure:
            if len(batch) == 1 or isinstance(failure, _AWAY):
                for job in batch:
                    job.failure = as_told(failure)
            else:
                for job in batch:
                    self._commit_together([job])

    def _check_file(self) -> None:
        """What is written to a file that was deleted, or moved away, is lost, though SQLite would not notice."""
        if _identity(self._connection.filename) != self._file:
            raise apsw.CantOpenError

    def _tell(self, batch: list[_Job]) -> None:
        self._waiting -= len(batch)
        for job in batch:
            job.tell()


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
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        # SQLite has rolled back by itself after some errors, such as a full disk.
        if self._connection.in_transaction:
            self._connection.execute("rollback")


def as_told(failure: Exception) -> Exception:
    """The database's own troubles as UNAVAILABLE; a fault of ours stays what it is."""
    return unavailable("The database does not answer just now.") if isinstance(failure, _AWAY) else failure
