"""Measurements of growth: the number of clocks, and memory."""

import os

from lab.bench import bodies
from lab.bench.calls import clocks_of
from lab.bench.plan import CLOCKS, MAX_CONNECTIONS
from lab.bench.rounds import Contender, Run, alternate
from lab.bench.sides import Side, Tickover, Work

MEMORY_AFTER_CREATES = "MiB after many creates"
FEW = 1000
"""The number of clocks that are advanced in turn."""


def measure_growth(run: Run) -> None:
    """Two servers: with a thousand clocks, and with very many. The same number of clocks is advanced on both."""
    enter, folder = run.stack.enter_context, run.folder / "growth"
    many, few = enter(Tickover(folder / "many")), enter(Tickover(folder / "few"))
    contenders = [_contender(run, side, count) for side, count in ((many, run.plan.creates), (few, FEW))]
    run.results.figure(MEMORY_AFTER_CREATES, many.process.mebibytes())
    # Wait until the writes of the creations are finished.
    os.sync()
    alternate(run, CLOCKS, contenders[::-1])


def _contender(run: Run, side: Side, count: int) -> Contender:
    """Create this many clocks. Return a load whose advances are spread evenly over all of them."""

    def report(done: int) -> None:
        run.progress.show_step(f"creating clocks over HTTP, {done:,} of {count:,}")

    params = bodies.typical()
    tokens = side.tokens(run.plan.users)
    created = side.filler(tokens, params).fill(count, count // FEW, MAX_CONNECTIONS, report)
    work = Work(name_of(count), clocks_of(created, tokens, params), params)
    return Contender(name_of(count), {"advance": side.loads(work)["advance"]}, (MAX_CONNECTIONS,))


def name_of(count: int) -> str:
    return f"{count:,} clocks"
