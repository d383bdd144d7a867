"""Connections on which a test says what it likes, byte for byte, and a door in its own process to try them on."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Self
from urllib.parse import urlsplit

from uvicorn import Config
from uvicorn.server import ServerState

from tests.program import Program
from tests.world import Answer
from tickover.pages import Response
from tickover.protocol import DeadlineProtocol

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

    async def answer(self) -> Answer:
        """The next answer, whole."""
        head, body = await self.raw_answer()
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Answer(int(first.split()[1]), headers, body)

    async def ask(self, *pieces: bytes) -> Answer:
        await self.say(*pieces)
        return await self.answer()

    async def end(self) -> bytes:
        """All that comes until the server closes the connection."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self._reader.read()

    def abort(self) -> None:
        """Go away, and leave unread what is on its way."""
        self._writer.transport.abort()

    async def say_until_cut(self, piece: bytes, most: int) -> int:
        """Say the same again and again, at most so many bytes: how many it took until the server closed."""
        said = 0
        async with asyncio.timeout(WAIT_SECONDS):
            with suppress(ConnectionError):
                while said < most and not self._reader.at_eof():
                    await self.say(piece)
                    said += len(piece)
                    # The end is seen only when the loop goes round.
                    await asyncio.sleep(0)
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


class Impatient(DeadlineProtocol):
    deadline_seconds = 0.4


class Door:
    """The program's protocol with a short deadline, before an application that does nothing but answer.

    What a call to `/rpc` says is what is done with it; the answer says by which way it came, and what it said.
    """

    HUGE = 50_000_000

    def __init__(self) -> None:
        self.port = 0
        self.state = ServerState()
        self.may_answer = asyncio.Event()
        self.is_busy = asyncio.Event()
        self.has_lost_one = asyncio.Event()

    async def answer(self, fields: Any, client: Any, body: bytes) -> Response:
        """The short way."""
        said = await self._do(b"short", body)
        return 200, [(b"content-length", b"%d" % len(said))], said

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/refused":
            await send({"type": "http.response.start", "status": 405, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        if scope["path"] == "/huge":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(1000):
                await send({"type": "http.response.body", "body": bytes(100_000), "more_body": True})
            return
        if scope["path"] == "/busy":
            await self.may_answer.wait()
        said = await self._do(b"usual", body) if scope["path"] == "/rpc" else b"Hello"
        headers = [(b"content-length", b"%d" % len(said))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})

    async def _do(self, way: bytes, body: bytes) -> bytes:
        match body:
            case b"busy":
                self.is_busy.set()
                await self.may_answer.wait()
            case b"fault":
                raise RuntimeError("a fault of the application")
            case b"huge":
                return bytes(self.HUGE)
        return way + b": " + body

    async def outlast_the_deadline(self) -> None:
        """Wait until someone who came later, and said nothing, has been cut."""
        async with Client.connect(self.port) as silent:
            assert (await silent.answer()).status == 408


@asynccontextmanager
async def open_door(keep_alive_seconds: float) -> AsyncIterator[Door]:
    door = Door()
    config = Config(
        door, http=Impatient, ws="none", loop="none", lifespan="off", log_config=None, access_log=False,
        proxy_headers=False, timeout_keep_alive=keep_alive_seconds,  # type: ignore[arg-type] # it takes fractions as well
    )  # fmt: skip

    class Protocol(Impatient):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            door.has_lost_one.set()

    server = await asyncio.get_running_loop().create_server(
        lambda: Protocol(config=config, server_state=door.state, app_state={}), "127.0.0.1", 0
    )
    door.port = server.sockets[0].getsockname()[1]
    async with server:
        yield door
        door.may_answer.set()
        for connection in list(door.state.connections):
            connection.transport.close()
        await asyncio.gather(*door.state.tasks, return_exceptions=True)
