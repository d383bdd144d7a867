"""Checks that the database accepts writes, by writing to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from tickover.api.errors import Rejection
from tickover.server.storage.store import DatabaseUnavailable

_TIMEOUT_SECONDS: Final = 1.0
_CACHE_SECONDS: Final = 1.0
"""A successful write counts for this long, so that frequent checks don't load the database."""


class WriteProbe:
    """Shares one probe write between all callers, and caches success for a second."""

    def __init__(self, write: Callable[[], Awaitable[object]]) -> None:
        self._write = write
        self._task: asyncio.Task[Rejection | None] | None = None
        self._valid_until = 0.0

    async def check(self) -> None:
        """Raise UNAVAILABLE unless the database accepts a write, or accepted one within the last second."""
        if asyncio.get_running_loop().time() < self._valid_until:
            return
        # The write continues after its callers time out, because finding the primary may take longer.
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._try_write())
        task = self._task
        done, _ = await asyncio.wait((task,), timeout=_TIMEOUT_SECONDS)
        if not done:
            raise DatabaseUnavailable("timeout", TimeoutError(f"no response to a write within {_TIMEOUT_SECONDS:g} s"))
        failure = task.result()
        if failure is not None:
            raise failure.copy() if isinstance(failure, DatabaseUnavailable) else failure

    async def _try_write(self) -> Rejection | None:
        try:
            await self._write()
        except Rejection as rejection:
            return rejection.with_traceback(None)
        self._valid_until = asyncio.get_running_loop().time() + _CACHE_SECONDS
        return None

    async def close(self) -> None:
        """Wait for a running write. Later checks write again, and fail if the store is closed."""
        if self._task is not None:
            await self._task
        self._valid_until = 0.0
