"""Where a request's time goes: one process, no sockets, and the way of a call cut off ever later.

`python -m bench.studies.anatomy` measures CPU time with 64 calls under way at once, prints a table, and draws it into
docs/where-the-time-goes.svg. What a stage costs is the difference between two ways of which only the longer has it.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import uvloop
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from bench import bodies
from bench.studies.strips import draw_strips
from tests.support.world import NOW, World, open_world
from tickover.api.ids import read_clock_id
from tickover.api.timestamps import years_after
from tickover.server.domain.clocks import Clock
from tickover.server.http.connection import Connection
from tickover.server.http.messages import Request, Response
from tickover.server.http.pool import Limits, Pool
from tickover.server.jsonrpc.dispatch import CallResponse, Dispatcher
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Created, StoredClock

ROOT = Path(__file__).parent.parent.parent
PICTURE = ROOT / "docs" / "where-the-time-goes.svg"
AT_ONCE = 64
CALLS_EACH = 8
ROUNDS = 30
ADVANCE, CREATE = "advanceTestClock", "createTestClock"
START = datetime(2027, 3, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Cut = Callable[["Bench"], AbstractContextManager[object]]


class Stage(NamedTuple):
    name: str
    cut: Cut
    """What keeps a call from going further than this stage."""


class _Socket(asyncio.Transport):
    """Takes what is written, and says when."""

    def __init__(self, written: Callable[[], None]) -> None:
        super().__init__({"peername": ("127.0.0.1", 5000), "sockname": ("127.0.0.1", 8000)})
        self._written = written

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._written()

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """There is nothing to let go of."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Everything is taken at once."""


class _Client:
    """A connection on which one call follows the other."""

    def __init__(self, protocol: asyncio.Protocol, writes: int) -> None:
        self._protocol = protocol
        self._writes = writes
        self._left = 0
        self._answered: asyncio.Future[None] | None = None
        self._protocol.connection_made(_Socket(self._note))

    async def ask(self, request: bytes) -> None:
        self._left = self._writes
        self._answered = asyncio.get_running_loop().create_future()
        self._protocol.data_received(request)
        await self._answered

    def _note(self) -> None:
        self._left -= 1
        if self._left == 0 and self._answered is not None:
            self._answered.set_result(None)

    def leave(self) -> None:
        self._protocol.connection_lost(None)


class Bench:
    """A world with a thousand typical clocks, and requests that move them."""

    def __init__(self, world: World, token: str, clocks: list[str], answer: bytes) -> None:
        self.world = world
        self.token = token
        self.clocks = clocks
        self.answer = answer
        self._turns = 0

    def request(self, method: str) -> bytes:
        if method == CREATE:
            body = bodies.request(CREATE, bodies.typical())
        else:
            self._turns += 1
            clock = self.clocks[self._turns % len(self.clocks)]
            body = bodies.request(ADVANCE, bodies.advance(clock, bodies.timestamp(START + self._turns * _MILLISECOND)))
        head = (
            f"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def limit(self, scope: Any, receive: Any, send: Any) -> None:
        """A bare ASGI callable: what the server alone costs."""
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(self.answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.answer})


def _nothing(_: Bench) -> AbstractContextManager[object]:
    return ExitStack()


def _before_the_door(bench: Bench) -> AbstractContextManager[object]:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(bench.answer))]

    async def handle(_: Request) -> Response:
        return 200, headers, bench.answer

    return patch.object(bench.world.handler, "handle", handle)


def _before_the_call(bench: Bench) -> AbstractContextManager[object]:
    async def run(*_: object) -> CallResponse:
        return CallResponse(bench.answer)

    return patch.object(Dispatcher, "_run", run)


def _before_the_operation(bench: Bench) -> AbstractContextManager[object]:
    async def run(*_: object) -> bytes:
        return bench.answer

    handlers = bench.world.operations.handlers
    return patch.dict(handlers, dict.fromkeys(handlers, run))


