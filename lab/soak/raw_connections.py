"""Keep-alive HTTP connections for many concurrent callers."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.support.world import HttpResponse

_WAIT_SECONDS = 60.0
_END = "\r\n"


class ConnectionLost(Exception):
    """The connection was lost before a response."""


class ResponseTruncated(Exception):
    """The connection was lost during a response."""


class RawConnection:
    """One connection. Responses have the order of the requests."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str | None) -> None:
        self._reader = reader
        self._writer = writer
        self._authorization = _authorization(token)

    def send(self, method: str, params: Any, token: str | None = None, key: str = "") -> None:
        """Send a call without waiting. `token` overrides the token of the connection."""
        headers = f"{_authorization(token) or self._authorization}{f'Idempotency-Key: {key}{_END}' if key else ''}"
        self.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers)

    def post(self, path: str, content: Any, headers: str = "") -> None:
        """Send JSON without waiting."""
        body = json.dumps(content).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"{headers}Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)

    def get(self, path: str, headers: str) -> None:
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode())

    async def receive(self) -> HttpResponse:
        """Return the next response. Raise ConnectionLost or ResponseTruncated if there is none."""
        async with asyncio.timeout(_WAIT_SECONDS):
            return await self._receive()

    async def _receive(self) -> HttpResponse:
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as end:
            raise (ResponseTruncated if end.partial else ConnectionLost) from end
        except ConnectionError as end:
            raise ConnectionLost from end
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        try:
            body = await self._reader.readexactly(int(headers["content-length"]))
        except (asyncio.IncompleteReadError, ConnectionError) as end:
            raise ResponseTruncated from end
        return HttpResponse(int(first.split()[1]), headers, body)

    async def call(self, method: str, params: Any) -> Any:
        """Return the JSON-RPC response."""
        self.send(method, params)
        return (await self.receive()).json

    def close(self) -> None:
        self._writer.close()

    async def wait_until_closed(self) -> None:
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            # The server closed the connection.
            return


def _authorization(token: str | None) -> str:
    return f"Authorization: Bearer {token}\r\n" if token else ""


async def connect(url: str, token: str | None = None) -> RawConnection:
    """Connect. Raise ConnectionError if no server listens."""
    parts = urlsplit(url)
    return RawConnection(*await asyncio.open_connection(parts.hostname, parts.port), token)


@asynccontextmanager
async def open_connections(url: str, count: int, token: str | None = None) -> AsyncIterator[list[RawConnection]]:
    """Open this number of connections, and close them at the end."""
    opened = await asyncio.gather(*(connect(url, token) for _ in range(count)))
    try:
        yield opened
    finally:
        for connection in opened:
            connection.close()
        await asyncio.gather(*(connection.wait_until_closed() for connection in opened))


async def call_all_at_once(
    connections: Sequence[RawConnection], method: str, every_params: Iterable[Any]
) -> list[HttpResponse]:
    """Send one call on each connection before the first response is read."""
    for connection, params in zip(connections, every_params, strict=True):
        connection.send(method, params)
    return await asyncio.gather(*(connection.receive() for connection in connections))
