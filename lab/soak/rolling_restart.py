"""R12: two servers are restarted one after the other, behind HAProxy, while callers use both."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.write_load import WriteLoad
from tests.support.deploy import run_haproxy, servers_behind_proxy
from tests.support.postgres import PostgresServer
from tests.support.program import until
from tests.support.replicas import Replicas

_WRITERS = 8
_VISITORS = 2
_SERVERS = ("one", "two")
"""Their names in HAProxy's configuration."""


def run(context: Context) -> Iterator[Figure]:
    calls = context.scale(10_000, 2_000)
    context.progress(0, f"{calls:,} calls")
    with PostgresServer() as server, servers_behind_proxy(context.folder, server) as replicas:
        load = WriteLoad(replicas)
        with run_haproxy(replicas, context.folder) as load.proxy_url:
            asyncio.run(_restart_under_load(load, replicas, context.folder / "output.txt", calls))
    yield at_least("calls with a result, all stored", load.results, calls)
    yield at_most("calls without a response or rejected", load.broken + load.rejections, 0)


async def _restart_under_load(load: WriteLoad, replicas: Replicas, log: Path, calls: int) -> None:
    """Restart one server after the other, and call until there were this many calls."""
    async with load.of(_WRITERS, _VISITORS):
        for name, program in zip(_SERVERS, replicas.programs, strict=True):
            # HAProxy must use the server that was restarted before the other one stops.
            await _sends_calls_to(name, log)
            assert await asyncio.to_thread(program.stop) == 0
            await asyncio.to_thread(program.start)
            await _sends_calls_to(name, log)
        await until(lambda: load.results >= calls)


async def _sends_calls_to(server: str, log: Path) -> None:
    """Wait until HAProxy logs another call that this server has handled."""

    def count_calls() -> int:
        return log.read_text().count(f" servers/{server} ")

    before = count_calls()
    await until(lambda: count_calls() > before)


ROW = Row(
    "R12",
    "Rolling restart",
    "10,000 calls through HAProxy while two servers are restarted one by one: none fails",
    run,
    minutes=1,
    quick_minutes=0.3,
    stores=("postgres",),
)
