"""A hostile client: `python -m lab.soak.hostile_client URL FILE` sends the requests of a file until it is ended."""

import json
import selectors
import socket
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

MAX_BYTES_PER_SECOND = 10_000_000 // 8
_MAX_SEND = 16_384
_MAX_RECEIVE = 1 << 20
_TICK_SECONDS = 0.005
_RECONNECT_SECONDS = 0.1
_OWN_ADDRESS = "127.6.6.6"
"""Other clients have another address, and other limits."""


class Behaviour(NamedTuple):
    """How a hostile client uses its connections."""

    connections: int = 8
    reads: bool = True
    leaves: bool = False
    """Whether each connection is closed as soon as its requests are sent."""
    bytes_per_second: int = MAX_BYTES_PER_SECOND


class Plan(NamedTuple):
    """A behaviour, and the requests that the connections send in turns, again and again."""

    behaviour: Behaviour
    contents: Sequence[bytes]

    def write(self, file: Path) -> None:
        contents = [b64encode(content).decode() for content in self.contents]
        file.write_text(json.dumps({"behaviour": self.behaviour._asdict(), "contents": contents}))

    @classmethod
    def read(cls, file: Path) -> Self:
        plan = json.loads(file.read_text())
        return cls(Behaviour(**plan["behaviour"]), [b64decode(content) for content in plan["contents"]])


class HostileClient:
    """Sends the requests of a plan at its rate, and replaces connections that are closed."""

    def __init__(self, url: str, plan: Plan) -> None:
        self._address = urlsplit(url).hostname or "", urlsplit(url).port or 0
        self._behaviour = plan.behaviour
        self._contents = cycle(plan.contents)
        self._selector = selectors.DefaultSelector()
        self._budget = 0.0
        self._connect_again = 0.0

    def run(self) -> None:
        before = time.monotonic()
        while True:
            now = time.monotonic()
            rate = self._behaviour.bytes_per_second
            self._budget = min(self._budget + (now - before) * rate, rate)
            before = now
            self._connect(now)
            for key, events in self._selector.select(_TICK_SECONDS):
                self._handle(key, events)
            time.sleep(_TICK_SECONDS)

    def _connect(self, now: float) -> None:
        missing = self._behaviour.connections - len(self._selector.get_map())
        if missing and now >= self._connect_again:
            self._connect_again = now + _RECONNECT_SECONDS
            for _ in range(missing):
                connection = socket.socket()
                connection.bind((_OWN_ADDRESS, 0))
                connection.setblocking(False)
                connection.connect_ex(self._address)
                both = selectors.EVENT_READ | selectors.EVENT_WRITE
                self._selector.register(connection, both, [next(self._contents)])

    def _handle(self, key: selectors.SelectorKey, events: int) -> None:
        connection, remaining = key.fileobj, key.data
        assert isinstance(connection, socket.socket)
        try:
            if events & selectors.EVENT_READ and self._behaviour.reads and not connection.recv(_MAX_RECEIVE):
                raise ConnectionResetError
            if events & selectors.EVENT_WRITE and self._budget > 0:
                sent = connection.send(remaining[0][:_MAX_SEND])
                self._budget -= sent
                remaining[0] = remaining[0][sent:]
                if not remaining[0]:
                    if self._behaviour.leaves:
                        raise ConnectionResetError
                    remaining[0] = next(self._contents)
        except BlockingIOError:
            pass
        except OSError:
            self._selector.unregister(connection)
            connection.close()


if __name__ == "__main__":
    HostileClient(sys.argv[1], Plan.read(Path(sys.argv[2]))).run()
