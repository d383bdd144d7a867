"""Listens on a socket, and stops in good order."""

import asyncio
import errno
import resource
import socket
from contextlib import suppress
from typing import Final

from tickover.server.http.connection import Connection
from tickover.server.http.messages import RequestHandler
from tickover.server.http.pool import RESERVED_CONNECTIONS, Limits, Pool

_BACKLOG: Final = 2048
_ACCEPTED_AT_ONCE: Final = 100
_ACCEPT_AGAIN_SECONDS: Final = 1.0
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_ARRIVING_SECONDS: Final = 1.0
"""For requests that are arriving when the server stops."""
_LAST_REQUESTS_SECONDS: Final = 0.25
"""For requests on new connections at the end of the drain."""


_OTHER_FILES: Final = 256
"""Kept for what is no connection of a client: databases, mail, the console's files."""


def raise_file_limit(connections: int) -> int:
    """Have the process allowed to open so many connections; return how many it is allowed, at most as many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    beside = RESERVED_CONNECTIONS + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < connections + beside:
        soft = connections + beside if hard == resource.RLIM_INFINITY else min(connections + beside, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == resource.RLIM_INFINITY else max(1, min(connections, soft - beside))


class Server:
    """Serves a handler over HTTP."""

    def __init__(self, handler: RequestHandler, limits: Limits) -> None:
        self._handler = handler
        self._pool = Pool(limits)
        self._listener: socket.socket | None = None
        self._accepting: set[asyncio.Task[None]] = set()

    def start(self, listener: socket.socket) -> None:
        """Accept connections on a socket that is bound."""
        self._listener = listener
        listener.setblocking(False)
        listener.listen(_BACKLOG)
        asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        # A server of uvloop accepts one connection each time round its loop. Under load that takes long, and a health
        # check would have to wait for all connections before it.
        loop = asyncio.get_running_loop()
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, _ = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_FILES:
                    # It would be tried again at once, and as often as the loop goes round.
                    loop.remove_reader(listener)
                    loop.call_later(_ACCEPT_AGAIN_SECONDS, self._accept_again, listener)
                    return
                continue
            task = loop.create_task(self._open(accepted))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    def _accept_again(self, listener: socket.socket) -> None:
        if not self._pool.is_stopping:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    async def _open(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        # The client may be gone already.
        with suppress(OSError):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(lambda: Connection(self._handler, self._pool), accepted)

    def drain(self) -> None:
        """Close each connection after its next response."""
        self._pool.is_draining = True

    async def stop(self, grace_seconds: float) -> int:
        """Stop listening, finish accepted requests, and close; return how many calls were not done within the grace."""
        pool = self._pool
        was_draining, pool.is_draining, pool.is_stopping = pool.is_draining, True, True
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            # Closing the socket resets the connections that wait in its backlog.
            self._accept(self._listener)
            self._listener.close()
            self._listener = None
        await asyncio.gather(*self._accepting, return_exceptions=True)
        if was_draining and pool.connections:
            # Clients whose connections were closed have connected again, and their requests may be on the way.
            await asyncio.sleep(_LAST_REQUESTS_SECONDS)
        for connection in list(pool.connections):
            connection.stop()
        pool.note_progress()
        cut = asyncio.get_running_loop().call_later(_ARRIVING_SECONDS, self._close_receiving)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await pool.is_empty.wait()
        cut.cancel()
        discarded = pool.discard_waiting_calls()
        undone = list(pool.tasks)
        for task in undone:
            task.cancel()
        for connection in list(pool.connections):
            connection.abort()
        await asyncio.gather(*undone, return_exceptions=True)
        return len(undone) + discarded

    def end_wait(self) -> None:
        """Have `stop` wait no longer."""
        self._pool.is_empty.set()

    def _close_receiving(self) -> None:
        for connection in list(self._pool.connections):
            if connection.is_receiving():
                connection.close()
