"""Runs rows one after the other, prints their figures, and writes report.md with their verdicts."""

import re
import shutil
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TextIO

import pytest

from lab.progress import Progress
from lab.soak.rows import STORES, Context, Row, StoreName

Verdict = Literal["met", "not met", "failed", "interrupted", "not run"]

STORE_TITLES: dict[StoreName, str] = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_DEADLINE_FACTOR = 2
_LINE = re.compile(r"^\| (R\d+) \|.*\| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)


class Soak:
    """One run over some rows and stores."""

    def __init__(
        self, rows: Sequence[Row], stores: Sequence[StoreName], is_quick: bool, folder: Path, out: TextIO = sys.stderr
    ) -> None:
        self.verdicts: dict[tuple[str, StoreName], Verdict] = {}
        self.progress = Progress(out)
        self._parts = [(row, store) for row in rows for store in stores if store in row.stores]
        self._is_quick = is_quick
        self._folder = folder

    def run(self) -> None:
        minutes = sum(row.planned_seconds(self._is_quick) for row, _ in self._parts) / 60
        self.progress.print_line(f"About {minutes:.0f} minutes on an idle machine. Ctrl-C ends the run with a report.")
        for row, store in self._parts:
            self._run_part(row, store)

    def _run_part(self, row: Row, store: StoreName) -> None:
        part = f"{row.name} {STORE_TITLES[store]}"
        folder = self._folder / f"{row.name}-{store}"
        folder.mkdir(mode=0o755)
        started = time.monotonic()
        deadline = started + _DEADLINE_FACTOR * row.planned_seconds(self._is_quick)

        def show(share: float, step: str) -> None:
            self.progress.show_step(f"{part}, {share:.0%}: {step}")

        show(0, "start")
        verdict: Verdict = "interrupted"
        try:
            verdict = self._print_figures(row, Context(store, self._is_quick, folder, deadline, show))
        except pytest.skip.Exception as reason:
            verdict = "not run"
            self.progress.print_line(f"    {reason}")
        except Exception as error:
            verdict = "failed"
            first_line = f"{type(error).__name__}: {error}".splitlines()[0][:500]
            self.progress.print_line(f"    During {self.progress.step}: {first_line}")
            details = traceback.TracebackException.from_exception(error, capture_locals=True)
            (folder / "traceback.txt").write_text("".join(details.format()), "utf-8")
        finally:
            self.verdicts[row.name, store] = verdict
            self.progress.print_line(f"{part}: {verdict.upper()} ({(time.monotonic() - started) / 60:.1f} min)")
            if verdict in ("met", "not run"):
                shutil.rmtree(folder, ignore_errors=True)
            else:
                self.progress.print_line(f"    The files of this part are in {folder}")

    def _print_figures(self, row: Row, context: Context) -> Verdict:
        are_met = True
        for figure in row.run(context):
            target = f" ({figure.target})" if figure.target else ""
            self.progress.print_line(f"  {'! ' if figure.met is False else '  '}{figure.name}: {figure.value}{target}")
            are_met &= figure.met is not False
        return "met" if are_met else "not met"


def write_report(
    rows: Sequence[Row], verdicts: Mapping[tuple[str, StoreName], Verdict], facts: str, earlier: str = ""
) -> str:
    """Return the report. Rows and stores without a verdict keep their cells of the earlier report."""
    cells: dict[tuple[str, StoreName], str] = {}
    dates = {}
    for name, sqlite, postgres, date in _LINE.findall(earlier):
        cells |= {(name, "sqlite"): sqlite, (name, "postgres"): postgres}
        dates[name] = date
    cells |= verdicts
    dates |= {name: time.strftime("%Y-%m-%d", time.gmtime()) for name, _ in verdicts}
    lines = ["# Soak report", "", facts, ""]
    lines.append(f"| Row | What | Target | {' | '.join(STORE_TITLES.values())} | Date |")
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        states = [cells.get((row.name, store), "not run") if store in row.stores else "–" for store in STORES]
        lines.append(f"| {row.name} | {row.title} | {row.target} | {' | '.join(states)} | {dates.get(row.name, '')} |")
    return "\n".join(lines) + "\n"
