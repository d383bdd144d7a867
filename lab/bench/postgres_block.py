"""The blocks on PostgreSQL: one worker, two workers and pgbench, on one durable server."""

import asyncio
import secrets
import statistics
import time

import asyncpg

from lab.bench import bodies
from lab.bench.load import Load
from lab.bench.pgbench import PgbenchLoad
from lab.bench.plan import DELAY, MAX_CONNECTIONS, POSTGRES, ROUNDS, SHARES
from lab.bench.rounds import Contender, Run, alternate
from lab.bench.shares import SharesUnavailable, limit_to
from lab.bench.sides import (
    PGBENCH,
    TICKOVER,
    TICKOVER_TWO,
    Side,
    Tickover,
    Work,
    durable_postgres,
)
from lab.bench.sqlite_block import prepare
from lab.links import Link
from lab.processes import children_of

SHARE = 0.25
ROUND_TRIPS = "round trips of an advance"
_DELAY_SECONDS = 0.001
_SELECTS = 100


def measure_postgres(run: Run) -> None:
    blocks = _PostgresBlocks(run)
    blocks.typical()
    blocks.with_equal_shares()
    blocks.with_added_latency()


class _PostgresBlocks:
    """Tickover with one and with two workers on one database."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._folder = folder = run.folder / "postgres"
        run.progress.show_step("starting the servers on PostgreSQL")
        self._server = run.stack.enter_context(durable_postgres())
        run.results.facts["PostgreSQL"] = self._server.execute("show server_version")
        self._url = self._server.create_database("tickover")
        self._key = secrets.token_hex(32)
        settings = {"TICKOVER_DATABASE_URL": self._url, "TICKOVER_SECRET_KEY": self._key}
        enter = run.stack.enter_context
        self._one = enter(Tickover(folder / "one", TICKOVER, TICKOVER_WORKERS="1", **settings))
        self._two = enter(Tickover(folder / "two", TICKOVER_TWO, TICKOVER_WORKERS="2", **settings))
        self._tokens = self._one.tokens(run.plan.users)
        # Each load has its own clocks, so that no advance goes back because another load was faster.
        self._loads = {side.name: side.loads(self._work(side, run.plan.clocks)) for side in (self._one, self._two)}

    def typical(self) -> None:
        if not self._server.bin("pgbench").exists():
            self._run.results.notes[PGBENCH] = "this PostgreSQL has no pgbench; install Debian's package postgresql"
            return
        alternate(self._run, POSTGRES, [
            Contender(TICKOVER, {"advance": self._loads[TICKOVER]["advance"]}, (MAX_CONNECTIONS,)),
            Contender(PGBENCH, self._pgbench(), (MAX_CONNECTIONS,)),
        ])  # fmt: skip

    def with_equal_shares(self) -> None:
        """Limit each worker to the same small share of a core, so that the machine is not saturated."""
        contenders = [
            Contender(name, {"advance": loads["advance"]}, (MAX_CONNECTIONS,)) for name, loads in self._loads.items()
        ]
        workers = [self._one.process.pid, *children_of(self._two.process.pid)]
        assert len(workers) == 3, f"Expected three workers: {workers}"
        try:
            with limit_to(SHARE, workers):
                alternate(self._run, SHARES, contenders, shortest=self._run.plan.share_seconds)
        except SharesUnavailable as why:
            self._run.results.notes[SHARES] = str(why)

    def with_added_latency(self) -> None:
        """Count the round trips of an advance: the latency that it gains, in units of what `select 1` gains."""
        proxy = self._run.stack.enter_context(Link(self._server.port, _DELAY_SECONDS))
        far_url = self._url.replace(f":{self._server.port}/", f":{proxy.port}/")
        settings = {"TICKOVER_DATABASE_URL": far_url, "TICKOVER_SECRET_KEY": self._key, "TICKOVER_WORKERS": "1"}
        far = self._run.stack.enter_context(Tickover(self._folder / "far", "Tickover, far", **settings))
        advances = [side.loads(self._work(side, 100))["advance"] for side in (self._one, far)]
        for number in range(ROUNDS):
            self._run.progress.show_step(f"{DELAY}: round {number + 1} of {ROUNDS}")
            near, delayed = (load.run(1, self._run.plan.slot_seconds).median_micros for load in advances)
            near_select, delayed_select = (asyncio.run(_micros_of_a_select(url)) for url in (self._url, far_url))
            self._run.results.figure(ROUND_TRIPS, (delayed - near) / (delayed_select - near_select))

    def _work(self, side: Side, clocks: int) -> Work:
        return prepare(self._run, POSTGRES, side, self._tokens, bodies.typical(), clocks)

    def _pgbench(self) -> dict[str, Load]:
        work = self._work(self._one, self._run.plan.clocks)
        return {"advance": PgbenchLoad(self._server, self._url, work.clocks)}


async def _micros_of_a_select(url: str) -> float:
    """Return the median latency of a prepared `select 1`, which is one round trip."""
    connection = await asyncpg.connect(url)
    try:
        select = await connection.prepare("select 1")
        micros = []
        for _ in range(_SELECTS):
            started = time.perf_counter()
            await select.fetchval()
            micros.append((time.perf_counter() - started) * 1e6)
    finally:
        await connection.close()
    return statistics.median(micros)
