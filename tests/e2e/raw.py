"""Connections on which a test says what it likes, byte for byte, and a door in its own process to try them on."""

import asyncio
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Self
from urllib.parse import urlsplit

from tests.support.program import Program
from tests.support.world import HttpResponse
from tickover.server.http.messages import Request, RequestError, Response
from tickover.server.http.pool import Limits
from tickover.server.http.server import Server

WAIT_SECONDS = 20.0


class Client:
    """One connection, on which a test says what it likes, byte for byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def connect(cls, port: int) -> AsyncIterator[Self]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()

    async def raw_answer(self) -> tuple[bytes, bytes]:
        """Head and body of the next answer, as they came."""
        async with asyncio.timeout(WAIT_SECONDS):
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: *([0-9]+)\r\n", head, re.IGNORECASE)
            return head, await self._reader.readexactly(int(length[1]) if length else 0)

    async def raw_until(self, end: bytes) -> bytes:
        """All that comes, to the end of these bytes."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.readuntil(end)

    async def answer(self) -> HttpResponse:
        """The next answer, whole."""
        head, body = await self.raw_answer()
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return HttpResponse(int(first.split()[1]), headers, body)

    async def ask(self, *pieces: bytes) -> HttpResponse:
        await self.say(*pieces)
        return await self.answer()

    async def read(self, size: int) -> bytes:
        """Read exactly `size` bytes."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.readexactly(size)

    async def end(self) -> bytes:
        """All that comes until the server closes the connection."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.read()

    def abort(self) -> None:
        """Go away, and leave unread what is on its way."""
        self._writer.transport.abort()

    def reset(self) -> None:
        """Reset the connection."""
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def half_close(self) -> None:
        """Send no more, and go on reading."""
        self._writer.write_eof()

    async def say_until_cut(self, piece: bytes, most: int) -> int:
        """Say the same again and again, at most so many bytes: how many it took until the server closed."""
        said = 0
        ended = asyncio.create_task(self.end())
        with suppress(ConnectionError):
            while said < most and not ended.done():
                await self.say(piece)
                said += len(piece)
                # The end is seen only when the loop goes round.
                await asyncio.sleep(0)
        with suppress(ConnectionError):
            await ended
        return said


def request(method: str, path: str, *headers: str, host: str | None = "localhost") -> bytes:
    """The head of a request."""
    named = [] if host is None else [f"Host: {host}"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *named, *headers, "", ""]).encode()


def post(*headers: str, host: str = "localhost") -> bytes:
    """The head of a call."""
    return request("POST", "/rpc", "Content-Type: application/json", *headers, host=host)


def call(method: str, params: Any, *headers: str, host: str = "localhost") -> bytes:
    """A whole call."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return post(f"Content-Length: {len(body)}", *headers, host=host) + body


HELLO = request("GET", "/")


def port_of(program: Program) -> int:
    port = urlsplit(program.url).port
    assert port is not None
    return port


async def until_cut(slow: Client, trickle: bytes, fast: Client) -> bytes:
    """Trickle until the server closes, and be served on another connection all the while."""
    cut = asyncio.create_task(slow.end())
    while not cut.done():
        assert (await fast.ask(HELLO)).status == 200
        if trickle:
            with suppress(ConnectionError):
                await slow.say(trickle)
        await asyncio.wait([cut], timeout=0.02)
    return await cut


class Door:
    """The HTTP server with a short deadline, before a handler that does nothing but answer.

    The body of a call to `/rpc` says what is done with it.
    """

    HUGE = 50_000_000

    def __init__(self, limits: Limits) -> None:
        self.port = 0
        self.server = Server(self, limits)
        self.pool = self.server._pool
        self.bodies: list[bytes | None] = []
        """Of the calls that were begun."""
        self.errors: list[RequestError] = []
        self.may_answer = asyncio.Event()
        self.is_busy = asyncio.Event()

    def handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        match request.path:
            case "/refused":
                return _response(b"", 405)
            case "/rpc" if request.body is None:
                return _response(b"too large", 413)
            case "/rpc":
                return self._do(request.body)
            case "/busy":
                return self._do(b"busy")
        return _response(b"Hello")

    def reject(self, error: RequestError) -> Response:
        self.errors.append(error)
        return _response(b"", error.status)

    def is_health_check(self, request: Request) -> bool:
        return request.path == "/healthz"

    async def _do(self, body: bytes | None) -> Response:
        self.bodies.append(body)
        match body:
            case b"busy":
                self.is_busy.set()
                await self.may_answer.wait()
            case b"fault":
                raise RuntimeError("a fault of the application")
            case b"huge":
                return _response(bytes(self.HUGE))
        return _response(b"said: " + (body or b""))

    async def outlast_the_deadline(self) -> None:
        """Wait until someone who came later, and said nothing, has been cut."""
        async with Client.connect(self.port) as silent:
            assert (await silent.answer()).status == 408

    async def serve_another(self) -> None:
        """HttpResponse another client. Everything sent before has been read then."""
        async with Client.connect(self.port) as other:
            assert (await other.ask(HELLO)).status == 200

    async def until_begun(self, count: int) -> None:
        """Wait until so many calls have begun."""
        async with asyncio.timeout(WAIT_SECONDS):
            while len(self.bodies) < count:  # noqa: ASYNC110 - no event counts calls
                await asyncio.sleep(0)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that happens in the server."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not condition():
                async with Client.connect(self.port) as other:
                    assert (await other.ask(HELLO)).status == 200


def _response(body: bytes, status: int = 200) -> Response:
    return status, [(b"content-length", b"%d" % len(body))], body


@asynccontextmanager
async def open_door(keep_alive_seconds: float = 60, **limits: Any) -> AsyncIterator[Door]:
    door = Door(Limits(keep_alive_seconds=keep_alive_seconds, **{"deadline_seconds": 0.4, **limits}))
    listener = socket.create_server(("127.0.0.1", 0))
    door.port = listener.getsockname()[1]
    door.server.start(listener)
    try:
        yield door
    finally:
        door.may_answer.set()
        await door.server.stop(0)
