"""A proxy that adds latency, as a network between the server and its database does."""

import socket
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import NamedTuple, Self

ROUND_TRIPS = "round trips of an advance"
DELAY_SECONDS = 0.001
_MAX_BYTES = 1 << 16


class DelayProxy:
    """Forwards connections to a port. Bytes towards the client arrive `DELAY_SECONDS` later, others at once.

    Threads wait more precisely than an event loop, whose timers have whole milliseconds.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets = [self._listener]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._sockets:
            # A socket that is only closed doesn't wake the thread that waits for it.
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=_forward, args=(client, server), daemon=True).start()
                delayed: SimpleQueue[_Piece] = SimpleQueue()
                threading.Thread(target=_receive, args=(server, delayed), daemon=True).start()
                threading.Thread(target=_send, args=(delayed, client), daemon=True).start()


class _Piece(NamedTuple):
    """Some bytes, and when they are due. No bytes at all are the end."""

    due: float
    content: bytes


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(_MAX_BYTES):
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)


def _receive(source: socket.socket, delayed: SimpleQueue[_Piece]) -> None:
    content = b"first"
    while content:
        try:
            content = source.recv(_MAX_BYTES)
        except OSError:
            content = b""
        delayed.put(_Piece(time.perf_counter() + DELAY_SECONDS, content))


def _send(delayed: SimpleQueue[_Piece], target: socket.socket) -> None:
    with suppress(OSError):
        while (piece := delayed.get()).content:
            time.sleep(max(0.0, piece.due - time.perf_counter()))
            target.sendall(piece.content)
        target.shutdown(socket.SHUT_WR)
