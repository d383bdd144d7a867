"""The HTTP server: listens on a socket, and stops gracefully."""

import asyncio
import errno
import resource
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from tickover.server.http1.http_connection import HttpConnection
from tickover.server.http1.http_messages import Handle, Reject
from tickover.server.http1.open_connections import RESERVED_CONNECTIONS, HttpLimits, OpenConnections

if TYPE_CHECKING:
    from ssl import SSLContext

_BACKLOG: Final = 2048
_MAX_ACCEPTS: Final = 100
_ACCEPT_RETRY_SECONDS: Final = 1.0
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_ARRIVING_SECONDS: Final = 1.0
"""Time for requests that are arriving when the server stops."""
_LAST_REQUESTS_SECONDS: Final = 0.25
"""Time for requests on new connections at the end of the drain."""
_OTHER_FILES: Final = 256
"""Files other than client connections: databases, mail, the console."""


def raise_file_limit(connections: int) -> int:
    """Raise the limit of open files for this number of connections. Return the number that the limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    other_files = RESERVED_CONNECTIONS + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < connections + other_files:
        soft = connections + other_files if hard == resource.RLIM_INFINITY else min(connections + other_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == resource.RLIM_INFINITY else max(1, min(connections, soft - other_files))


class Endpoint(NamedTuple):
    """A bound socket, and what handles its requests."""

    listener: socket.socket
    handle: Handle
    reject: Reject
    tls: "SSLContext | None" = None
    """The certificate, if the endpoint speaks HTTPS."""


class HttpServer:
    """Serves requests over HTTP. All endpoints share the limits."""

    def __init__(self, endpoints: Sequence[Endpoint], limits: HttpLimits) -> None:
        self._pool = OpenConnections(limits)
        self._listeners = [_Listener(endpoint, limits, self._pool) for endpoint in endpoints]

    def start(self) -> None:
        """Accept connections."""
        for listener in self._listeners:
            listener.start()

    @property
    def connection_count(self) -> int:
        return len(self._pool.connections)

    def drain(self) -> None:
        """Close each connection after its next response."""
        self._pool.is_draining = True

    async def stop(self, grace_seconds: float) -> int:
        """Stop listening, finish accepted requests, and close. Return the number of unfinished calls."""
        pool = self._pool
        was_draining, pool.is_draining, pool.is_stopping = pool.is_draining, True, True
        for listener in self._listeners:
            await listener.stop()
        if was_draining and pool.connections:
            # Clients whose connections were closed have connected again, and their requests may be on the way.
            await asyncio.sleep(_LAST_REQUESTS_SECONDS)
        for connection in list(pool.connections):
            connection.stop()
        pool.check_empty()
        close_timer = asyncio.get_running_loop().call_later(_ARRIVING_SECONDS, self._close_receiving)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await pool.is_empty.wait()
        close_timer.cancel()
        discarded = pool.discard_waiting_calls()
        unfinished = list(pool.tasks)
        for task in unfinished:
            task.cancel()
        for connection in list(pool.connections):
            connection.abort()
        await asyncio.gather(*unfinished, return_exceptions=True)
        return len(unfinished) + discarded

    def end_wait(self) -> None:
        """End the wait of `stop`."""
        self._pool.is_empty.set()

    def _close_receiving(self) -> None:
        for connection in list(self._pool.connections):
            if connection.is_receiving():
                connection.close()


class _Listener:
    """Accepts the connections of an endpoint."""

    def __init__(self, endpoint: Endpoint, limits: HttpLimits, pool: OpenConnections) -> None:
        self._socket = endpoint.listener
        self._pool = pool
        self._connect: Callable[[], asyncio.Protocol]
        self._connect = partial(HttpConnection, endpoint.handle, endpoint.reject, limits, pool)
        if endpoint.tls is not None:
            self._connect = partial(_connect_with_tls, self._connect, endpoint.tls)
        self._accepting: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._socket.setblocking(False)
        self._socket.listen(_BACKLOG)
        self._resume_accepting()

    async def stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        # Closing the socket resets the connections that wait in its backlog.
        self._accept()
        self._socket.close()
        await asyncio.gather(*self._accepting, return_exceptions=True)

    def _accept(self) -> None:
        # uvloop's own server accepts one connection per iteration of the loop. Under load, a health check would wait
        # for all connections before it.
        loop = asyncio.get_running_loop()
        for _ in range(_MAX_ACCEPTS):
            try:
                accepted, _ = self._socket.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_FILES:
                    # Without a pause, every iteration of the loop would try again.
                    loop.remove_reader(self._socket)
                    loop.call_later(_ACCEPT_RETRY_SECONDS, self._resume_accepting)
                    return
                continue
            task = loop.create_task(self._open(accepted))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    def _resume_accepting(self) -> None:
        if not self._pool.is_stopping:
            asyncio.get_running_loop().add_reader(self._socket, self._accept)

    async def _open(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        # The client may have disconnected.
        with suppress(OSError):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(self._connect, accepted)


def _connect_with_tls(connect: Callable[[], asyncio.Protocol], context: "SSLContext") -> asyncio.Protocol:
    from tickover.server.http1.tls import TlsConnection

    return TlsConnection(connect(), context)
