"""The heart of a run: sides that take turns, slot by slot, in at least five rounds.

A noisy machine is noisy to all sides alike when they alternate, so only what was measured within one round is compared.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from bench.load import Load
from bench.plan import ROUNDS, Plan
from bench.progress import Progress
from bench.results import Case, Results

_WARM_UP_CONNECTIONS = 16


class Run(NamedTuple):
    """What all blocks of a run share. `stack` ends whatever was started, in whatever way the run ends."""

    plan: Plan
    results: Results
    progress: Progress
    folder: Path
    stack: ExitStack


class Contender(NamedTuple):
    """A side as a block meets it: what each operation is measured with, and with how many connections."""

    name: str
    loads: Mapping[str, Load]
    connections: Sequence[int]


def alternate(run: Run, block: str, contenders: Sequence[Contender], shortest: float = 0) -> None:
    """Measure all contenders in turn, each round beginning with another, in slots of at least `shortest` seconds."""
    rates = _warm_up(run, block, contenders)
    for round in range(ROUNDS):
        for operation, connections in _work(contenders):
            turns = [one for one in contenders if operation in one.loads and connections in one.connections]
            first = round % len(turns)
            for one in turns[first:] + turns[:first]:
                seconds = max(shortest, run.plan.slot_of(rates[one.name, operation], connections))
                asked = f"{connections} connection{'s' if connections > 1 else ''}"
                run.progress.doing(f"{block}: {operation}, {asked}, {one.name}, round {round + 1} of {ROUNDS}")
                slot = one.loads[operation].run(connections, seconds)
                run.results.add(Case(block, operation, connections), one.name, round, slot)
                rates[one.name, operation] = slot.rate
                run.progress.did(block)
    for one in contenders:
        for operation, load in one.loads.items():
            run.results.repeated += [f"{block}: {operation} on {one.name}, {why}" for why in load.troubles]
    run.progress.end_of(block)


def _work(contenders: Sequence[Contender]) -> list[tuple[str, int]]:
    """Every operation with every number of connections that somebody is measured with."""
    every = [
        (operation, connections) for one in contenders for operation in one.loads for connections in one.connections
    ]
    return sorted(set(every))


def _warm_up(run: Run, block: str, contenders: Sequence[Contender]) -> dict[tuple[str, str], float]:
    """One short slot for each, which is not counted: connections are made, statements planned, caches filled."""
    rates = {}
    for one in contenders:
        for operation, load in one.loads.items():
            run.progress.doing(f"{block}: warming up {one.name}, {operation}")
            connections = min(max(one.connections), _WARM_UP_CONNECTIONS)
            rates[one.name, operation] = load.run(connections, run.plan.warm_up_seconds).rate
    return rates
