"""Listens on a socket, and stops in good order."""

import asyncio
import socket
from contextlib import suppress
from typing import Final

from tickover.http.connection import Connection
from tickover.http.messages import Handler
from tickover.http.pool import Limits, Pool

_BACKLOG: Final = 2048
_ARRIVING_SECONDS: Final = 1.0
"""For requests that are arriving when the server stops."""


class Server:
    """Serves a handler over HTTP."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        self._handler = handler
        self._pool = Pool(limits)
        self._listening: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Accept connections on a socket that is bound."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            lambda: Connection(self._handler, self._pool), sock=listener, backlog=_BACKLOG
        )

    async def stop(self, grace_seconds: float) -> int:
        """Accept no more, answer what was accepted, and close; return how many calls were not done within the grace."""
        if self._listening is not None:
            self._listening.close()
        pool = self._pool
        pool.is_stopping = True
        for connection in list(pool.connections):
            connection.stop()
        pool.note_progress()
        cut = asyncio.get_running_loop().call_later(_ARRIVING_SECONDS, self._close_receiving)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await pool.is_empty.wait()
        cut.cancel()
        undone = list(pool.tasks)
        for task in undone:
            task.cancel()
        for connection in list(pool.connections):
            connection.abort()
        await asyncio.gather(*undone, return_exceptions=True)
        return len(undone)

    def end_wait(self) -> None:
        """Have `stop` wait no longer."""
        self._pool.is_empty.set()

    def _close_receiving(self) -> None:
        for connection in list(self._pool.connections):
            if connection.is_receiving():
                connection.close()
