"""`make bench`: measure Tickover against its targets, in one run that says what it does and how long it will take.

It prints a table of the targets with "pass" or "short", and one of the raw rates. A whole run leaves them in
bench/report.txt, with every round's own numbers in bench/report.json, and a chart in bench/report.svg; a quick one
leaves the same in .bench.
"""

import os
import shutil
import signal
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

import click

from bench import machine
from bench.chart import draw
from bench.growth import ManyClocks, of_sizes, of_starts
from bench.load import Void, need_wrk
from bench.on_postgres import PostgresBlocks
from bench.plan import (
    ALL_OVER,
    CLOCKS,
    CREATES,
    FULL,
    LARGEST,
    POSTGRES,
    QUICK,
    ROUNDS,
    SHARES,
    SIGN_INS,
    SIZES,
    STARTS,
    TYPICAL,
    Plan,
    fitted,
    parts_of,
)
from bench.progress import Progress
from bench.report import save_json, table_of_targets, tables_of_rates
from bench.results import Results
from bench.rounds import Run
from bench.sides import ROOT
from bench.signing_in import of_sign_ins
from bench.speed import SqliteBlocks
from bench.targets import Judge

BENCH = ROOT / ".bench"
_CREATES_A_SECOND = 5000.0
"""To plan by, where nothing is measured that would tell."""

BLOCKS = {
    "sqlite": (TYPICAL, LARGEST),
    "postgres": (POSTGRES, SHARES),
    "sign-ins": (SIGN_INS,),
    "sizes": (STARTS, SIZES),
    "clocks": (CREATES, CLOCKS, ALL_OVER),
}
"""What can be measured by itself, and the parts of the plan that it is."""


_BUSY = 0.7
"""Processes that want a core, before anything of ours does."""


class Bench:
    """One run over some blocks, each with servers of its own."""

    def __init__(self, plan: Plan, blocks: Sequence[str], folder: Path) -> None:
        self.plan = plan
        self.results = Results()
        self.progress = Progress()
        self._blocks = blocks
        self._folder = folder

    def run(self) -> None:
        self.results.facts.update(machine.facts())
        if (load := os.getloadavg()[0]) > _BUSY:
            self.progress.say(
                f"The machine is busy with other things (load {load:.1f}); the rounds will differ widely."
            )
        self._plan(_CREATES_A_SECOND)
        measuring: dict[str, Callable[[Run], None]] = {
            "sqlite": self._sqlite,
            "postgres": _postgres,
            "sign-ins": of_sign_ins,
            "sizes": _sizes,
            "clocks": lambda run: ManyClocks(run).measure(),
        }
        if "sqlite" not in self._blocks:
            self._tell_plan()
        for block in self._blocks:
            # What a block has started ends with it, so that it takes nothing from the next.
            with ExitStack() as stack:
                measuring[block](self._shared(stack))

    def _shared(self, stack: ExitStack) -> Run:
        return Run(self.plan, self.results, self.progress, self._folder, stack)

    def _sqlite(self, run: Run) -> None:
        blocks = SqliteBlocks(run)
        self._plan(blocks.creates_a_second())
        self._tell_plan()
        blocks.run = run._replace(plan=self.plan)
        blocks.typical()
        blocks.largest()

    def _plan(self, creates_a_second: float) -> None:
        every = parts_of(self.plan, creates_a_second)
        parts = {name: every[name] for block in self._blocks for name in BLOCKS[block]}
        self.plan = fitted(self.plan, parts, self.progress.elapsed)
        for name, part in parts.items():
            self.progress.plan(name, part.steps, part.seconds(self.plan))

    def _tell_plan(self) -> None:
        creates = f" and {self.plan.creates:,} creates" if "clocks" in self._blocks else ""
        self.progress.say(
            f"Plan: {self.progress.steps} slots of {self.plan.slot_seconds:.2f} s in {ROUNDS} rounds{creates}, "
            f"about {self.progress.minutes_left:.1f} minutes. Ctrl-C ends it and tells what there is."
        )


def _postgres(run: Run) -> None:
    blocks = PostgresBlocks(run)
    blocks.typical()
    blocks.with_equal_shares()


def _sizes(run: Run) -> None:
    of_starts(run)
    of_sizes(run)


@contextmanager
def _folder_of_run() -> Iterator[Path]:
    """On the disk that the project is on, since that of temporary files may be in memory; gone afterwards."""
    BENCH.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=BENCH))
    # PostgreSQL may be started as somebody else, who has to find the way to its own folder in it.
    folder.chmod(0o755)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Once: what ends the children shall not be interrupted itself."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _tell(bench: Bench, why_incomplete: str) -> None:
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
    told = "\n\n".join(filter(None, parts))
    click.echo(f"\n{told}")
    if not why_incomplete:
        folder = BENCH if bench.plan.is_quick else ROOT / "bench"
        save_json(folder / "report.json", rows, bench.results, bench.plan, bench.progress.took)
        (folder / "report.svg").write_text(draw(rows, bench.results.facts, bench.plan), "utf-8")
        (folder / "report.txt").write_text(f"{told}\n", "utf-8")
        click.echo(f"\n{folder.relative_to(ROOT)}/report.txt, report.json and report.svg were written.")


@click.command()
@click.option("--quick", is_flag=True, help="Shorter slots, fewer connections and fewer clocks.")
@click.option("--only", type=click.Choice(list(BLOCKS)), multiple=True, help="Measure only this, and write no report.")
def main(quick: bool, only: tuple[str, ...]) -> None:
    """Measure Tickover against its targets."""
    need_wrk()
    os.chdir(ROOT)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    why_incomplete, code = f"only {', '.join(only)} was measured" if only else "", 0
    with _folder_of_run() as folder:
        bench = Bench(QUICK if quick else FULL, only or tuple(BLOCKS), folder)
        try:
            bench.run()
        except KeyboardInterrupt:
            why_incomplete, code = "it was ended before its time", 130
        except (AssertionError, Void) as error:
            why_incomplete, code = f"a side has failed: {error}", 1
    _tell(bench, why_incomplete)
    sys.exit(code)


if __name__ == "__main__":
    main()
