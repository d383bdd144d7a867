"""Runs rows one after the other and collects their results."""

import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import pytest

from lab.progress import Progress
from lab.soak.rows import Context, Figure, Row, StoreName
from lab.soak.soak_report import Result, State, terminal_lines

_DEADLINE_FACTOR = 2


class Soak:
    """One run over some rows and stores."""

    def __init__(
        self, rows: Sequence[Row], stores: Sequence[StoreName], is_quick: bool, folder: Path, out: TextIO = sys.stderr
    ) -> None:
        self.results: list[Result] = []
        self.progress = Progress(out)
        self._parts = [(row, store) for row in rows for store in stores if store in row.stores]
        self._is_quick = is_quick
        self._folder = folder

    def run(self) -> None:
        for row, store in self._parts:
            self.progress.plan(f"{row.name} {store}", row.planned_seconds(self._is_quick))
        self.progress.print_line(
            f"Parts: {len(self._parts)}. Planned minutes: {self.progress.minutes_left:.1f}. "
            "Ctrl-C ends the run and writes a report of the results so far."
        )
        for row, store in self._parts:
            self._run_part(row, store)

    def _run_part(self, row: Row, store: StoreName) -> None:
        part = f"{row.name} {store}"
        self.progress.show_step(part)
        folder = self._folder / part.replace(" ", "-")
        folder.mkdir(mode=0o755)
        started = time.monotonic()
        deadline = started + _DEADLINE_FACTOR * row.planned_seconds(self._is_quick)
        step = "start"

        def show(share: float, what: str) -> None:
            nonlocal step
            step = what
            self.progress.show_step(f"{part}: {what}", part, share)

        figures: list[Figure] = []
        state: State = "interrupted"
        note = ""
        try:
            for figure in row.run(Context(store, self._is_quick, folder, deadline, show)):
                figures.append(figure)  # noqa: PERF402 - figures before an error are kept
            state = "finished"
        except pytest.skip.Exception as reason:
            state, note = "not run", str(reason)
        except Exception as error:
            state, note = "failed", f"During {step}: {type(error).__name__}: {error}".splitlines()[0][:500]
            details = traceback.TracebackException.from_exception(error, capture_locals=True)
            (folder / "traceback.txt").write_text("".join(details.format()), "utf-8")
        except KeyboardInterrupt:
            note = f"During {step}."
            raise
        finally:
            minutes = (time.monotonic() - started) / 60
            self._add(Result(row.name, store, state, figures, note, minutes), folder)
        self.progress.show_step(part, part, 1)

    def _add(self, result: Result, folder: Path) -> None:
        self.results.append(result)
        for line in terminal_lines(result):
            self.progress.print_line(line)
        if result.is_met or result.state == "not run":
            shutil.rmtree(folder, ignore_errors=True)
        else:
            self.progress.print_line(f"    The files of this part are in {folder}")
