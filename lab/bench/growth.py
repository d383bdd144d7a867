"""Measurements of growth: the number of clocks, the size of a clock, and memory."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw

from lab.bench import bodies
from lab.bench.calls import clocks_of
from lab.bench.plan import ALL_OVER, CLOCKS, MAX_CONNECTIONS, SIZES, Plan
from lab.bench.rounds import Contender, Run, alternate
from lab.bench.sides import Side, Work, tickover
from lab.bench.sqlite_block import prepare

MEMORY_AFTER_CREATES = "MiB after many creates"
SIZE_CONNECTIONS = 16
_ADVANCED = 1000
_USERS_OF_SIZES = 10
_CLOCKS_OF_EACH_SIZE = 100
_BYTES_PER_CLOCK = 10_000


class ManyClocks:
    """Three servers: with a thousand clocks, with a tenth of very many, and with very many."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._folder = run.folder / "growth"
        self._params = bodies.typical()
        self.counts = (_ADVANCED, run.plan.creates // 10, run.plan.creates)
        _check_disk_space(run)

    def measure(self) -> None:
        few, middle, many, all_over = self._servers()
        # Wait until the writes of the creations are finished.
        os.sync()
        alternate(self._run, CLOCKS, [few, middle, many])
        # Alone, because they evict other clocks from the server's cache.
        alternate(self._run, ALL_OVER, [few, all_over])

    def _servers(self) -> list[Contender]:
        _, middle, many = self.counts
        enter = self._run.stack.enter_context
        large = enter(tickover(self._folder / "large"))
        tokens = [user.token for user in large.sign_in(self._run.plan.users)]
        every = many // self._run.plan.advanced_all_over
        created_of_middle = self._fill(large, tokens, 0, middle, every)
        # Cheaper than creating them again.
        _copy(self._folder / "large" / "data", self._folder / "medium" / "data")
        created_of_many = created_of_middle + self._fill(large, tokens, middle, many - middle, every)
        self._run.results.figure(MEMORY_AFTER_CREATES, large.process.mebibytes())
        medium, small = enter(tickover(self._folder / "medium")), enter(tickover(self._folder / "small"))
        own_tokens = [user.token for user in small.sign_in(self._run.plan.users)]
        created_of_few = small.filler(own_tokens, self._params).fill(_ADVANCED)
        chosen = dict.fromkeys(_select_evenly(created_of_many))
        # Only one load advances each clock, so that no advance goes back.
        others = [one for one in created_of_many if one not in chosen]
        return [
            self._contender(name, side, created, tokens)
            for name, side, created, tokens in (
                (name_of(self.counts[0]), small, created_of_few, own_tokens),
                (name_of(middle), medium, _select_evenly(created_of_middle), tokens),
                (name_of(many), large, list(chosen), tokens),
                (name_of_all(self._run.plan), large, others, tokens),
            )
        ]

    def _fill(self, side: Side, tokens: list[str], before: int, count: int, every: int) -> list[tuple[str, int]]:
        def report(done: int) -> None:
            total = self._run.plan.creates
            step = f"creating clocks over HTTP, {before + done:,} of {total:,}"
            self._run.progress.show_step(step)

        return side.filler(tokens, self._params).fill(count, every, MAX_CONNECTIONS, report)

    def _contender(self, name: str, side: Side, created: list[tuple[str, int]], tokens: list[str]) -> Contender:
        """Return a load whose advances are spread evenly over all clocks of the server."""
        work = Work(name, clocks_of(created, tokens, self._params), self._params)
        return Contender(name, {"advance": side.loads(work)["advance"]}, (MAX_CONNECTIONS,))


def name_of(count: int) -> str:
    return f"{count:,} clocks"


def name_of_all(plan: Plan) -> str:
    return f"{plan.advanced_all_over - _ADVANCED:,} of {plan.creates:,} clocks"


def _select_evenly(created: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return as many clocks as the others advance, evenly spread."""
    return created[:: len(created) // _ADVANCED][:_ADVANCED]


_BODIES: dict[str, Callable[[], bodies.Json]] = {
    "1 transaction": partial(bodies.with_transactions, 1),
    "10 transactions": partial(bodies.with_transactions, 10),
    "100 transactions": partial(bodies.with_transactions, 100),
    "2,600 items": bodies.largest,
}


def memory_name(size: str) -> str:
    return f"MiB, {size}"


def measure_sizes(run: Run) -> None:
    """One server for each size, so that memory is measured separately."""
    contenders = []
    for name in run.plan.sizes:
        run.progress.show_step(f"{SIZES}: creating clocks of {name}")
        side = run.stack.enter_context(tickover(run.folder / "sizes" / name.replace(" ", "-")))
        tokens = [user.token for user in side.sign_in(_USERS_OF_SIZES)]
        work = prepare(SIZES, side, tokens, _BODIES[name](), _CLOCKS_OF_EACH_SIZE)
        contenders.append((side, Contender(name, side.loads(work), (SIZE_CONNECTIONS,))))
    alternate(run, SIZES, [contender for _, contender in contenders])
    for side, contender in contenders:
        run.results.figure(memory_name(contender.name), side.process.mebibytes())


def _copy(data: Path, to: Path) -> None:
    """Copy the data of a running, idle server."""
    to.mkdir(parents=True)
    shutil.copy(data / "secret.key", to)
    source, copy = (apsw.Connection(str(folder / "tickover.db")) for folder in (data, to))
    with closing(source), closing(copy), copy.backup("main", source, "main") as backup:
        backup.step()


def _check_disk_space(run: Run) -> None:
    needed = run.plan.creates * _BYTES_PER_CLOCK
    free = shutil.disk_usage(run.folder).free
    if free < needed:
        raise SystemExit(
            f"{run.plan.creates:,} clocks need {needed / 1e9:.0f} GB of disk for a while, and there are only "
            f"{free / 1e9:.0f}. QUICK=1 needs less."
        )
