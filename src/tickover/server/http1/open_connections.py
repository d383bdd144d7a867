"""Limits over all connections of one process: sockets, and memory of requests and responses."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple, Protocol

RESERVED_CONNECTIONS: Final = 64
"""Connections over the limit that are still read, so that health checks get a response."""
MAX_BODY_BYTES_PER_ITERATION: Final = 256 * 2**10
"""Total size of the calls that start in one iteration of the event loop, so that large calls don't delay others."""


class HttpLimits(NamedTuple):
    """Limits of one process: sizes of requests, sockets, memory and deadlines."""

    head_bytes: int
    """Size of the head of a request: its first line and its headers."""
    body_bytes: int
    deadline_seconds: float
    """Time for a request to arrive, and for a client to read a response."""
    connections: int = 5000
    reserved_connections: int = RESERVED_CONNECTIONS
    health_checks: frozenset[str] = frozenset()
    """Paths that are served on connections over the limit."""
    keep_alive_seconds: float = 75
    request_bytes: int = 64 * 2**20
    """Total size of bodies that are arriving, queued or handled."""
    unread_bytes: int = 64 * 2**20
    """Total size of responses that clients have not read, besides the kernel's buffers."""


class PooledConnection(Protocol):
    """What a pool does with its connections."""

    def reject_request(self) -> None: ...
    def is_receiving(self) -> bool: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def stop(self) -> None: ...


class OpenConnections:
    """The connections of one process, and what they hold: sockets, requests in memory, unread responses and calls.

    Each dictionary is ordered by insertion, oldest first.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self.connections: set[PooledConnection] = set()
        self._idle: dict[PooledConnection, float] = {}
        """Idle connections, with the time at which they became idle."""
        self.receiving: dict[PooledConnection, None] = {}
        """Connections with a body that arrives in several packets."""
        self.unread: dict[PooledConnection, int] = {}
        """Connections with an unread response, with its size."""
        self._over_limit: dict[PooledConnection, None] = {}
        """Connections that may only be used for health checks."""
        self.request_bytes = 0
        self.tasks: set[asyncio.Task[Any]] = set()
        self._waiting_calls: deque[tuple[Coroutine[Any, Any, None], int]] = deque()
        self._bytes_started = 0
        self.is_draining = False
        """True if each response is the last of its connection. Set before `is_stopping`."""
        self.is_stopping = False
        self.is_empty = asyncio.Event()

    # Connections

    def add(self, connection: PooledConnection, now: float) -> None:
        """Add a connection. Over the limit, close the longest idle one, or accept only health checks."""
        if len(self.connections) - len(self._over_limit) >= self._limits.connections and self._idle:
            longest_idle = next(iter(self._idle))
            longest_idle.close()
            self.remove(longest_idle)
        self.connections.add(connection)
        if len(self.connections) - len(self._over_limit) <= self._limits.connections:
            self._idle[connection] = now
        else:
            self._over_limit[connection] = None
            if len(self._over_limit) > self._limits.reserved_connections:
                next(iter(self._over_limit)).reject_request()

    def remove(self, connection: PooledConnection) -> None:
        """Remove a connection that is closed or closing."""
        self.connections.discard(connection)
        for order in (self._idle, self.receiving, self.unread, self._over_limit):
            order.pop(connection, None)
        self.check_empty()

    def start_idle(self, connection: PooledConnection, now: float) -> None:
        """Count a connection as idle, from now on."""
        self._idle[connection] = now

    def end_idle(self, connection: PooledConnection) -> None:
        self._idle.pop(connection, None)

    def idle_since(self, connection: PooledConnection) -> float | None:
        return self._idle.get(connection)

    # Requests in memory

    def start_body(self, connection: PooledConnection) -> None:
        """Note that a body arrives in several packets."""
        self.receiving.setdefault(connection)

    def end_body(self, connection: PooledConnection) -> None:
        self.receiving.pop(connection, None)

    def request_arrived(self, connection: PooledConnection) -> bool:
        """Note that a request is complete. Return whether its connection may only be used for health checks."""
        if self.receiving:
            self.receiving.pop(connection, None)
        return connection in self._over_limit

    def count_request_bytes(self, size: int) -> None:
        """Add to the size of all requests in memory. A negative size subtracts."""
        self.request_bytes += size

    def reject_bodies_over_limit(self, connection: PooledConnection) -> bool:
        """Reject the oldest arriving bodies while the total size is over the limit. Return whether it was.

        A body arrives at the connection.
        """
        if self.request_bytes <= self._limits.request_bytes:
            return False
        self.start_body(connection)
        while self.request_bytes > self._limits.request_bytes and self.receiving:
            next(iter(self.receiving)).reject_request()
        return True

    def end_arrival(self, connection: PooledConnection) -> None:
        """Forget the request that a connection receives, which is rejected."""
        self.receiving.pop(connection, None)
        self._over_limit.pop(connection, None)

    # Unread responses

    def start_unread(self, connection: PooledConnection, size: int) -> None:
        """Add an unread response. Close the connections with the oldest ones while the total is over the limit."""
        self.unread[connection] = size
        excess = sum(self.unread.values()) - self._limits.unread_bytes
        for waiting, waiting_size in list(self.unread.items()):
            if excess <= 0:
                return
            del self.unread[waiting]
            waiting.abort()
            excess -= waiting_size

    def end_unread(self, connection: PooledConnection) -> None:
        self.unread.pop(connection, None)

    # Calls

    def start_call(self, call: Coroutine[Any, Any, None], body_size: int) -> None:
        """Start a call now, or in a later iteration of the event loop after large calls."""
        if self._waiting_calls or self._bytes_started >= MAX_BODY_BYTES_PER_ITERATION:
            self._waiting_calls.append((call, body_size))
            return
        if not self._bytes_started:
            asyncio.get_running_loop().call_soon(self._begin_iteration)
        self._start(call, body_size)

    def _begin_iteration(self) -> None:
        self._bytes_started = 0
        while self._waiting_calls and self._bytes_started < MAX_BODY_BYTES_PER_ITERATION:
            self._start(*self._waiting_calls.popleft())
        if self._bytes_started:
            asyncio.get_running_loop().call_soon(self._begin_iteration)

    def _start(self, call: Coroutine[Any, Any, None], body_size: int) -> None:
        self._bytes_started += body_size + 1
        self.tasks.add(asyncio.get_running_loop().create_task(call))

    def end_call(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        self.check_empty()

    def discard_waiting_calls(self) -> int:
        """Discard the calls that have not started, and return their number."""
        discarded = len(self._waiting_calls)
        while self._waiting_calls:
            self._waiting_calls.popleft()[0].close()
        return discarded

    def check_empty(self) -> None:
        """Set `is_empty` if the server is stopping and all connections and calls have ended."""
        if self.is_stopping and not self.connections and not self.tasks and not self._waiting_calls:
            self.is_empty.set()
