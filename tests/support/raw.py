"""A client that sends raw bytes, and an HTTP server in the test's own process."""

import asyncio
import json
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Self
from urllib.parse import urlsplit

from tests.support.program import Program
from tests.support.world import HttpResponse
from tickover.api.limits import MAX_BODY, MAX_HEAD
from tickover.server.http1.http_messages import Request, RequestError, Response
from tickover.server.http1.http_server import Endpoint, HttpServer
from tickover.server.http1.open_connections import HttpLimits

WAIT_SECONDS = 120.0
SHORT_DEADLINE_SECONDS = 0.4
"""For servers whose deadline a test waits for. On a busy machine, other clients could exceed it too."""


class Client:
    """A connection that sends raw bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def connect(cls, port: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[Self]:
        name = "localhost" if tls else None
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()

    async def raw_until(self, end: bytes) -> bytes:
        """Read until these bytes."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.readuntil(end)

    async def response(self) -> HttpResponse:
        """Read the next response."""
        async with asyncio.timeout(WAIT_SECONDS):
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: *([0-9]+)\r\n", head, re.IGNORECASE)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return HttpResponse(int(first.split()[1]), headers, body)

    async def request(self, *pieces: bytes) -> HttpResponse:
        await self.send(*pieces)
        return await self.response()

    async def read_to_end(self) -> bytes:
        """Read until the server closes the connection."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.read()

    def reset(self) -> None:
        """Reset the connection."""
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def half_close(self) -> None:
        """Close the connection for writing only."""
        self._writer.write_eof()

    async def send_until_disconnected(self, piece: bytes, most: int) -> int:
        """Send the same piece repeatedly, up to `most` bytes. Return the bytes sent until the server closed."""
        said = 0
        ended = asyncio.create_task(self.read_to_end())
        with suppress(ConnectionError):
            while said < most and not ended.done():
                await self.send(piece)
                said += len(piece)
                # Let the event loop notice the end.
                await asyncio.sleep(0)
        with suppress(ConnectionError):
            await ended
        return said


def request(method: str, path: str, *headers: str, host: str | None = "localhost") -> bytes:
    """Return the head of a request."""
    named = [] if host is None else [f"Host: {host}"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *named, *headers, "", ""]).encode()


def post(*headers: str, host: str = "localhost") -> bytes:
    """Return the head of a call."""
    return request("POST", "/rpc", "Content-Type: application/json", *headers, host=host)


def call(method: str, params: Any, *headers: str, host: str = "localhost") -> bytes:
    """Return a complete call."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return post(f"Content-Length: {len(body)}", *headers, host=host) + body


def echo_call(body: bytes, *headers: str) -> bytes:
    """Return a call whose body selects the behaviour of the echo server."""
    return post(f"Content-Length: {len(body)}", *headers) + body


HELLO = request("GET", "/")


def port_of(program: Program) -> int:
    port = urlsplit(program.url).port
    assert port is not None
    return port


async def wait_for(condition: Callable[[], object]) -> None:
    """Run the event loop until a condition holds."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(0.001)


async def wait_until_disconnected(slow: Client, trickle: bytes, fast: Client) -> bytes:
    """Send slowly until the server closes. Meanwhile, check that another client is served."""
    cut = asyncio.create_task(slow.read_to_end())
    async with asyncio.timeout(WAIT_SECONDS):
        while not cut.done():
            assert (await fast.request(HELLO)).status == 200
            if trickle:
                with suppress(ConnectionError):
                    await slow.send(trickle)
            await asyncio.wait([cut], timeout=0.02)
    return await cut


class EchoServer:
    """An HTTP server with a handler that echoes bodies.

    The body of a call to `/rpc` says what is done with it.
    """

    HUGE = 50_000_000

    def __init__(self, limits: HttpLimits, tls: ssl.SSLContext | None = None) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.http_server = HttpServer([Endpoint(listener, self.handle, self.reject, tls)], limits)
        self.pool = self.http_server._pool
        self.bodies: list[bytes | None] = []
        """Bodies of the calls that have started."""
        self.fields: Mapping[bytes, bytes] = {}
        """Headers of the last request."""
        self.busy_request = Request("POST", "/rpc")
        """The last request of a busy call."""
        self.may_respond = asyncio.Event()
        self.is_busy = asyncio.Event()

    def handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        self.fields = request.fields
        match request.path:
            case "/refused":
                return _response(b"", 405)
            case "/rpc" if request.body is None:
                return _response(b"too large", 413)
            case "/rpc":
                return self._do(request, request.body)
        return _response(b"Hello")

    def reject(self, error: RequestError) -> Response:
        return _response(b"", error.status)

    async def _do(self, request: Request, body: bytes | None) -> Response:
        self.bodies.append(body)
        match body:
            case b"busy":
                self.busy_request = request
                self.is_busy.set()
                await self.may_respond.wait()
            case b"fault":
                raise RuntimeError("a fault of the application")
            case b"huge":
                return _response(bytes(self.HUGE))
        return _response(b"echo: " + (body or b""))

    async def wait_for_deadline(self) -> None:
        """Wait until the deadline of a new, silent connection has passed."""
        async with Client.connect(self.port) as silent:
            assert (await silent.response()).status == 408

    async def serve_other_client(self) -> None:
        """Serve another client. Afterwards, the server has read all earlier bytes."""
        async with Client.connect(self.port) as other:
            assert (await other.request(HELLO)).status == 200


def _response(body: bytes, status: int = 200) -> Response:
    return status, [], body


@asynccontextmanager
async def run_echo_server(
    keep_alive_seconds: float = 60, tls: ssl.SSLContext | None = None, **limits: Any
) -> AsyncIterator[EchoServer]:
    given = {"deadline_seconds": WAIT_SECONDS, "keep_alive_seconds": keep_alive_seconds, **limits}
    server = EchoServer(HttpLimits(MAX_HEAD, MAX_BODY, health_checks=frozenset({"/healthz"}), **given), tls)
    server.http_server.start()
    try:
        yield server
    finally:
        server.may_respond.set()
        if not server.pool.is_stopping:
            await server.http_server.stop(0)
