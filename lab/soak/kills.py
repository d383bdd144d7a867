"""R2: kill -9 while 16 to 64 clients write, 500 times on each store. No confirmed write is lost."""

import asyncio
import random
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.servers import Servers, run_servers
from lab.soak.write_load import WriteLoad
from tests.support.postgres import PostgresServer
from tests.support.program import Program

_CLIENTS = (16, 32, 64)
"""The numbers of clients, one after the other. Every fourth one signs in, the others write clocks."""
_MAX_RESULTS_BEFORE_A_KILL = 200


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

    async def run(self, servers: Servers, rounds: Iterable[int], clients: int) -> None:
        """Kill one of the servers in each round, in turns, then check what is stored."""
        chances = random.Random(clients)
        load = WriteLoad(servers, stops_servers=False)
        async with load.of(clients - clients // 4, clients // 4):
            for number in rounds:
                await load.succeed(chances.randint(1, _MAX_RESULTS_BEFORE_A_KILL))
                victim = servers.programs[number % len(servers.programs)]
                load.running.remove(victim)
                victim.kill()
                # A start under load takes several times as long.
                async with load.at_rest():
                    await asyncio.to_thread(self._restart, victim)
                load.running.append(victim)
        assert load.rejections == 0, "the database was unavailable"
        self.results += load.results
        self.pending += load.broken

    def _restart(self, program: Program) -> None:
        started = time.monotonic()
        program.start()
        assert program.request("GET", "/readyz").status == 200
        self.start_seconds.append(time.monotonic() - started)

    def check(self) -> None:
        """Check that the kills met enough calls to prove something."""
        assert self.results > self.count, "too few calls had a result"
        assert self.pending > self.count, "too few calls were pending at the kills"


def run(context: Context) -> Iterator[Figure]:
    count = context.scale(500, 9)
    kills = Kills()
    with (
        PostgresServer() if context.store == "postgres" else nullcontext() as postgres,
        run_servers(context.folder, postgres, 2) as servers,
    ):
        kills_each = -(-count // len(_CLIENTS))
        for part, clients in enumerate(_CLIENTS):
            shares = part / len(_CLIENTS), (part + 1) / len(_CLIENTS)
            rounds = context.rounds(kills_each, f"{clients} clients, kill", *shares)
            asyncio.run(kills.run(servers, rounds, clients))
        if context.store == "sqlite":
            assert servers.ask("pragma integrity_check") == ["ok"]
    assert not any("Traceback" in program.output for program in servers.programs)
    kills.check()
    yield at_least("kills", kills.count, count)
    yield Figure("calls with a result, all stored", f"{kills.results:,}")
    yield Figure("calls without a response at a kill, stored completely or not at all", f"{kills.pending:,}")
    # CI makes a quick run on a machine that others use too.
    yield at_most("slowest restart until ready", round(max(kills.start_seconds), 2), context.scale(2, 10), " s")


ROW = Row(
    "R2",
    "Kill -9 under load",
    "1,000 kills over both stores under 16 to 64 clients, nothing lost, ready again within 2 s",
    run,
    minutes=11,
    quick_minutes=0.5,
)
