"""Limits of one process: sizes of requests, sockets, memory and deadlines."""

from typing import Final, NamedTuple

RESERVED_CONNECTIONS: Final = 64
"""Connections over the limit that are still read, so that health checks get a response."""


class Limits(NamedTuple):
    head_bytes: int
    """Size of the head of a request: its first line and its headers."""
    body_bytes: int
    deadline_seconds: float
    """Time for a request to arrive, and for a client to read a response."""
    connections: int = 5000
    reserved_connections: int = RESERVED_CONNECTIONS
    keep_alive_seconds: float = 75
    request_bytes: int = 64 * 2**20
    """Total size of bodies that are arriving, queued or handled."""
    unread_bytes: int = 64 * 2**20
    """Total size of responses that clients have not read, besides the kernel's buffers."""
