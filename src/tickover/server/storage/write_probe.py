"""Whether a database takes writes, asked by writing to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from tickover.api.errors import Rejection, unavailable

_ANSWER_SECONDS: Final = 1.0
_SHARED_SECONDS: Final = 1.0
"""How long a write that succeeded answers for later callers too, so that their number costs the database nothing."""


class WriteProbe:
    """One write at a time, whoever asks, and none within a second of one that succeeded."""

    def __init__(self, write: Callable[[], Awaitable[object]]) -> None:
        self._write = write
        self._task: asyncio.Task[Rejection | None] | None = None
        self._good_until = 0.0

    async def check(self) -> None:
        """Raise UNAVAILABLE unless the database takes a write, or has just taken one."""
        if asyncio.get_running_loop().time() < self._good_until:
            return
        # A write that was begun goes on after its callers stopped waiting: the server that takes writes may take longer
        # to find.
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._try())
        task = self._task
        done, _ = await asyncio.wait((task,), timeout=_ANSWER_SECONDS)
        failure = task.result() if done else _unanswered()
        if failure is not None:
            # A rejection of its own for each caller: an exception that is raised again and again grows.
            raise Rejection(failure.reason, failure.message, failure.details) from failure.__cause__

    async def _try(self) -> Rejection | None:
        try:
            await self._write()
        except Rejection as rejection:
            return rejection.with_traceback(None)
        self._good_until = asyncio.get_running_loop().time() + _SHARED_SECONDS
        return None

    async def close(self) -> None:
        """Wait for the write on its way. Later checks write again, and fail if the store is closed."""
        if self._task is not None:
            await self._task
        self._good_until = 0.0


def _unanswered() -> Rejection:
    rejection = unavailable("The database does not answer just now.")
    rejection.__cause__ = TimeoutError(f"no answer to a write in {_ANSWER_SECONDS:g} s")
    return rejection
