"""R2: kill -9 while 16 to 64 clients write, 500 times on each store. No confirmed write is lost."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from lab.soak.clock_writer import ClockWriter, KnownClock
from lab.soak.connections import Connection, ConnectionLost, ResponseTruncated, open_connections
from lab.soak.load import Load
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.sign_ins import Rows, Visits
from tests.support.postgres import PostgresServer
from tests.support.program import Program
from tests.support.replicas import Replicas

CALLERS = (16, 32, 64)
"""The numbers of callers, one after the other."""
_MAX_RESULTS_BEFORE_A_KILL = 250
_REPLICA_WRITERS = 16
_REPLICA_VISITORS = 4
_MAX_REPLICA_RESULTS_BEFORE_A_KILL = 50


class Kills:
    """The outcome of many kills."""

    def __init__(self) -> None:
        self.results = 0
        """Calls with a result."""
        self.pending = 0
        """Calls without a response at a kill."""
        self.start_seconds: list[float] = []
        """The time of each restart, from the start of the process until it is ready."""

    @property
    def count(self) -> int:
        return len(self.start_seconds)

    def check(self) -> None:
        """Check that the kills met enough calls to prove something."""
        assert self.results > self.count * min(CALLERS), "too few calls had a result"
        assert self.pending > self.count, "too few calls were pending at the kills"

    def restart(self, program: Program) -> None:
        started = time.monotonic()
        program.start()
        assert program.request("GET", "/readyz").status == 200
        self.start_seconds.append(time.monotonic() - started)


def kill_with_sqlite(folder: Path, rounds: Iterable[int], callers: Sequence[int] = CALLERS) -> Kills:
    """Kill the only server once in each round. Every eighth caller signs in, the others write clocks."""
    kills = Kills()
    with Program(folder, TICKOVER_MAX_CLOCKS_PER_USER="0") as program:
        killer = _Killer(program, kills)
        writer = ClockWriter(program, program.sign_in(), lambda: _stored_times(program), killer.see_result)
        visits = Visits(program.data / "outbox")
        for number in rounds:
            asyncio.run(killer.let_write(writer, visits, callers[number % len(callers)]))
            kills.restart(program)
            assert _ask(program, "pragma integrity_check") == [("ok",)]
            writer.check()
        assert writer.rejections == 0
        kills.results = writer.results
        kills.check()
        writer.check(writer.clocks.values())
        rows = _login_rows(program)
        for visit in visits.every:
            visit.check(rows)
    return kills


def _stored_times(program: Program) -> dict[bytes, int]:
    return dict(_ask(program, "select key, frozen_time from clocks"))


def _login_rows(program: Program) -> Rows:
    sessions: dict[str, list[bytes]] = defaultdict(list)
    for email, digest in _ask(program, "select email, digest from users join tokens on user_key = key"):
        sessions[email].append(digest)
    return Rows(
        Counter(dict(_ask(program, "select email, count(*) from login_sends where email <> '' group by email"))),
        Counter(dict(_ask(program, "select email, count from login_failures where email like '%@%'"))),
        sessions,
    )


def _ask(program: Program, sql: str) -> list[Any]:
    database = apsw.Connection(str(program.data / "tickover.db"))
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


class _Killer:
    """Callers write until the program is killed."""

    def __init__(self, program: Program, kills: Kills) -> None:
        self._program = program
        self._kills = kills
        self._chances = random.Random(9)
        self._results_left = 0

    async def let_write(self, writer: ClockWriter, visits: Visits, callers: int) -> None:
        self._results_left = self._chances.randint(1, _MAX_RESULTS_BEFORE_A_KILL)
        interrupted = writer.begin()
        async with open_connections(self._program.url, callers) as connections:
            await asyncio.gather(
                *(
                    self._visit(visits, connection)
                    if place % 8 == 7
                    else self._write(writer, connection, interrupted[place : place + 1])
                    for place, connection in enumerate(connections)
                )
            )

    async def _write(self, writer: ClockWriter, connection: Connection, mine: list[KnownClock]) -> None:
        writer.touched.extend(mine)
        try:
            while True:
                await writer.write(connection, mine)
        except (ConnectionLost, ResponseTruncated):
            self._kills.pending += 1

    async def _visit(self, visits: Visits, connection: Connection) -> None:
        try:
            while True:
                await visits.visit(connection)
        except (ConnectionLost, ResponseTruncated):
            self._kills.pending += 1

    async def see_result(self) -> None:
        self._results_left -= 1
        if self._results_left == 0:
            # Half of the kills follow a response directly, when its write must be on the disk. The others are random.
            await asyncio.sleep(max(0, self._chances.uniform(-0.005, 0.005)))
            self._program.kill()


async def kill_with_postgres(folder: Path, postgres: PostgresServer, rounds: Iterable[int]) -> Kills:
    """Kill one of two servers in each round, in turns."""
    kills = Kills()
    chances = random.Random(9)
    with Replicas(folder, postgres, 2) as replicas:
        load = Load(replicas)
        async with load.of(_REPLICA_WRITERS, _REPLICA_VISITORS):
            for number in rounds:
                await load.succeed(chances.randint(1, _MAX_REPLICA_RESULTS_BEFORE_A_KILL))
                victim = replicas.programs[number % 2]
                load.running.remove(victim)
                victim.kill()
                # A start under load takes several times as long.
                async with load.at_rest():
                    await asyncio.to_thread(kills.restart, victim)
                load.running.append(victim)
        assert load.writer.rejections == 0, "the database was unavailable"
        kills.results, kills.pending = load.writer.results, load.broken
        kills.check()
    return kills


def run(context: Context) -> Iterator[Figure]:
    count = context.scale(500, 8)
    kills = _kill(context, count)
    yield at_least("kills", kills.count, count)
    yield Figure("calls with a result, all stored", f"{kills.results:,}")
    yield Figure("calls without a response at a kill, stored completely or not at all", f"{kills.pending:,}")
    # CI makes a quick run on a machine that others use too.
    yield at_most("slowest restart until ready", round(max(kills.start_seconds), 2), context.scale(2, 10), " s")


def _kill(context: Context, count: int) -> Kills:
    rounds = context.rounds(count, "kill")
    if context.store == "sqlite":
        return kill_with_sqlite(context.folder, rounds)
    with PostgresServer() as server:
        return asyncio.run(kill_with_postgres(context.folder, server, rounds))


ROW = Row(
    "R2",
    "Kill -9 under load",
    "1,000 kills over both stores under 16 to 64 clients, nothing lost, ready again within 2 s",
    run,
    minutes=11,
    quick_minutes=0.4,
)
