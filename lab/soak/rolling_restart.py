"""R12: two servers are restarted one after the other, behind HAProxy, while callers use both."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.soak.clock_writer import new_transaction, on_day
from lab.soak.raw_connections import ConnectionLost, RawConnection, ResponseTruncated, connect
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.deploy import run_haproxy, servers_behind_proxy
from tests.support.postgres import PostgresServer
from tests.support.program import Program, until

_CALLERS = 8
_ROUNDS_PER_CLOCK = 3
_SERVERS = ("one", "two")
"""Their names in HAProxy's configuration."""


class Callers:
    """Callers that create, amend, advance and read clocks through a proxy, one call after the other each."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self.sent = 0
        self.created = 0
        self.failures: list[str] = []
        self.may_end = False

    async def run(self) -> None:
        connection = await connect(self._url, self._token)
        while not self.may_end:
            try:
                await self._use_clock(connection)
            except (ConnectionLost, ResponseTruncated, OSError, AssertionError) as error:
                self.failures.append(repr(error))
                connection.close()
                connection = await connect(self._url, self._token)
        connection.close()

    async def _use_clock(self, connection: RawConnection) -> None:
        clock = await self._call(connection, "createTestClock", {"frozenTime": on_day(0)})
        self.created += 1
        for day in range(1, _ROUNDS_PER_CLOCK + 1):
            addition = {"transactions": [new_transaction(day, "added")]}
            await self._call(connection, "amendTestClock", {"id": clock["id"], "add": addition})
            await self._call(connection, "advanceTestClock", {"id": clock["id"], "frozenTime": on_day(day)})
            # The other server may have handled the calls before.
            seen = await self._call(connection, "getTestClock", {"id": clock["id"]})
            assert (seen["frozenTime"], len(seen["transactions"])) == (on_day(day), day), seen

    async def _call(self, connection: RawConnection, method: str, params: dict[str, Any]) -> Any:
        self.sent += 1
        connection.send(method, params)
        response = await connection.receive()
        assert response.status == 200, f"{response.status} {response.body[:200]!r}"
        assert "result" in response.json, response.json
        return response.json["result"]["clock"]


def run(context: Context) -> Iterator[Figure]:
    calls = context.scale(10_000, 2_000)
    context.progress(0, f"{calls:,} calls")
    with PostgresServer() as server, servers_behind_proxy(context.folder, server) as replicas:
        with run_haproxy(replicas, context.folder) as url:
            callers = Callers(url, replicas.programs[0].sign_in())
            asyncio.run(_restart_under_load(callers, replicas.programs, context.folder / "output.txt", calls))
        stored = replicas.ask("select count(*) from clocks")
    yield at_least("calls", callers.sent, calls)
    yield at_most("failed calls", len(callers.failures), 0)
    if callers.failures:
        yield Figure("first failure", callers.failures[0])
    yield Figure("created clocks that are stored", stored[0], str(callers.created), stored == [str(callers.created)])


async def _restart_under_load(callers: Callers, programs: list[Program], log: Path, calls: int) -> None:
    """Restart one server after the other, and call until there were this many calls."""
    tasks = [asyncio.create_task(callers.run()) for _ in range(_CALLERS)]
    for name, program in zip(_SERVERS, programs, strict=True):
        # HAProxy must use the server that was restarted before the other one stops.
        await _sends_calls_to(name, log)
        assert await asyncio.to_thread(program.stop) == 0
        await asyncio.to_thread(program.start)
        await _sends_calls_to(name, log)
    await until(lambda: callers.sent >= calls)
    callers.may_end = True
    await asyncio.gather(*tasks)


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