def _before_the_writer(_: Bench) -> AbstractContextManager[object]:
    async def advance_clock(_: object, key: bytes, __: bytes, to: Any, **___: bool) -> StoredClock:
        return StoredClock(Clock(key, NOW, to, years_after(NOW)), b"")

    async def create_clock(*_: object) -> Created:
        return Created()

    return patch.multiple(SqliteStore, advance_clock=advance_clock, create_clock=create_clock)


STAGES = (
    Stage("HTTP", _before_the_door),
    Stage("Host, headers, envelope", _before_the_call),
    Stage("token, parameters", _before_the_operation),
    Stage("the operation, the view", _before_the_writer),
    Stage("SQLite: statements, commit", _nothing),
)


def _client_of_the_limit(bench: Bench) -> _Client:
    config = Config(
        bench.limit, http=HttpToolsProtocol, ws="none", loop="none", lifespan="off", log_config=None, access_log=False,
        interface="asgi3", proxy_headers=False,
    )  # fmt: skip
    config.load()
    # uvicorn writes head and body one after the other.
    return _Client(HttpToolsProtocol(config=config, server_state=ServerState(), app_state={}), 2)


def _client_of_ours(bench: Bench) -> _Client:
    return _Client(Connection(bench.world.handler, Pool(Limits())), 1)


async def _microseconds(bench: Bench, connect: Callable[[Bench], _Client], method: str) -> float:
    """CPU time of one call, with as many under way as the benchmark has connections."""
    clients = [connect(bench) for _ in range(AT_ONCE)]
    requests = [bench.request(method) for _ in range(AT_ONCE * CALLS_EACH)]

    async def visit(client: _Client, mine: list[bytes]) -> None:
        for request in mine:
            await client.ask(request)

    began = process_time()
    await asyncio.gather(*(visit(client, requests[place::AT_ONCE]) for place, client in enumerate(clients)))
    took = process_time() - began
    for client in clients:
        client.leave()
    return took / len(requests) * 1e6


async def measure(bench: Bench, method: str) -> dict[str, float]:
    """Each stage with its microseconds; the sides alternate, and the median of many rounds counts."""
    seen: dict[str, list[float]] = {"limit": [], **{stage.name: [] for stage in STAGES}}
    for _ in range(ROUNDS):
        seen["limit"].append(await _microseconds(bench, _client_of_the_limit, method))
        for stage in STAGES:
            with stage.cut(bench):
                seen[stage.name].append(await _microseconds(bench, _client_of_ours, method))
    medians = {name: statistics.median(figures) for name, figures in seen.items()}
    return {"limit": medians["limit"], **dict(_differences([(stage.name, medians[stage.name]) for stage in STAGES]))}


def _differences(sums: list[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    before = 0.0
    for name, total in sums:
        yield name, max(0.0, total - before)
        before = total


async def main() -> None:
    # Beside what the benchmark leaves, and not in the tree.
    beside = ROOT / ".bench"
    beside.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        async with open_world(Path(folder), max_clocks_per_user=0) as world:
            token = await world.sign_in()
            made = [await world.create(token, **bodies.typical()) for _ in range(1000)]
            answer = await world.call(CREATE, bodies.typical(), token)
            bench = Bench(world, token, [clock["id"] for clock in made], answer.body)
            assert all(read_clock_id(clock) for clock in bench.clocks)
            found = {method: await measure(bench, method) for method in (ADVANCE, CREATE)}
    for method, stages in found.items():
        print(f"{method}: {sum(stages.values()) - stages['limit']:.0f} µs of CPU; the limit {stages['limit']:.0f} µs")
        for name, figure in stages.items():
            print(f"  {name:<28}{figure:6.1f} µs")
    PICTURE.write_text(draw_strips(found), "utf-8")


if __name__ == "__main__":
    uvloop.run(main())
