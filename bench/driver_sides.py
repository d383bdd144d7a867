"""What `bench.drivers` compares: the store as it is, the same store over psycopg, and either without gathering."""

import asyncio
import importlib
import re
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from itertools import cycle
from typing import Any
from unittest.mock import patch

from bench.clocks import END, NOW, START, key_in_sql, owner_in_sql, slot_born
from tests.postgres import PostgresServer
from tickover.core.clocks import Clock
from tickover.core.moments import Moment, to_micros
from tickover.ports import Kept, Store
from tickover.storage import open_store
from tickover.storage.connections import Connections
from tickover.storage.postgres import PostgresStore, _Advance, _NewClock
from tickover.storage.statements import ADVANCE_CLOCKS

MOST_CONNECTIONS = 16
_FIRST_CALLS = 5
"""On a new connection the first call is planned, and takes as long as a hundred."""
_FEWEST_CALLS = 80
"""So many that all clients are past their first calls before one has done its last."""


class StoreSide:
    """A store, and how many batches may be on their way to the database at once."""

    def __init__(self, name: str, store: Store, batches_at_once: int = 1) -> None:
        self.name = name
        self.store = store
        self._batches_at_once = batches_at_once

    def in_use(self) -> AbstractContextManager[object]:
        """Only one side is measured at a time, so two may share a store."""
        using = ExitStack()
        assert isinstance(self.store, PostgresStore)
        for gatherer in (self.store._tokens, self.store._new_clocks, self.store._advances):
            using.enter_context(patch.object(gatherer, "_at_once", self._batches_at_once))
        return using


class Ungathered(PostgresStore):
    """Every call is a statement of its own, with arrays of one element."""

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, living_from: bytes, most: int
    ) -> bytes | None:
        return (await self._keep_clocks([_NewClock(clock, owner, schedule, living_from, most)]))[0]

    async def advance_clock(self, key: bytes, owner: bytes, to: Moment, *, with_schedule: bool = True) -> Kept | None:
        return (await self._advance_clocks([_Advance(key, owner, to, with_schedule)]))[0]


# psycopg is no part of the program, so it is not pinned, and may be missing.


def has_psycopg() -> bool:
    try:
        importlib.import_module("psycopg_pool")
    except ImportError:
        return False
    return True


class PsycopgPool(Connections):
    """Statements over psycopg's pool, prepared when they are first met."""

    async def open(self) -> None:
        pool: Any = importlib.import_module("psycopg_pool")
        options = {"autocommit": True, "prepare_threshold": 0}
        self._connections: Any = pool.AsyncConnectionPool(
            self._url, kwargs=options, min_size=self._most, max_size=self._most, open=False
        )
        await self._connections.open(wait=True)

    async def close(self) -> None:
        await self._connections.close()

    async def fetch(self, statement: str, *values: object, only_reads: bool = False) -> list[Any]:
        async with self._connections.connection() as connection:
            cursor = connection.cursor(binary=True)
            await cursor.execute(*_in_its_words(statement, values))
            rows: list[Any] = await cursor.fetchall()
            return rows


def _in_its_words(statement: str, values: tuple[object, ...]) -> tuple[str, dict[str, object]]:
    """All values as binary; left to itself it would write arrays as text, which takes several times as long."""
    return _with_its_names(statement), {str(number): value for number, value in enumerate(values, 1)}


@cache
def _with_its_names(statement: str) -> str:
    return re.sub(r"\$([0-9]+)", r"%(\1)b", statement)


class PsycopgPipelines(PsycopgPool):
    """Statements in psycopg's pipeline mode, over few connections that all calls share."""

    async def open(self) -> None:
        await super().open()
        self._pipelines = [_Pipeline(await self._connections.getconn()) for _ in range(self._most)]
        for pipeline in self._pipelines:
            await pipeline.open()
        self._turns = cycle(self._pipelines)

    async def close(self) -> None:
        for pipeline in self._pipelines:
            await pipeline.close()
            await self._connections.putconn(pipeline.connection)
        await super().close()

    async def fetch(self, statement: str, *values: object, only_reads: bool = False) -> list[Any]:
        return await next(self._turns).fetch(statement, values)


