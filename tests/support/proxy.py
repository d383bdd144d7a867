"""A proxy between the server and PostgreSQL that closes connections at a chosen statement, or blocks all traffic.

It runs in its own thread, so that a test can wait for the program. It parses the protocol to find statements and the
end of their execution, so connections don't use TLS.
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine
from threading import Thread
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

_Result = TypeVar("_Result")
_PARSE, _BIND, _SYNC, _READY = b"P", b"B", b"S", b"Z"

Cut = Literal["before", "after", "silent"]
"""When the client loses its response: before the statement runs, or after its commit.

With `silent`, the connection also stays open."""


class Proxy:
    """Forwards to PostgreSQL on a local port. A context manager."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self.cuts = 0
        """Number of connections closed by the proxy."""
        self.round_trips = 0
        """Number of times that a client asked the server to run what it has sent, and waited."""
        self._to = port
        self._marked = b""
        self._how: Cut = "after"
        self._is_armed = False
        self._open = asyncio.Event()
        self._open.set()
        self._conversations: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._take, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def url_of(self, url: str) -> str:
        """Return the URL of the same database through the proxy."""
        parts = urlsplit(url)
        user = parts.netloc.rpartition("@")[0]
        return parts._replace(netloc=f"{user}@127.0.0.1:{self.port}", query="sslmode=disable").geturl()

    def cut(self, statement: str, how: Cut) -> None:
        """Close the next connection that runs a statement with this text."""
        self._marked, self._how, self._is_armed = statement.encode(), how, True

    def cancel_cut(self) -> None:
        """Take back the last `cut`, if nothing was cut yet."""
        self._is_armed = False

    def hold(self) -> None:
        """Block all traffic silently. New connections are accepted and blocked too."""
        self._run(self._set_open(False))

    def release(self) -> None:
        """Forward the held bytes and all later traffic."""
        self._run(self._set_open(True))

    def _run(self, act: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a function in the proxy's thread, and wait for it."""
        return asyncio.run_coroutine_threadsafe(act, self._loop).result()

    async def _set_open(self, is_open: bool) -> None:
        if is_open:
            self._open.set()
        else:
            self._open.clear()

    async def _close(self) -> None:
        self._server.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)
        await self._server.wait_closed()

    def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        conversation = self._loop.create_task(self._converse(reader, writer))
        self._conversations.add(conversation)
        conversation.add_done_callback(self._conversations.discard)
        # It may be cancelled before it starts.
        conversation.add_done_callback(lambda _: writer.close())

    async def _converse(self, from_client: StreamReader, to_client: StreamWriter) -> None:
        writers = [to_client]
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._to)
            writers.append(to_server)
            mark = _Mark()
            both = [
                asyncio.ensure_future(self._forth(from_client, to_server, mark)),
                asyncio.ensure_future(self._back(from_server, to_client, mark)),
            ]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in both:
                    way.cancel()
                await asyncio.gather(*both, return_exceptions=True)
        except ConnectionError:
            pass  # The server is unreachable, so the client is disconnected.
        finally:
            for writer in writers:
                writer.close()
            await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    async def _forth(self, reader: StreamReader, writer: StreamWriter, mark: "_Mark") -> None:
        statements: dict[bytes, bytes] = {}
        messages = _Messages(untyped=1)
        while data := await reader.read(65_536):
            await self._open.wait()
            for kind, body in messages.feed(data):
                if kind == _PARSE:
                    name, statement, *_ = body.split(b"\0", 2)
                    statements[name] = statement
                elif kind == _SYNC:
                    self.round_trips += 1
                elif kind == _BIND and self._is_armed and self._marked in statements[body.split(b"\0", 2)[1]]:
                    self._is_armed, mark.cut = False, self._how
            if mark.cut == "before":
                self.cuts += 1
                return
            writer.write(data)
            await writer.drain()

    async def _back(self, reader: StreamReader, writer: StreamWriter, mark: "_Mark") -> None:
        messages = _Messages()
        while data := await reader.read(65_536):
            await self._open.wait()
            is_done = any(kind == _READY for kind, _ in messages.feed(data))
            if mark.cut is None:
                writer.write(data)
                await writer.drain()
            elif is_done:
                self.cuts += 1
                if mark.cut == "after":
                    return


class _Mark:
    """State of one proxied connection."""

    cut: Cut | None = None


class _Messages:
    """Splits a stream into messages: type, length and body. The first message of a client has no type."""

    def __init__(self, untyped: int = 0) -> None:
        self._untyped = untyped
        self._rest = b""

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Return the complete messages."""
        found: list[tuple[bytes, bytes]] = []
        self._rest += data
        while True:
            typed = 0 if self._untyped else 1
            if len(self._rest) < typed + 4:
                return found
            end = typed + int.from_bytes(self._rest[typed : typed + 4], "big")
            if len(self._rest) < end:
                return found
            found.append((self._rest[:typed], self._rest[typed + 4 : end]))
            self._rest = self._rest[end:]
            self._untyped = 0
