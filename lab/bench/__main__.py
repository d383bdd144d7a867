"""`make bench`: measure Tickover against its targets.

It prints a table of the targets with "pass" or "short", and a table of the measured rates. A full run writes them to
report.txt in this folder, the numbers of each round to report.json, and a chart to report.svg. A quick run writes the
same files to .bench.
"""

import os
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import click

from lab.bench import machine
from lab.bench.amendments import measure_amendments
from lab.bench.chart import draw
from lab.bench.growth import ManyClocks, measure_sizes
from lab.bench.ledger_block import measure_ledger
from lab.bench.load import InvalidSlot, require_wrk
from lab.bench.observation import measure_observation
from lab.bench.plan import (
    ALL_OVER,
    AMENDMENTS,
    CLOCKS,
    CREATES,
    DELAY,
    FULL,
    LARGEST,
    LEDGER,
    OBSERVATION,
    POSTGRES,
    QUICK,
    ROUNDS,
    SHARES,
    SIGN_INS,
    SIZES,
    STARTS,
    TYPICAL,
    Plan,
    fit_into_time,
    parts_of,
)
from lab.bench.postgres_block import PostgresBlocks
from lab.bench.programs import measure_programs
from lab.bench.progress import Progress
from lab.bench.report import save_json, table_of_targets, tables_of_rates
from lab.bench.results import Results
from lab.bench.rounds import Run
from lab.bench.sides import ROOT
from lab.bench.signin_block import measure_sign_ins
from lab.bench.sqlite_block import SqliteBlocks
from lab.bench.targets import Judge
from lab.run_folder import open_run_folder

BENCH = ROOT / ".bench"
_ASSUMED_CREATES_A_SECOND = 5000.0
"""Used for planning if nothing is measured that tells the rate."""

BLOCKS = {
    "sqlite": (TYPICAL, LARGEST),
    "postgres": (POSTGRES, SHARES, DELAY),
    "sign-ins": (SIGN_INS,),
    "programs": (STARTS,),
    "money": (LEDGER,),
    "amendments": (AMENDMENTS,),
    "observation": (OBSERVATION,),
    "sizes": (SIZES,),
    "clocks": (CREATES, CLOCKS, ALL_OVER),
}
"""The parts of the plan that can be measured alone, by name."""


_BUSY = 0.7
"""Processes that use a core before the benchmark starts."""


class Bench:
    """One run over some blocks. Each block has its own servers."""

    def __init__(self, plan: Plan, blocks: Sequence[str], folder: Path) -> None:
        self.plan = plan
        self.results = Results()
        self.progress = Progress()
        self._blocks = blocks
        self._folder = folder

    def run(self) -> None:
        self.results.facts.update(machine.facts())
        if (load := os.getloadavg()[0]) > _BUSY:
            self.progress.print_line(f"The machine is busy (load {load:.1f}), so the rounds will differ widely.")
        self._plan(_ASSUMED_CREATES_A_SECOND)
        measuring: dict[str, Callable[[Run], None]] = {
            "sqlite": self._sqlite,
            "postgres": _postgres,
            "sign-ins": measure_sign_ins,
            "programs": measure_programs,
            "money": measure_ledger,
            "amendments": measure_amendments,
            "observation": measure_observation,
            "sizes": measure_sizes,
            "clocks": lambda run: ManyClocks(run).measure(),
        }
        if "sqlite" not in self._blocks:
            self._report_plan()
        for block in self._blocks:
            # Servers end with their block, so that they don't affect the next one.
            with ExitStack() as stack:
                measuring[block](self._shared(stack))

    def _shared(self, stack: ExitStack) -> Run:
        return Run(self.plan, self.results, self.progress, self._folder, stack)

    def _sqlite(self, run: Run) -> None:
        blocks = SqliteBlocks(run)
        self._plan(blocks.creates_a_second())
        self._report_plan()
        blocks.run = run._replace(plan=self.plan)
        blocks.typical()
        blocks.largest()

    def _plan(self, creates_a_second: float) -> None:
        every = parts_of(self.plan, creates_a_second)
        parts = {name: every[name] for block in self._blocks for name in BLOCKS[block]}
        self.plan = fit_into_time(self.plan, parts, self.progress.elapsed)
        for name, part in parts.items():
            self.progress.plan(name, part.steps, part.seconds(self.plan))

    def _report_plan(self) -> None:
        creates = f" and {self.plan.creates:,} creates" if "clocks" in self._blocks else ""
        self.progress.print_line(
            f"Plan: {self.progress.steps} slots of {self.plan.slot_seconds:.2f} s in {ROUNDS} rounds{creates}, "
            f"about {self.progress.minutes_left:.1f} minutes. Ctrl-C ends it and prints the results so far."
        )


def _postgres(run: Run) -> None:
    blocks = PostgresBlocks(run)
    blocks.typical()
    blocks.with_equal_shares()
    blocks.with_added_latency()


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Raise KeyboardInterrupt once, so that the clean-up is not interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _report(bench: Bench, why_incomplete: str) -> None:
    bench.progress.end()
    every_row = Judge(bench.results, bench.plan).rows()
    rows = [row for row in every_row if row.spread or row.why_not or not why_incomplete]
    ending = f"INCOMPLETE: {why_incomplete}" if why_incomplete else ""
    facts = [f"{name} {value}" for name, value in bench.results.facts.items()]
    repeated = [f"Repeated: {why}" for why in bench.results.repeated]
    minutes = f"{bench.progress.elapsed / 60:.1f} minutes, {bench.plan.slot_seconds:.2f} s a slot, {ROUNDS} rounds"
    parts = [
        ending,
        table_of_targets(rows, bench.plan),
        tables_of_rates(bench.results),
        textwrap.fill("; ".join([*facts, minutes]), 118, break_on_hyphens=False),
        *repeated,
        ending,
    ]
    report = "\n\n".join(filter(None, parts))
    click.echo(f"\n{report}")
    if not why_incomplete:
        folder = BENCH if bench.plan.is_quick else ROOT / "lab" / "bench"
        save_json(folder / "report.json", rows, bench.results, bench.plan, bench.progress.took)
        (folder / "report.svg").write_text(draw(rows, bench.results.facts, bench.plan), "utf-8")
        (folder / "report.txt").write_text(f"{report}\n", "utf-8")
        click.echo(f"\n{folder.relative_to(ROOT)}/report.txt, report.json and report.svg were written.")


@click.command()
@click.option("--quick", is_flag=True, help="Shorter slots, fewer connections and fewer clocks.")
@click.option("--only", type=click.Choice(list(BLOCKS)), multiple=True, help="Measure only this part; no report.")
def main(quick: bool, only: tuple[str, ...]) -> None:
    """Measure Tickover against its targets."""
    require_wrk()
    os.chdir(ROOT)
    # Otherwise every start would compile all modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    why_incomplete, code = f"only {', '.join(only)} was measured" if only else "", 0
    with open_run_folder(BENCH, keep_files=False) as folder:
        bench = Bench(QUICK if quick else FULL, only or tuple(BLOCKS), folder)
        try:
            bench.run()
        except KeyboardInterrupt:
            why_incomplete, code = "it was interrupted", 130
        except (AssertionError, InvalidSlot) as error:
            why_incomplete, code = f"a server failed: {error}", 1
    _report(bench, why_incomplete)
    sys.exit(code)


if __name__ == "__main__":
    main()
