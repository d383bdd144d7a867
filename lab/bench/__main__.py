"""`make bench`: measure Tickover against its targets.

It prints a table of the targets with "pass" or "short". A complete full run writes it to report.txt in this folder,
and to docs/performance.md. A part that fails is reported, and the others are measured.
"""

import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import click

from lab.bench import machine
from lab.bench.bank_block import measure_bank
from lab.bench.growth import measure_growth
from lab.bench.ledger_block import measure_ledger
from lab.bench.plan import FULL, QUICK, ROUNDS, Plan
from lab.bench.postgres_block import measure_postgres
from lab.bench.programs import measure_programs
from lab.bench.report import table
from lab.bench.results import Results
from lab.bench.rounds import Run
from lab.bench.sides import ROOT
from lab.bench.sqlite_block import measure_sqlite
from lab.bench.targets import Judge
from lab.progress import Progress
from lab.run_folder import open_run_folder
from tests.support.debian_packages import install

BENCH = ROOT / ".bench"
_START, _END = "<!-- results of make bench -->", "<!-- end of results -->"
_BUSY = 0.7
"""Processes that use a core before the benchmark starts."""


Block = Callable[[Run], None]
"""Measures with its own servers."""

BLOCKS: Mapping[str, Block] = {
    "sqlite": measure_sqlite,
    "postgres": measure_postgres,
    "programs": measure_programs,
    "money": measure_ledger,
    "bank": measure_bank,
    "clocks": measure_growth,
}


class Bench:
    """One run over some blocks."""

    def __init__(self, plan: Plan, blocks: Mapping[str, Block], folder: Path) -> None:
        self.plan = plan
        self.results = Results()
        self.progress = Progress()
        self.failures: list[str] = []
        self._blocks = blocks
        self._folder = folder

    def run(self) -> None:
        if (load := os.getloadavg()[0]) > _BUSY:
            self.progress.print_line(f"The machine is busy (load {load:.1f}), so the rounds will differ widely.")
        self.progress.print_line("Ctrl-C ends it and prints the results so far.")
        for name, measure in self._blocks.items():
            try:
                # Servers end with their block, so that they don't affect the next one.
                with ExitStack() as stack:
                    measure(Run(self.plan, self.results, self.progress, self._folder, stack))
            except Exception as error:
                self.failures.append(f"{name} failed: {type(error).__name__}: {error}")
                self.progress.print_line(self.failures[-1])

    def report(self, why_incomplete: str) -> str:
        self.progress.end()
        rows = Judge(self.results, self.plan).rows()
        if why_incomplete:
            rows = [row for row in rows if row.spread or row.why_not]
        facts = [f"{name} {value}" for name, value in self.results.facts.items()]
        minutes = f"{self.progress.elapsed / 60:.1f} minutes, {ROUNDS} rounds with slots of {self.plan.slot_seconds} s"
        ending = f"INCOMPLETE: {why_incomplete}" if why_incomplete else ""
        parts = [
            ending,
            table(rows),
            textwrap.fill(f"{', '.join([*facts, minutes])}.", 118, break_on_hyphens=False),
            *(f"Repeated: {why}" for why in self.results.repeated),
            ending,
        ]
        return "\n\n".join(filter(None, parts))


def write_report(report: str) -> None:
    """Write the report to its file, and between two comments of the documentation."""
    (ROOT / "lab" / "bench" / "report.txt").write_text(f"{report}\n", "utf-8")
    page = ROOT / "docs" / "performance.md"
    before, _, rest = page.read_text("utf-8").partition(_START)
    _, _, after = rest.partition(_END)
    assert after, f"{page} has no places for the results"
    page.write_text(f"{before}{_START}\n\n{report}\n\n{_END}{after}", "utf-8")


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Raise KeyboardInterrupt once, so that the clean-up is not interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@click.command()
@click.option("--quick", is_flag=True, help="Shorter slots and fewer clocks; no report.")
@click.option("--only", type=click.Choice(list(BLOCKS)), multiple=True, help="Measure only this part; no report.")
def main(quick: bool, only: tuple[str, ...]) -> None:
    """Measure Tickover against its targets."""
    if not shutil.which("wrk") and (failure := install("wrk", unless=lambda: shutil.which("wrk"))):
        raise SystemExit(f"wrk is not installed, and it generates the load: {failure}")
    os.chdir(ROOT)
    # Otherwise every start would compile all modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    why_incomplete, code = [f"only {', '.join(only)} was measured"] if only else [], 0
    with open_run_folder(BENCH, keep_files=False) as folder:
        bench = Bench(QUICK if quick else FULL, {name: BLOCKS[name] for name in only or BLOCKS}, folder)
        bench.results.facts.update(machine.facts())
        try:
            bench.run()
        except KeyboardInterrupt:
            why_incomplete.append("it was interrupted")
            code = 130
    why_incomplete += bench.failures
    report = bench.report("; ".join(why_incomplete))
    click.echo(f"\n{report}")
    if not (why_incomplete or quick):
        write_report(report)
        click.echo("\nlab/bench/report.txt and docs/performance.md were written.")
    sys.exit(code or int(bool(bench.failures)))


if __name__ == "__main__":
    main()
