"""Calls of one kind that wait at the same time go to the database together, in one statement and one commit."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from tickover.api.errors import Rejection, unavailable

_Call = TypeVar("_Call")
_Result = TypeVar("_Result")
_MAX_WAITING = 4096
_MAX_BYTES_WAITING = 64 * 2**20
_LARGEST_BATCH = 256
_MAX_BYTES = 4 * 2**20
_WAIT_SECONDS = 3.0


class _Entry(Generic[_Call, _Result]):
    __slots__ = ("call", "future", "since")

    def __init__(self, call: _Call, loop: asyncio.AbstractEventLoop) -> None:
        self.call = call
        self.future: asyncio.Future[_Result] = loop.create_future()
        self.since = loop.time()

    def tell(self, result: _Result) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def refuse(self, failure: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(failure)


class Batcher(Generic[_Call, _Result]):
    """While one batch is on its way the next one gathers, so the busier it is, the less each call costs.

    `run` is given calls that agree in what `alike` says of them, and no two of which agree in what `single` says: a
    statement changes a row only once. It gives back as many results, in the same order, and may raise; what is `undone`
    proves that nothing of the batch has happened. `size` is in bytes, for calls that may be large. At most `at_once`
    batches are on their way.
    """

    def __init__(
        self,
        run: Callable[[Sequence[_Call]], Awaitable[Sequence[_Result]]],
        group_key: Callable[[_Call], Hashable],
        conflict_key: Callable[[_Call], Hashable] = id,
        size: Callable[[_Call], int] = lambda _: 0,
        rolled_back_on: type[Exception] = Exception,
        max_concurrent: int = 4,
    ) -> None:
        self._run = run
        self._group_key = group_key
        self._conflict_key = conflict_key
        self._size = size
        self._rolled_back_on = rolled_back_on
        self._max_concurrent = max_concurrent
        self._waiting: deque[_Entry[_Call, _Result]] = deque()
        self._bytes_waiting = 0
        self._working = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, call: _Call) -> _Result:
        """The call's own result; UNAVAILABLE when too many are waiting, or it has waited for too long."""
        if len(self._waiting) >= _MAX_WAITING or self._bytes_waiting > _MAX_BYTES_WAITING:
            raise _too_busy()
        entry: _Entry[_Call, _Result] = _Entry(call, asyncio.get_running_loop())
        self._waiting.append(entry)
        self._bytes_waiting += self._size(call)
        self._start()
        return await entry.future

    def _start(self) -> None:
        if self._working < self._max_concurrent:
            self._working += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self) -> None:
        while self._waiting:
            # All who waited may have gone.
            if batch := self._take():
                await self._run_together(batch)
        # At once, not when the task is seen to be done: whoever comes in between would wait for nobody.
        self._working -= 1

    def _take(self) -> list[_Entry[_Call, _Result]]:
        """Those of the waiting that can go with the first; the others keep their places."""
        too_long_ago = asyncio.get_running_loop().time() - _WAIT_SECONDS
        taken: dict[Hashable, _Entry[_Call, _Result]] = {}
        left: deque[_Entry[_Call, _Result]] = deque()
        batch_key, bytes_taken, bytes_left = None, 0, 0
        for entry in self._waiting:
            if entry.future.done():
                continue
            if entry.since < too_long_ago:
                entry.refuse(_too_busy())
                continue
            conflict_key, group_key = self._conflict_key(entry.call), self._group_key(entry.call)
            batch_key = group_key if not taken else batch_key
            size = self._size(entry.call)
            fits = len(taken) < _LARGEST_BATCH and bytes_taken + size <= _MAX_BYTES
            if not taken or (fits and conflict_key not in taken and group_key == batch_key):
                taken[conflict_key] = entry
                bytes_taken += size
            else:
                left.append(entry)
                bytes_left += size
        self._waiting, self._bytes_waiting = left, bytes_left
        return list(taken.values())

    async def _run_together(self, batch: list[_Entry[_Call, _Result]]) -> None:
        """If a call is at fault, and not the database, none of the batch has happened: run each by itself."""
        try:
            results = await self._run([entry.call for entry in batch])
        except Exception as failure:
            if len(batch) == 1 or isinstance(failure, Rejection) or not isinstance(failure, self._rolled_back_on):
                for entry in batch:
                    entry.refuse(failure)
            else:
                for entry in batch:
                    await self._run_together([entry])
        else:
            for entry, result in zip(batch, results, strict=True):
                entry.tell(result)

    async def close(self) -> None:
        """Finish what was accepted."""
        while tasks := set(self._tasks):
            await asyncio.gather(*tasks)
            # From Python 3.12 on, gathering finished tasks doesn't yield to the event loop, so their callbacks, which
            # would remove them, may not have run yet.
            self._tasks -= tasks


def _too_busy() -> Rejection:
    return unavailable("The server has more to do than it can; try again in a moment.")
