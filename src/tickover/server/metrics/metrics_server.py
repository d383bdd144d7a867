"""The port of the metrics: `GET /metrics`, for the whole server, from any of its workers."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tickover import __version__
from tickover.api.errors import Rejection
from tickover.api.timestamps import Instant
from tickover.server.background import repeating
from tickover.server.http1.http_messages import Request, RequestError, Response, text_response
from tickover.server.http1.http_server import Endpoint, HttpServer
from tickover.server.http1.open_connections import HttpLimits
from tickover.server.logs import Log
from tickover.server.metrics.numbers import Metric, SharedNumbers, render
from tickover.server.networks import host_name, is_loopback
from tickover.server.settings import SettingError
from tickover.server.storage import schema_version
from tickover.server.storage.admin.statistics import Statistics, data_folder, read_statistics
from tickover.server.storage.urls import is_postgres

_LIMITS: Final = HttpLimits(head_bytes=32 * 1024, body_bytes=1024, deadline_seconds=30, connections=32)
_GAUGE_SECONDS: Final = 1.0
_STATISTICS_SECONDS: Final = 60.0
"""Statistics of the database are read at most this often, because counting rows takes long."""
_STATISTICS_WAIT_SECONDS: Final = 5.0
"""Less than the timeout of Prometheus, 10 seconds."""
_CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"


class DatabaseFacts:
    """Reads the metrics that only the database and the disk know."""

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

    async def find_statistics(self) -> Statistics | None:
        """Return the statistics, or None if they can't be read. If reading takes long, return the previous ones."""
        if asyncio.get_running_loop().time() >= self._valid_until:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._update_statistics())
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._reading), _STATISTICS_WAIT_SECONDS)
        return self._statistics

    async def _update_statistics(self) -> None:
        try:
            self._statistics = await read_statistics(self._url, self._now)
            self._valid_until = asyncio.get_running_loop().time() + _STATISTICS_SECONDS
        except SettingError:
            # For example, PostgreSQL accepts no more connections.
            self._statistics = None

    async def read(self) -> AsyncIterator[tuple[Metric, Collection[float]]]:
        """Yield metrics with their values."""
        build = {
            "version": [__version__],
            "database": ["postgresql" if is_postgres(self._url) else "sqlite"],
            "schema_version": [str(schema_version(self._url))],
        }
        yield Metric("build_info", "gauge", "The version, as labels.", build), [1]
        free = "Free bytes on the disk of the SQLite file or the data folder."
        yield Metric("disk_free_bytes", "gauge", free), [shutil.disk_usage(self._folder).free]
        up = Metric("database_up", "gauge", "1 if the database accepts writes.")
        try:
            await self._ping()
        except Rejection:
            yield up, [0]
            return
        yield up, [1]
        if (found := await self.find_statistics()) is None:
            return
        yield Metric("database_bytes", "gauge", "Size of the database."), [found.bytes]
        tables = {"table": [*found.rows]}
        yield Metric("database_rows", "gauge", "Rows by table; PostgreSQL estimates them.", tables), found.rows.values()
        if (skew := found.clock_skew_seconds) is not None:
            yield Metric("clock_skew_seconds", "gauge", "How far the server's clock is ahead of PostgreSQL's."), [skew]


@asynccontextmanager
async def serve_metrics(
    listener: socket.socket,
    numbers: SharedNumbers,
    publish: Callable[[], Awaitable[None]],
    facts: DatabaseFacts,
    log: Log,
) -> AsyncIterator[None]:
    """Serve the metrics. `publish` writes the gauges of this process, once a second for the other workers."""

    is_local = is_loopback(listener.getsockname()[0])

    async def respond() -> Response:
        await publish()
        metrics = [metric async for metric in facts.read()]
        return 200, [(b"content-type", _CONTENT_TYPE)], render([*metrics, *numbers.read()])

    def handle(request: Request) -> Response | Coroutine[Any, Any, Response]:
        if is_local and not is_loopback(host_name(request.fields.get(b"host", b""))):
            # Against DNS rebinding. Elsewhere, Prometheus may use any name.
            return text_response(400, b"The metrics are for this machine. Use its loopback address as the Host.\n")
        if request.path != "/metrics":
            return text_response(404, b"Not found. The metrics are at GET /metrics.\n")
        return respond() if request.method in ("GET", "HEAD") else text_response(405, b"Use GET.\n")

    def reject(error: RequestError) -> Response:
        return text_response(error.status, error.message.encode() + b"\n")

    server = HttpServer([Endpoint(listener, handle, reject)], _LIMITS)
    async with repeating(_GAUGE_SECONDS, "publication of gauges", publish, log):
        server.start()
        try:
            yield
        finally:
            await server.stop(_GAUGE_SECONDS)
