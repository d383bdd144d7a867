"""`make bench`: measure Tickover against its targets.

It prints a table of the targets with "pass" or "short". A complete full run writes it to report.txt in this folder,
and to docs/performance.md.
"""

import os
import platform
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NoReturn

import apsw
import click

from lab.bench.harness import FULL, QUICK, ROUNDS, Bench, table
from lab.bench.large_clocks import measure_large_clocks
from lab.bench.many_clocks import measure_many_clocks
from lab.bench.postgres_speed import measure_postgres_speed
from lab.bench.sqlite_speed import measure_sqlite_speed
from lab.bench.startup import measure_startup
from lab.processes import processor
from lab.run_folder import open_run_folder
from tests.support.debian_packages import install
from tests.support.repository import ROOT

PARTS: dict[str, Callable[[Bench], None]] = {
    "sqlite": measure_sqlite_speed,
    "postgres": measure_postgres_speed,
    "startup": measure_startup,
    "large-clocks": measure_large_clocks,
    "many-clocks": measure_many_clocks,
}
_START, _END = "<!-- results of make bench -->", "<!-- end of results -->"
_BUSY = 0.7
"""Processes that use a core before the benchmark starts."""


def machine() -> dict[str, Any]:
    """Describe the machine and the versions."""
    return {
        "cores": os.cpu_count(),
        "processor": processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in ("uvicorn", "uvloop", "httptools", "msgspec", "asyncpg")},
    }


def report(bench: Bench, why_incomplete: str) -> str:
    facts = [f"{name} {value}" for name, value in {**machine(), **bench.facts}.items()]
    length = f"{bench.progress.elapsed / 60:.1f} minutes, {ROUNDS} rounds with slots of {bench.plan.slot_seconds} s"
    rows = sorted(bench.rows, key=lambda row: int("".join(filter(str.isdigit, row.number))))
    ending = f"INCOMPLETE: {why_incomplete}" if why_incomplete else ""
    described = textwrap.fill(f"{', '.join([*facts, length])}.", 118, break_on_hyphens=False)
    return "\n\n".join(filter(None, [ending, table(rows), described, ending]))


def write_report(text: str) -> None:
    """Write the report to its file, and between two comments of the documentation."""
    (ROOT / "lab" / "bench" / "report.txt").write_text(f"{text}\n", "utf-8")
    page = ROOT / "docs" / "performance.md"
    before, _, rest = page.read_text("utf-8").partition(_START)
    _, _, after = rest.partition(_END)
    assert after, f"{page} has no places for the results"
    page.write_text(f"{before}{_START}\n\n{text}\n\n{_END}{after}", "utf-8")


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Raise KeyboardInterrupt once, so that the clean-up is not interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@click.command()
@click.option("--quick", is_flag=True, help="Shorter slots and fewer clocks; no report.")
@click.option("--only", type=click.Choice(list(PARTS)), multiple=True, help="Measure only this part; no report.")
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
    with open_run_folder(ROOT / ".bench", keep_files=False) as folder:
        bench = Bench(QUICK if quick else FULL, folder)
        if (load := os.getloadavg()[0]) > _BUSY:
            bench.progress.print_line(f"The machine is busy (load {load:.1f}), so the rounds will differ widely.")
        bench.progress.print_line("Ctrl-C ends it and prints the results so far.")
        try:
            bench.run({name: PARTS[name] for name in only or PARTS})
        except KeyboardInterrupt:
            why_incomplete.append("it was interrupted")
            code = 130
    bench.progress.end()
    why_incomplete += bench.failures
    text = report(bench, "; ".join(why_incomplete))
    click.echo(f"\n{text}")
    if not (why_incomplete or quick):
        write_report(text)
        click.echo("\nlab/bench/report.txt and docs/performance.md were written.")
    sys.exit(code or int(bool(bench.failures)))


if __name__ == "__main__":
    main()
