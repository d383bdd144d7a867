"""The connections of one process, and the memory and sockets that they may use together."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tickover.server.http.connection import Connection

MAX_REQUEST_BYTES: Final = 64 * 2**20
"""Of bodies that are arriving, waiting or being answered: 64 of the largest, or many thousands of the usual size."""
MAX_UNREAD_BYTES: Final = 64 * 2**20
"""Of responses that clients have not taken from the process. The kernel's own buffers come first."""
MAX_BODY_BYTES_PER_TURN: Final = 256 * 2**10
"""Of calls that start in one turn of the event loop, so that other clients wait for few large calls at a time."""
RESERVED_CONNECTIONS: Final = 64
"""Connections over the limit that are read, so that health checks among them can be answered."""


class Limits(NamedTuple):
    connections: int = 5000
    keep_alive_seconds: float = 75
    deadline_seconds: float = 30
    """For a request to arrive, and for a response to be taken."""
    request_bytes: int = MAX_REQUEST_BYTES
    unread_bytes: int = MAX_UNREAD_BYTES
    reserved_connections: int = RESERVED_CONNECTIONS


class Pool:
    """Each of the dictionaries has its connections in the order in which they came into it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.connections: set[Connection] = set()
        self.idle: dict[Connection, float] = {}
        """Connections on which nothing is under way, with the time since when."""
        self.receiving: dict[Connection, None] = {}
        """Connections on which a body is arriving in several packets."""
        self.unread: dict[Connection, int] = {}
        """Connections whose client has not taken all of its response, with the size of the response."""
        self.over_limit: dict[Connection, None] = {}
        self.request_bytes = 0
        self.tasks: set[asyncio.Task[Any]] = set()
        self._waiting_calls: deque[tuple[Coroutine[Any, Any, None], int]] = deque()
        self._bytes_started = 0
        self.is_draining = False
        """Whether each response is the last one of its connection. Set before `is_stopping`."""
        self.is_stopping = False
        self.is_empty = asyncio.Event()

    def admit(self, connection: "Connection", now: float) -> bool:
        """Add a connection; False if it is over the limit, so that nothing but health checks is answered on it."""
        if len(self.connections) - len(self.over_limit) >= self.limits.connections and self.idle:
            longest_idle = next(iter(self.idle))
            longest_idle.close()
            self.leave(longest_idle)
        self.connections.add(connection)
        if len(self.connections) - len(self.over_limit) <= self.limits.connections:
            self.idle[connection] = now
            return True
        self.over_limit[connection] = None
        if len(self.over_limit) > self.limits.reserved_connections:
            next(iter(self.over_limit)).reject_request()
        return False

    def leave(self, connection: "Connection") -> None:
        """Remove a connection that is lost or about to be."""
        self.connections.discard(connection)
        for order in (self.idle, self.receiving, self.unread, self.over_limit):
            order.pop(connection, None)
        self.note_progress()

    def make_room_for_requests(self) -> None:
        """Refuse the bodies that have been arriving the longest, while there are too many bytes of all."""
        while self.request_bytes > self.limits.request_bytes and self.receiving:
            next(iter(self.receiving)).reject_request()

    def note_unread(self, connection: "Connection", size: int) -> None:
        """Note a response that was not taken at once; cut the longest waiting while there are too many bytes of all."""
        self.unread[connection] = size
        excess = sum(self.unread.values()) - self.limits.unread_bytes
        for waiting, waiting_size in list(self.unread.items()):
            if excess <= 0:
                return
            del self.unread[waiting]
            waiting.abort()
            excess -= waiting_size

    def start_call(self, call: Coroutine[Any, Any, None], body_size: int) -> None:
        """Start a call now, or in a later turn of the event loop if large calls have started in this one."""
        if self._waiting_calls or self._bytes_started >= MAX_BODY_BYTES_PER_TURN:
            self._waiting_calls.append((call, body_size))
            return
        if not self._bytes_started:
            asyncio.get_running_loop().call_soon(self._begin_turn)
        self._start(call, body_size)

    def _begin_turn(self) -> None:
        self._bytes_started = 0
        while self._waiting_calls and self._bytes_started < MAX_BODY_BYTES_PER_TURN:
            self._start(*self._waiting_calls.popleft())
        if self._bytes_started:
            asyncio.get_running_loop().call_soon(self._begin_turn)

    def _start(self, call: Coroutine[Any, Any, None], body_size: int) -> None:
        self._bytes_started += body_size + 1
        self.tasks.add(asyncio.get_running_loop().create_task(call))

    def discard_waiting_calls(self) -> int:
        """Discard the calls that have not started; return how many."""
        discarded = len(self._waiting_calls)
        while self._waiting_calls:
            self._waiting_calls.popleft()[0].close()
        return discarded

    def note_progress(self) -> None:
        """See whether the last connection and the last call have ended, if that is waited for."""
        if self.is_stopping and not self.connections and not self.tasks and not self._waiting_calls:
            self.is_empty.set()
