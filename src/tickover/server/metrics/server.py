"""The port of the metrics: `GET /metrics`, for the whole server, from any of its workers."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from tickover import __version__
from tickover.api.errors import Rejection
from tickover.api.timestamps import Instant
from tickover.server.background import repeat
from tickover.server.http1.messages import Request, RequestError, Response
from tickover.server.http1.pool import Limits
from tickover.server.http1.server import Server
from tickover.server.logs import Log
from tickover.server.metrics.exposition import CONTENT_TYPE, Facts, render
from tickover.server.metrics.numbers import SharedNumbers
from tickover.server.settings import SettingError
from tickover.server.storage import schema_version
from tickover.server.storage.admin.statistics import Statistics, data_folder, read_statistics
from tickover.server.storage.urls import is_postgres

_LIMITS: Final = Limits(head_bytes=32 * 1024, body_bytes=1024, deadline_seconds=30, connections=32)
_GAUGE_SECONDS: Final = 1.0
_STATISTICS_SECONDS: Final = 60.0
"""Statistics of the database are read at most this often, because counting rows takes long."""
_STATISTICS_WAIT_SECONDS: Final = 5.0
"""Less than the timeout of Prometheus, 10 seconds."""
_TEXT: Final = b"text/plain; charset=utf-8"


class DatabaseFacts:
    """Reads the facts that only the database and the disk know."""

    def __init__(
        self, url: str, data_dir: Path, ping: Callable[[], Awaitable[None]], now: Callable[[], Instant]
    ) -> None:
        """`ping` raises UNAVAILABLE if the database doesn't respond."""
        self._url = url
        self._folder = data_folder(url, data_dir)
        self._ping = ping
        self._now = now
        self._reading: asyncio.Task[None] | None = None
        self._statistics: Statistics | None = None
        self._valid_until = 0.0
        self._build = {
            "version": __version__,
            "database": "postgresql" if is_postgres(url) else "sqlite",
            "schema_version": str(schema_version(url)),
        }

    async def read(self) -> Facts:
        statistics = None
        try:
            await self._ping()
            is_up = True
        except Rejection:
            is_up = False
        else:
            statistics = await self._read_statistics()
        return Facts(self._build, is_up, shutil.disk_usage(self._folder).free, statistics)

    async def _read_statistics(self) -> Statistics | None:
        """Return the statistics, or None if they can't be read. If reading takes long, return the previous ones."""
        if asyncio.get_running_loop().time() >= self._valid_until:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._update_statistics())
            done, _ = await asyncio.wait((self._reading,), timeout=_STATISTICS_WAIT_SECONDS)
            for reading in done:
                reading.result()
        return self._statistics

    async def _update_statistics(self) -> None:
        try:
            self._statistics = await read_statistics(self._url, self._now)
        except SettingError:
            # For example, PostgreSQL accepts no more connections.
            self._statistics = None
        else:
            self._valid_until = asyncio.get_running_loop().time() + _STATISTICS_SECONDS


class MetricsServer:
    """Serves the metrics."""

    def __init__(
        self,
        listener: socket.socket,
        numbers: SharedNumbers,
        publish: Callable[[], Awaitable[None]],
        facts: DatabaseFacts,
    ) -> None:
        """`publish` writes the gauges of this process."""
        self._listener = listener
        self._numbers = numbers
        self._publish = publish
        self._facts = facts
        self._server = Server(self._handle, self._reject, _LIMITS)

    @asynccontextmanager
    async def running(self, log: Log) -> AsyncIterator[None]:
        """Serve, and publish the gauges of this process once a second for the other workers."""
        publishing = asyncio.create_task(repeat(_GAUGE_SECONDS, "publication of gauges", self._publish, log))
        self._server.start(self._listener)
        try:
            yield
        finally:
            publishing.cancel()
            await asyncio.gather(publishing, return_exceptions=True)
            await self._server.stop(_GAUGE_SECONDS)

    def _handle(self, request: Request) -> Response | Coroutine[Any, Any, Response]:
        if request.path != "/metrics":
            return _respond(404, _TEXT, b"Not found. The metrics are at GET /metrics.\n")
        if request.method not in ("GET", "HEAD"):
            return _respond(405, _TEXT, b"Use GET.\n")
        return self._respond()

    async def _respond(self) -> Response:
        await self._publish()
        return _respond(200, CONTENT_TYPE, render(self._numbers, await self._facts.read()))

    def _reject(self, error: RequestError) -> Response:
        return _respond(error.status, _TEXT, error.message.encode() + b"\n")


def _respond(status: int, content_type: bytes, body: bytes) -> Response:
    return status, [(b"content-type", content_type), (b"content-length", b"%d" % len(body))], body
