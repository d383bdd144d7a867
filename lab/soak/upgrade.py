"""R12: two servers of the previous release are replaced one by one, behind HAProxy, while callers use both releases."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.soak.clock_writer import new_transaction, on_day
from lab.soak.connections import Connection, ConnectionLost, ResponseTruncated, connect
from lab.soak.rows import Context, Figure, Row, at_least
from tests.support.deploy import run_haproxy, servers_behind_proxy
from tests.support.postgres import PostgresServer
from tests.support.program import Program, until
from tests.support.replicas import Replicas
from tests.support.repository import ROOT
from tickover import __version__

_CALLERS = 8
_ROUNDS_PER_CLOCK = 3
_PREVIOUS_VERSION = "0.0.1"
_NEWEST_MIGRATIONS = ["0012_names_of_amendments", "0013_fixed_codes"]
# The previous release called the functions for amendments that can't change names, and for codes that are all mailed.
_CHANGES = {
    "__init__.py": {f'"{__version__}"': f'"{_PREVIOUS_VERSION}"'},
    "server/storage/postgres/statements.py": {"amend_clock_v3": "amend_clock_v2", ", $14, $15, $16, $17": ""},
    "server/storage/postgres/store.py": {
        "*_name_values(amendment.names),\n": "\n",
        "claim_send_v2": "claim_send",
        ", $13)": ")",
        "send.is_mailed,\n": "\n",
    },
}


def use_previous_release(replicas: Replicas, folder: Path) -> None:
    """Copy this release without its newest migrations and their callers. The servers will run the copy."""
    package = folder / "tickover"
    shutil.copytree(ROOT / "src" / "tickover", package)
    migrations = sorted((package / "server" / "storage" / "schema" / "postgres").glob("*.sql"))
    for name, file in zip(_NEWEST_MIGRATIONS, migrations[-len(_NEWEST_MIGRATIONS) :], strict=True):
        assert file.stem == name, "take the newer migrations out of the copy instead"
        file.unlink()
    for name, changes in _CHANGES.items():
        text = (package / name).read_text("utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1, f"{name} lacks {old}"
            text = text.replace(old, new)
        (package / name).write_text(text, "utf-8")
    for program in replicas.programs:
        program.environment["PYTHONPATH"] = str(folder)


class Callers:
    """Callers that create, amend, advance and read clocks through a proxy, one call after the other each."""

    def __init__(self, url: str, token: str, min_calls: int) -> None:
        self._url = url
        self._token = token
        self._min_calls = min_calls
        self.sent = 0
        self.created = 0
        self.failures: list[str] = []
        self.may_end = False

    async def run(self) -> None:
        connection = await connect(self._url, self._token)
        while self.sent < self._min_calls or not self.may_end:
            try:
                await self._use_clock(connection)
            except (ConnectionLost, ResponseTruncated, OSError, AssertionError) as error:
                self.failures.append(repr(error))
                connection.close()
                connection = await connect(self._url, self._token)
        connection.close()

    async def _use_clock(self, connection: Connection) -> None:
        clock = await self._call(connection, "createTestClock", {"frozenTime": on_day(0)})
        self.created += 1
        for day in range(1, _ROUNDS_PER_CLOCK + 1):
            addition = {"transactions": [new_transaction(day, "added")]}
            await self._call(connection, "amendTestClock", {"id": clock["id"], "add": addition})
            await self._call(connection, "advanceTestClock", {"id": clock["id"], "frozenTime": on_day(day)})
            # Another server, perhaps of the other release, may have handled the calls before.
            seen = await self._call(connection, "getTestClock", {"id": clock["id"]})
            assert (seen["frozenTime"], len(seen["transactions"])) == (on_day(day), day), seen

    async def _call(self, connection: Connection, method: str, params: dict[str, Any]) -> Any:
        self.sent += 1
        connection.send(method, params)
        response = await connection.receive()
        assert response.status == 200, f"{response.status} {response.body[:200]!r}"
        assert "result" in response.json, response.json
        return response.json["result"]["clock"]


async def upgrade_under_load(folder: Path, replicas: Replicas, min_calls: int) -> Callers:
    """Restart one server after the other with the current release. Return the callers, whose calls all succeeded."""
    with run_haproxy(replicas, folder) as url:
        callers = Callers(url, replicas.programs[0].sign_in(), min_calls)
        tasks = [asyncio.create_task(callers.run()) for _ in range(_CALLERS)]
        for name, program in zip(("one", "two"), replicas.programs, strict=True):
            # HAProxy must use the server that was replaced before the other one stops.
            await _sends_calls_to(name, folder / "output.txt")
            assert await asyncio.to_thread(_version, program) == _PREVIOUS_VERSION
            assert await asyncio.to_thread(program.stop) == 0
            del program.environment["PYTHONPATH"]
            await asyncio.to_thread(program.start)
            assert await asyncio.to_thread(_version, program) == __version__
            await _sends_calls_to(name, folder / "output.txt")
        callers.may_end = True
        await asyncio.gather(*tasks)
    assert not callers.failures, callers.failures[:5]
    assert replicas.ask("select count(*) from clocks") == [str(callers.created)]
    return callers


def _version(program: Program) -> str:
    return str(program.result("rpc.discover", {})["info"]["version"])


async def _sends_calls_to(server: str, log: Path) -> None:
    """Wait until HAProxy logs another call that this server has handled."""

    def count_calls() -> int:
        return log.read_text().count(f" servers/{server} ")

    before = count_calls()
    await until(lambda: count_calls() > before)


def run(context: Context) -> Iterator[Figure]:
    min_calls = context.scale(10_000, 2_000)
    context.progress(0, f"{min_calls:,} calls")
    with PostgresServer() as server:
        replicas = servers_behind_proxy(context.folder, server)
        use_previous_release(replicas, context.folder / "previous")
        with replicas:
            callers = asyncio.run(upgrade_under_load(context.folder, replicas, min_calls))
    yield at_least("calls, all with a result", callers.sent, min_calls)


ROW = Row(
    "R12",
    "Rolling upgrade",
    "10,000 calls through HAProxy while two servers of the previous release are replaced one by one: no call fails",
    run,
    minutes=1,
    quick_minutes=0.3,
    stores=("postgres",),
)
