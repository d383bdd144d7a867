"""Sends calls that wait at the same time to the database in one batch."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from asyncpg import PostgresError

from tickover.api.errors import Rejection
from tickover.server.storage.store import overloaded

_Call = TypeVar("_Call")
_Result = TypeVar("_Result")
_MAX_WAITING = 4096
_MAX_BYTES_WAITING = 64 * 2**20
_MAX_BATCH = 256
_MAX_BATCH_BYTES = 4 * 2**20
_MAX_WAIT_SECONDS = 3.0


class _WaitingCall(Generic[_Call, _Result]):
    __slots__ = ("call", "future", "since")

    def __init__(self, call: _Call, loop: asyncio.AbstractEventLoop) -> None:
        self.call = call
        self.future: asyncio.Future[_Result] = loop.create_future()
        self.since = loop.time()

    def resolve(self, result: _Result) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, failure: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(failure)


class Batcher(Generic[_Call, _Result]):
    """Collects calls while earlier batches run, so a busy server spends less on each call.

    `run` executes a batch and returns one result for each call, in the same order. An exception among them is raised to
    the caller. If `run` raises a PostgresError, the batch changed nothing.
    """

    def __init__(
        self,
        run: Callable[[Sequence[_Call]], Awaitable[Sequence[_Result | Exception]]],
        group_key: Callable[[_Call], Hashable],
        conflict_key: Callable[[_Call], Hashable] = id,
        size: Callable[[_Call], int] = lambda _: 0,
        max_concurrent: int = 4,
    ) -> None:
        """Create a batcher.

        All calls of a batch have the same `group_key` and different `conflict_key`s, because a statement can change a
        row only once. `size` returns a call's size in bytes. At most `max_concurrent` batches run at the same time.
        """
        self._run = run
        self._group_key = group_key
        self._conflict_key = conflict_key
        self._size = size
        self._max_concurrent = max_concurrent
        self._waiting: deque[_WaitingCall[_Call, _Result]] = deque()
        self._bytes_waiting = 0
        self._workers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, call: _Call) -> _Result:
        """Return the call's result. Raise UNAVAILABLE if too many calls wait, or this one waits too long."""
        if len(self._waiting) >= _MAX_WAITING or self._bytes_waiting > _MAX_BYTES_WAITING:
            raise overloaded()
        entry: _WaitingCall[_Call, _Result] = _WaitingCall(call, asyncio.get_running_loop())
        self._waiting.append(entry)
        self._bytes_waiting += self._size(call)
        self._start()
        return await entry.future

    @property
    def waiting_calls(self) -> int:
        return len(self._waiting)

    def _start(self) -> None:
        if self._workers < self._max_concurrent:
            self._workers += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self) -> None:
        while self._waiting:
            # The batch is empty if all waiting calls were cancelled.
            if batch := self._take_batch():
                await self._run_batch(batch)
        # Not in a done callback: a call submitted before the callback runs would wait forever.
        self._workers -= 1

    def _take_batch(self) -> list[_WaitingCall[_Call, _Result]]:
        """Remove and return the first waiting call and all that fit into its batch."""
        min_since = asyncio.get_running_loop().time() - _MAX_WAIT_SECONDS
        taken: dict[Hashable, _WaitingCall[_Call, _Result]] = {}
        left: deque[_WaitingCall[_Call, _Result]] = deque()
        batch_key, bytes_taken, bytes_left = None, 0, 0
        for entry in self._waiting:
            if entry.future.done():
                continue
            if entry.since < min_since:
                entry.fail(overloaded())
                continue
            conflict_key, group_key = self._conflict_key(entry.call), self._group_key(entry.call)
            batch_key = group_key if not taken else batch_key
            size = self._size(entry.call)
            fits = len(taken) < _MAX_BATCH and bytes_taken + size <= _MAX_BATCH_BYTES
            if not taken or (fits and conflict_key not in taken and group_key == batch_key):
                taken[conflict_key] = entry
                bytes_taken += size
            else:
                left.append(entry)
                bytes_left += size
        self._waiting, self._bytes_waiting = left, bytes_left
        return list(taken.values())

    async def _run_batch(self, batch: list[_WaitingCall[_Call, _Result]]) -> None:
        """Run the batch. If it fails because of one call and was rolled back, run each call alone."""
        try:
            results = await self._run([entry.call for entry in batch])
        except Exception as failure:
            if len(batch) == 1 or isinstance(failure, Rejection) or not isinstance(failure, PostgresError):
                for entry in batch:
                    entry.fail(failure)
            else:
                for entry in batch:
                    await self._run_batch([entry])
        else:
            for entry, result in zip(batch, results, strict=True):
                if isinstance(result, Exception):
                    entry.fail(result)
                else:
                    entry.resolve(result)

    async def close(self) -> None:
        """Finish all accepted calls."""
        while tasks := set(self._tasks):
            await asyncio.gather(*tasks)
            # Since Python 3.12, gather() of finished tasks doesn't yield to the event loop. The callbacks that remove
            # the tasks may not have run yet.
            self._tasks -= tasks
