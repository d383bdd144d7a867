"""The connections of one process, and the memory and sockets that they may use together."""

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tickover.server.http.connection import Connection

MAX_REQUEST_BYTES: Final = 64 * 2**20
"""Of bodies that are arriving, waiting or being answered: 64 of the largest, or many thousands of the usual size."""
MAX_UNREAD_BYTES: Final = 64 * 2**20
"""Of responses that clients have not taken from the process. The kernel's own buffers come first."""
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
        """Connections whose client has not taken all of its response, with the bytes that were left at first."""
        self.over_limit: dict[Connection, None] = {}
        self.request_bytes = 0
        self.tasks: set[asyncio.Task[Any]] = set()
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
        if sum(self.unread.values()) <= self.limits.unread_bytes:
            return
        self.unread = {waiting: waiting.unread_size() for waiting in self.unread}
        excess = sum(self.unread.values()) - self.limits.unread_bytes
        for waiting, waiting_size in list(self.unread.items()):
            if excess <= 0:
                return
            del self.unread[waiting]
            waiting.abort()
            excess -= waiting_size

    def note_progress(self) -> None:
        """See whether the last connection and the last call have ended, if that is waited for."""
        if self.is_stopping and not self.connections and not self.tasks:
            self.is_empty.set()
