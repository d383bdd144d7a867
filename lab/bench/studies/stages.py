"""Measures the CPU time of each stage of a call: one process, no sockets, 64 concurrent calls.

`python -m lab.bench.studies.stages` stops calls after each stage in turn. The cost of a stage is the difference from
the stage before. It prints a table, and draws it into docs/where-the-time-goes.svg.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import apsw
import uvloop
from msgspec.structs import replace
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from lab.bench import bodies
from lab.bench.studies.stage_chart import draw_stages
from tests.support.world import NOW, World, open_world
from tickover.api.ids import read_clock_id
from tickover.api.limits import MAX_BODY, MAX_HEAD
from tickover.api.timestamps import years_after
from tickover.server.http1.connection import Connection
from tickover.server.http1.limits import Limits
from tickover.server.http1.messages import Request, Response
from tickover.server.http1.pool import Pool
from tickover.server.operations import OPERATIONS
from tickover.server.rpc.dispatch import CallResponse, Dispatcher
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Created, StoredClock

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "docs" / "where-the-time-goes.svg"
CONCURRENT_CALLS = 64
CALLS_PER_CLIENT = 8
ROUNDS = 30
ADVANCE, CREATE = "advanceTestClock", "createTestClock"
START = datetime(2027, 3, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Stop = Callable[["Bench"], AbstractContextManager[object]]


class Stage(NamedTuple):
    name: str
    stop: Stop
    """A context in which calls end after this stage."""


class _Transport(asyncio.Transport):
    """Discards written data, and calls `on_write`."""

    def __init__(self, on_write: Callable[[], None]) -> None:
        super().__init__({"peername": ("127.0.0.1", 5000), "sockname": ("127.0.0.1", 8000)})
        self._on_write = on_write

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._on_write()

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Do nothing."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing."""


class _Client:
    """A connection with sequential calls. A response is complete after a number of writes."""

    def __init__(self, protocol: asyncio.Protocol, writes: int) -> None:
        self._protocol = protocol
        self._writes = writes
        self._writes_left = 0
        self._response: asyncio.Future[None] | None = None
        self._protocol.connection_made(_Transport(self._on_write))

    async def call(self, request: bytes) -> None:
        self._writes_left = self._writes
        self._response = asyncio.get_running_loop().create_future()
        self._protocol.data_received(request)
        await self._response

    def _on_write(self) -> None:
        self._writes_left -= 1
        if self._writes_left == 0 and self._response is not None:
            self._response.set_result(None)

    def close(self) -> None:
        self._protocol.connection_lost(None)


class Bench:
    """A server with a thousand typical clocks, and requests that advance them."""

    def __init__(self, world: World, token: str, clocks: list[str], response: bytes, schedule: bytes) -> None:
        self.world = world
        self.token = token
        self.clocks = clocks
        self.response = response
        self.schedule = schedule
        self._advances = 0

    def request(self, method: str) -> bytes:
        if method == CREATE:
            body = bodies.request(CREATE, bodies.typical())
        else:
            self._advances += 1
            clock = self.clocks[self._advances % len(self.clocks)]
            body = bodies.request(
                ADVANCE, bodies.advance(clock, bodies.timestamp(START + self._advances * _MILLISECOND))
            )
        head = (
            f"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def limit(self, scope: Any, receive: Any, send: Any) -> None:
        """A bare ASGI application: the cost of the HTTP server alone."""
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(self.response))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.response})


def _run_completely(_: Bench) -> AbstractContextManager[object]:
    return ExitStack()


def _stop_before_handler(bench: Bench) -> AbstractContextManager[object]:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(bench.response))]

    async def respond(_: Request) -> Response:
        return 200, headers, bench.response

    return patch.object(bench.world.handler, "handle", respond)


def _stop_before_call(bench: Bench) -> AbstractContextManager[object]:
    async def run(*_: object) -> CallResponse:
        return CallResponse(bench.response)

    return patch.object(Dispatcher, "_run", run)


def _stop_before_operation(bench: Bench) -> AbstractContextManager[object]:
    async def run(*_: object) -> bytes:
        return bench.response

    return patch.dict(OPERATIONS, {name: replace(operation, handler=run) for name, operation in OPERATIONS.items()})


