"""Alternates between sides, slot by slot, in at least five rounds.

Noise of the machine affects all sides equally if they alternate. So only measurements of the same round are compared.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from lab.bench.load import Load
from lab.bench.plan import ROUNDS, Plan
from lab.bench.results import Case, Results
from lab.progress import Progress

_WARM_UP_CONNECTIONS = 16


class Run(NamedTuple):
    """The state that all blocks of a run share. `stack` stops all processes when the run ends."""

    plan: Plan
    results: Results
    progress: Progress
    folder: Path
    stack: ExitStack


class Contender(NamedTuple):
    """A side in a block: the load of each operation, and the numbers of connections."""

    name: str
    loads: Mapping[str, Load]
    connections: Sequence[int]


def alternate(run: Run, block: str, contenders: Sequence[Contender], shortest: float = 0) -> None:
    """Measure all contenders in turn. Each round starts with another one. Slots have at least `shortest` seconds."""
    _warm_up(run, block, contenders)
    seconds = max(shortest, run.plan.slot_seconds)
    for round in range(ROUNDS):
        for operation, connections in _work(contenders):
            turns = [one for one in contenders if operation in one.loads and connections in one.connections]
            first = round % len(turns)
            for one in turns[first:] + turns[:first]:
                count = f"{connections} connection{'s' if connections > 1 else ''}"
                run.progress.show_step(f"{block}: {operation}, {count}, {one.name}, round {round + 1} of {ROUNDS}")
                slot = one.loads[operation].run(connections, seconds)
                run.results.add(Case(block, operation, connections), one.name, round, slot)
    for one in contenders:
        for operation, load in one.loads.items():
            run.results.repeated += [f"{block}: {operation} on {one.name}, {why}" for why in load.retries]


def _work(contenders: Sequence[Contender]) -> list[tuple[str, int]]:
    """Return every operation with every number of connections that a contender has."""
    every = [
        (operation, connections) for one in contenders for operation in one.loads for connections in one.connections
    ]
    return sorted(set(every))


def _warm_up(run: Run, block: str, contenders: Sequence[Contender]) -> None:
    """Run one uncounted slot for each: it opens connections, plans statements and fills caches."""
    for one in contenders:
        for operation, load in one.loads.items():
            run.progress.show_step(f"{block}: warming up {one.name}, {operation}")
            connections = min(max(one.connections), _WARM_UP_CONNECTIONS)
            load.run(connections, run.plan.warm_up_seconds)
