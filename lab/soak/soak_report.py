"""Writes report.md: one table with a line for each row of the soak."""

import re
import time
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from lab.soak.rows import STORES, Figure, Row, StoreName

STORE_TITLES: dict[StoreName, str] = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_LINE = re.compile(r"^\| (R\d+) \|.*\| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
_NO_RESULT = "not run"

State = Literal["finished", "failed", "interrupted", "not run"]


class Result(NamedTuple):
    """The figures of one row on one store."""

    row: str
    store: StoreName
    state: State
    figures: Sequence[Figure]
    note: str = ""
    """The reason of a state other than finished."""
    minutes: float = 0.0

    @property
    def is_met(self) -> bool:
        return self.state == "finished" and all(figure.met is not False for figure in self.figures)

    @property
    def verdict(self) -> str:
        return ("met" if self.is_met else "not met") if self.state == "finished" else self.state


def write_report(rows: Sequence[Row], results: Sequence[Result], facts: str, earlier: str = "") -> str:
    """Return the report. Rows and stores without a result keep their cells of the earlier report."""
    cells = {
        (found[1], store): found[2 + number] for found in _LINE.finditer(earlier) for number, store in enumerate(STORES)
    }
    dates = {found[1]: found[4] for found in _LINE.finditer(earlier)}
    for result in results:
        cells[result.row, result.store] = result.verdict
        dates[result.row] = time.strftime("%Y-%m-%d", time.gmtime())
    lines = ["# Soak report", "", facts, ""]
    lines.append(f"| Row | What | Target | {' | '.join(STORE_TITLES[store] for store in STORES)} | Date |")
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        states = [cells.get((row.name, store), _NO_RESULT) if store in row.stores else "–" for store in STORES]
        lines.append(f"| {row.name} | {row.title} | {row.target} | {' | '.join(states)} | {dates.get(row.name, '')} |")
    return "\n".join(lines) + "\n"


def terminal_lines(result: Result) -> Iterator[str]:
    """Yield the lines that the terminal shows after a row."""
    yield f"{result.row} {STORE_TITLES[result.store]}: {result.verdict.upper()} ({result.minutes:.1f} min)"
    for figure in result.figures:
        target = f" ({figure.target})" if figure.target else ""
        yield f"  {'! ' if figure.met is False else '  '}{figure.name}: {figure.value}{target}"
    if result.note:
        yield f"    {result.note}"
