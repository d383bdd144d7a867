"""Finds free TCP ports on 127.0.0.1."""

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """Return a port that the system chooses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def reusable_port() -> int:
    """Return a port below the range that the system assigns, so that no other process gets it during a restart."""
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