class _Pipeline:
    """Results come before the commit, which the next Sync brings. So each call waits for the Sync after its statement.

    One Sync is for all statements before it, and they are one transaction: if one fails, all fail.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._mode: Any = connection.pipeline()
        self._turn = asyncio.Lock()
        self._sent = 0
        self._committed = 0

    async def open(self) -> None:
        self._pipeline = await self._mode.__aenter__()

    async def close(self) -> None:
        await self._mode.__aexit__(None, None, None)

    async def fetch(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        cursor = self.connection.cursor(binary=True)
        await cursor.execute(*_in_its_words(statement, values))
        self._sent += 1
        number = self._sent
        async with self._turn:
            if self._committed < number:
                await self._pipeline.sync()
                # While it syncs, nobody can send.
                self._committed = self._sent
        rows: list[Any] = await cursor.fetchall()
        return rows


class Pgbench:
    """PostgreSQL's own measuring program, running the store's statement for an advance of one clock."""

    def __init__(self, server: PostgresServer, database: str, threads: int, clocks: int) -> None:
        self.name = f"pgbench, {threads} thread{'s' if threads > 1 else ''}"
        self._server = server
        self._database = database
        self._threads = threads
        self._calls_a_second: dict[int, float] = {}
        self._script = server.folder / "advance.sql"
        self._script.write_text(_pgbench_script(clocks))

    @staticmethod
    def is_there(server: PostgresServer) -> bool:
        return server.bin("pgbench").exists()

    def measure(self, clients: int, seconds: float) -> float:
        """Calls a second while all clients are at it."""
        known = self._calls_a_second.get(clients, 1000.0)
        calls = _FIRST_CALLS + max(_FEWEST_CALLS, int(known * seconds / clients))
        self._server.run(
            "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(self._threads, clients)),
            "-t", str(calls), "-f", str(self._script), "-l", f"--log-prefix={self._script}.log", self._database,
        )  # fmt: skip
        ends: dict[str, list[float]] = {}
        for log in self._script.parent.glob(f"{self._script.name}.log.*"):
            for line in log.read_text().splitlines():
                client, _, _, _, second, micros = line.split()
                ends.setdefault(client, []).append(int(second) + int(micros) / 1e6)
            log.unlink()
        assert sum(map(len, ends.values())) == clients * calls, "some calls have failed"
        self._calls_a_second[clients] = _rate_while_busy(list(ends.values()))
        return self._calls_a_second[clients]


def _rate_while_busy(ends: list[list[float]]) -> float:
    """Of calls that ended at these times, one list a client: since all were past their first, until one was done."""
    start = max(times[_FIRST_CALLS - 1] for times in ends)
    end = min(times[-1] for times in ends)
    return sum(start < time <= end for times in ends for time in times) / (end - start)


def _pgbench_script(clocks: int) -> str:
    """It has no arrays and no text to compute with, so that the statement makes them of numbers itself."""
    values = {
        "$1": f"array[{key_in_sql(':number::bigint')}]",
        "$2": f"array[{owner_in_sql(':number::bigint')}]",
        "$3": "array[:to_time::bigint]",
    }
    statement = re.sub(r"\$[1-3]", lambda found: values[found[0]], ADVANCE_CLOCKS[slot_born(NOW)])
    return (
        f"\\set number random(0, {clocks - 1})\n"
        f"\\set to_time random({to_micros(START)}, {to_micros(END)})\n"
        f"{' '.join(statement.split())};\n"
    )


async def open_store_sides(url: str) -> list[StoreSide]:
    """The first is the one that the others are compared with."""
    as_it_is = await open_store(url, MOST_CONNECTIONS)
    sides = [
        StoreSide("asyncpg, a statement a call", await _ungathered(Connections(url, MOST_CONNECTIONS))),
        *(StoreSide(f"asyncpg, gathered, {at_once} at once", as_it_is, at_once) for at_once in (1, 2, 4)),
    ]
    if has_psycopg():
        # It takes the connection that has rested longest, and on each the statement has to be prepared.
        pool = PsycopgPool(url, 2)
        await pool.open()
        sides += [
            StoreSide("psycopg, a statement a call", await _ungathered(PsycopgPool(url, MOST_CONNECTIONS))),
            StoreSide("psycopg, 1 pipeline", await _ungathered(PsycopgPipelines(url, 1))),
            StoreSide("psycopg, 4 pipelines", await _ungathered(PsycopgPipelines(url, 4))),
            StoreSide("psycopg, gathered, 2 at once", PostgresStore(pool), 2),
        ]
    return sides


async def _ungathered(connections: Connections) -> PostgresStore:
    await connections.open()
    return Ungathered(connections)
