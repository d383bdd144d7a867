"""Faults of clients: requests that never end, responses that nobody reads, and floods of connections."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from lab.http_requests import http_request
from lab.soak.faults.fault import fault
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad

_CLIENTS = 300
_RESETS = 1000
_MANY = 100
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@asynccontextmanager
async def _connections(servers: Servers, count: int) -> AsyncIterator[list[socket.socket]]:
    """Open connections. The server may reject some of them."""
    address = urlsplit(servers.program.url)
    opened = []
    for number in range(count):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex((address.hostname, address.port))
        opened.append(connection)
        if number % 50 == 0:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    try:
        yield opened
    finally:
        for connection in opened:
            connection.close()


def _send(connections: list[socket.socket], content: bytes) -> None:
    for connection in connections:
        with suppress(OSError):
            connection.send(content)


@fault("half heads")
async def half_heads(servers: Servers, load: WriteLoad) -> None:
    async with _connections(servers, _CLIENTS) as connections:
        _send(connections, b"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-")
        await load.succeed(_MANY)


@fault("slow bodies")
async def slow_bodies(servers: Servers, load: WriteLoad) -> None:
    """One byte at a time."""
    async with _connections(servers, _CLIENTS) as connections:
        _send(connections, b"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(10):
            _send(connections, b"[")
            await load.succeed(_MANY // 10)


@fault("unread responses")
async def unread_responses(servers: Servers, load: WriteLoad) -> None:
    call = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}'
    request = http_request(b"[" + b",".join([call] * 50) + b"]")
    async with _connections(servers, _CLIENTS) as connections:
        _send(connections, request)
        await load.succeed(_MANY)


@fault("idle connections")
async def idle_connections(servers: Servers, load: WriteLoad) -> None:
    async with _connections(servers, 2000):
        await load.succeed(_MANY)


@fault("reset connections")
async def reset_connections(servers: Servers, load: WriteLoad) -> None:
    """Requests whose connections are reset before the response."""
    request = http_request(b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}')
    for _ in range(_RESETS // 50):
        async with _connections(servers, 50) as connections:
            _send(connections, request)
            for connection in connections:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    await load.succeed(_MANY)


@fault("garbage instead of HTTP")
async def garbage(servers: Servers, load: WriteLoad) -> None:
    async with _connections(servers, _CLIENTS) as connections:
        _send(connections, bytes(range(256)) * 8)
        await load.succeed(_MANY)