def _stop_before_store(bench: Bench) -> AbstractContextManager[object]:
    async def advance_clock(
        _: object, key: bytes, __: bytes, to: Any, *, known_revision: int | None = None
    ) -> StoredClock:
        return StoredClock(Clock(key, NOW, to, years_after(NOW)), bench.schedule if known_revision is None else b"")

    async def create_clock(*_: object) -> Created:
        return Created()

    return patch.multiple(SqliteStore, advance_clock=advance_clock, create_clock=create_clock)


STAGES = (
    Stage("HTTP", _stop_before_handler),
    Stage("Host, headers, envelope", _stop_before_call),
    Stage("token, parameters", _stop_before_operation),
    Stage("the operation, the view", _stop_before_store),
    Stage("SQLite: statements, commit", _run_completely),
)


def _connect_to_limit(bench: Bench) -> _Client:
    config = Config(
        bench.limit, http=HttpToolsProtocol, ws="none", loop="none", lifespan="off", log_config=None, access_log=False,
        interface="asgi3", proxy_headers=False,
    )  # fmt: skip
    config.load()
    # uvicorn writes head and body separately.
    return _Client(HttpToolsProtocol(config=config, server_state=ServerState(), app_state={}), 2)


def _connect_to_tickover(bench: Bench) -> _Client:
    return _Client(Connection(bench.world.handler, Pool(Limits(MAX_HEAD, MAX_BODY, deadline_seconds=30))), 1)


async def _microseconds(bench: Bench, connect: Callable[[Bench], _Client], method: str) -> float:
    """Return the CPU time of one call."""
    clients = [connect(bench) for _ in range(CONCURRENT_CALLS)]
    requests = [bench.request(method) for _ in range(CONCURRENT_CALLS * CALLS_PER_CLIENT)]

    async def run(client: _Client, own_requests: list[bytes]) -> None:
        for request in own_requests:
            await client.call(request)

    start = process_time()
    await asyncio.gather(*(run(client, requests[index::CONCURRENT_CALLS]) for index, client in enumerate(clients)))
    seconds = process_time() - start
    for client in clients:
        client.close()
    return seconds / len(requests) * 1e6


async def measure(bench: Bench, method: str) -> dict[str, float]:
    """Return the microseconds of each stage: the median of rounds in which all stages alternate."""
    samples: dict[str, list[float]] = {"limit": [], **{stage.name: [] for stage in STAGES}}
    for _ in range(ROUNDS):
        samples["limit"].append(await _microseconds(bench, _connect_to_limit, method))
        for stage in STAGES:
            with stage.stop(bench):
                samples[stage.name].append(await _microseconds(bench, _connect_to_tickover, method))
    medians = {name: statistics.median(figures) for name, figures in samples.items()}
    return {"limit": medians["limit"], **dict(_differences([(stage.name, medians[stage.name]) for stage in STAGES]))}


def _differences(sums: list[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    before = 0.0
    for name, total in sums:
        yield name, max(0.0, total - before)
        before = total


def _any_schedule(folder: Path) -> bytes:
    with closing(apsw.Connection(str(folder / "tickover.db"))) as connection:
        row: Any = connection.execute("select body from schedules limit 1").fetchone()
    schedule: bytes = row[0]
    return schedule


async def main() -> None:
    # On the same disk as the benchmark's data, and ignored by Git.
    parent = ROOT / ".bench"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        async with open_world(Path(folder), max_clocks_per_user=0) as world:
            token = await world.sign_in()
            made = [await world.create(token, **bodies.typical()) for _ in range(1000)]
            response = await world.call(CREATE, bodies.typical(), token)
            bench = Bench(world, token, [clock["id"] for clock in made], response.body, _any_schedule(Path(folder)))
            assert all(read_clock_id(clock) for clock in bench.clocks)
            found = {method: await measure(bench, method) for method in (ADVANCE, CREATE)}
    for method, stages in found.items():
        print(f"{method}: {sum(stages.values()) - stages['limit']:.0f} µs of CPU; the limit {stages['limit']:.0f} µs")
        for name, figure in stages.items():
            print(f"  {name:<28}{figure:6.1f} µs")
    PICTURE.write_text(draw_stages(found), "utf-8")


if __name__ == "__main__":
    uvloop.run(main())
