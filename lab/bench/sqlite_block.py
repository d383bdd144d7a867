"""The blocks on SQLite: typical and largest clocks, on Tickover and on the limit."""

from typing import Any

from lab.bench import bodies
from lab.bench.bare_sqlite import BareSqlite
from lab.bench.calls import clocks_of, post
from lab.bench.plan import LARGEST, MAX_CONNECTIONS, TYPICAL
from lab.bench.rounds import Contender, Run, alternate
from lab.bench.sides import BARE, LIMIT, TICKOVER, Side, Tickover, Work, limit

TYPICAL_BESIDE_LARGEST = "Tickover, typical clock"
"""Typical clocks in the block of the largest clocks, so that the time per item is compared within its rounds."""
MEMORY_UNDER_LOAD = "MiB under 64 connections"
_USERS_OF_LARGEST = 10


def measure_sqlite(run: Run) -> None:
    blocks = _SqliteBlocks(run)
    blocks.typical()
    blocks.largest()


class _SqliteBlocks:
    """Servers that run for both blocks. Only one of them is loaded at a time."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._folder = run.folder / "sqlite"
        run.progress.show_step("starting the server on SQLite")
        self._tickover = run.stack.enter_context(Tickover(self._folder / "tickover"))
        self._tokens = self._tickover.tokens(run.plan.users)

    def typical(self) -> None:
        """Runs before the largest clocks, whose items are compared with those of the same typical clocks."""
        plan, params = self._run.plan, bodies.typical()
        work = prepare(self._run, TYPICAL, self._tickover, self._tokens, params, plan.clocks)
        self._typical_loads = self._tickover.loads(work)
        # A stored schedule is about as long as its request.
        bare = BareSqlite(self._folder / "bare.db", len(bodies.request("createTestClock", params)))
        self._run.stack.callback(bare.close)
        alternate(self._run, TYPICAL, [
            Contender(LIMIT, self._limit(work).loads(work), (1, MAX_CONNECTIONS)),
            Contender(TICKOVER, self._typical_loads, (1, MAX_CONNECTIONS)),
            Contender(BARE, {"advance": bare}, (1,)),
        ])  # fmt: skip
        # The process keeps what it allocated under 64 connections.
        self._run.results.figure(MEMORY_UNDER_LOAD, self._tickover.process.mebibytes())

    def largest(self) -> None:
        plan, params = self._run.plan, bodies.largest()
        # A script contains one request for each user, and the largest requests are large.
        tokens = self._tokens[:_USERS_OF_LARGEST]
        work = prepare(self._run, LARGEST, self._tickover, tokens, params, plan.largest_clocks)
        alternate(self._run, LARGEST, [
            Contender(TICKOVER, self._tickover.loads(work), (1,)),
            Contender(TYPICAL_BESIDE_LARGEST, self._typical_loads, (1,)),
        ])  # fmt: skip

    def _limit(self, work: Work) -> Side:
        """Gets the same requests, and returns as many bytes."""
        size = len(post(self._tickover.url, "createTestClock", work.params, work.clocks.tokens[0]))
        return self._run.stack.enter_context(limit(self._folder / f"limit-{work.name}", size))


def prepare(run: Run, name: str, side: Side, tokens: list[str], params: Any, clocks: int) -> Work:
    """Create this many clocks on a side, to be advanced later."""
    run.progress.show_step(f"{name}: creating {clocks:,} clocks on {side.name}")
    created = side.filler(tokens, params).fill(clocks)
    return Work(name, clocks_of(created, tokens, params), params)
