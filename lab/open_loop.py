"""Open-loop load: requests are sent at a fixed rate, whether or not earlier ones have responses.

The latency of a request counts from the time it was due, so a server that stalls can't hide its delay.
"""

import asyncio
import math
import re
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

import uvloop

_Result = TypeVar("_Result")

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_TICK_SECONDS = 0.001
_END_SECONDS = 30.0
LOST = 0
"""The status of a request whose connection was lost."""


class Request(NamedTuple):
    """A request, and a function that gets the status and the body of its response."""

    content: bytes
    receive: Callable[[int, bytes], None]


class Measured:
    """The outcomes of a load."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.latencies = array("d")
        self.seconds = 0.0

    @property
    def sent(self) -> int:
        return self.statuses.total()

    def rate(self, status: int) -> float:
        return self.statuses[status] / self.seconds


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below this share of all values."""
    assert values, "nothing was measured"
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


class _Client(asyncio.Protocol):
    """A keep-alive connection with at most one request."""

    def __init__(self, finish: Callable[["_Client", int, bytes], None]) -> None:
        self._finish = finish
        self._transport: asyncio.WriteTransport | None = None
        self._received = b""
        self.request: Request | None = None
        self.due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses.
        self._transport = cast("asyncio.WriteTransport", transport)

    def send(self, request: Request, due: float) -> None:
        self.request, self.due = request, due
        assert self._transport is not None
        self._transport.write(request.content)

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data if self._received else data
        end = received.find(_HEAD_END)
        if end < 0:
            return
        length = _LENGTH.search(received, 0, end)
        total = end + len(_HEAD_END) + (int(length[1]) if length else 0)
        if len(received) >= total:
            self._received = received[total:]
            self._finish(self, int(received[9:12]), received[end + len(_HEAD_END) : total])

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._finish(self, LOST, b"")

    @property
    def is_connected(self) -> bool:
        return self._transport is not None

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def run_async(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run it on the fastest event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def after(seconds: float) -> Callable[[], bool]:
    """Return a condition that becomes true after this time."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline


class OpenLoop:
    """Sends the requests of `next_request` on a number of connections. Use it in one event loop.

    If no connection is free, a request waits, or is dropped with `drop`.
    """

    def __init__(self, url: str, next_request: Callable[[], Request], connections: int, drop: bool = False) -> None:
        self._address = urlsplit(url).hostname or "", urlsplit(url).port or 0
        self._next_request = next_request
        self._connections = connections
        self._drop = drop
        self._is_endless = False
        self._free: deque[_Client] = deque()
        self._clients: set[_Client] = set()
        self._waiting: deque[tuple[Request, float]] = deque()
        self.measured = Measured()

    async def run(self, rate: float, seconds: float, each_second: Callable[[int], None] = lambda _: None) -> Measured:
        """Send `rate` requests a second."""
        await self._connect_all()
        started = time.monotonic()
        due_count = 0
        seconds_passed = 0
        while (passed := time.monotonic() - started) < seconds:
            due = int(passed * rate) - due_count
            for number in range(due):
                self._submit(self._next_request(), started + (due_count + number) / rate)
            due_count += due
            if passed >= seconds_passed + 1:
                seconds_passed = int(passed)
                each_second(seconds_passed)
            await asyncio.sleep(_TICK_SECONDS)
        return await self._finish_all(started)

    async def run_at_peak(self, is_over: Callable[[], bool]) -> Measured:
        """Send the next request on each connection as soon as it has the response to the previous one."""
        await self._connect_all()
        started = time.monotonic()
        self._is_endless = True
        for _ in range(self._connections):
            self._submit(self._next_request(), started)
        while not is_over():  # noqa: ASYNC110 - it may be a time or a count
            await asyncio.sleep(_TICK_SECONDS)
        self._is_endless = False
        return await self._finish_all(started)

    async def _connect_all(self) -> None:
        await asyncio.gather(*(self._connect() for _ in range(self._connections)))
        self.measured = Measured()

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(lambda: _Client(self._finish), *self._address)
        self._clients.add(client)
        self._free.append(client)

    def _submit(self, request: Request, due: float) -> None:
        while self._free:
            client = self._free.popleft()
            if client.is_connected:
                client.send(request, due)
                return
        if not self._drop:
            self._waiting.append((request, due))

    def _finish(self, client: _Client, status: int, body: bytes) -> None:
        request, client.request = client.request, None
        if request is not None:
            self.measured.statuses[status] += 1
            self.measured.latencies.append(time.monotonic() - client.due)
            request.receive(status, body)
        if status == LOST:
            self._clients.discard(client)
        elif self._waiting:
            client.send(*self._waiting.popleft())
        elif self._is_endless:
            client.send(self._next_request(), time.monotonic())
        else:
            self._free.append(client)

    async def _finish_all(self, started: float) -> Measured:
        """Wait for the responses to requests that were sent."""
        self.measured.seconds = time.monotonic() - started
        deadline = time.monotonic() + _END_SECONDS
        while self._waiting or any(client.request for client in self._clients):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.01)
        self._waiting.clear()
        for client in list(self._clients):
            client.close()
        # Connections are closed in the next iteration of the event loop.
        await asyncio.sleep(0)
        return self.measured
