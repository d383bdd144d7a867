"""Writes report.md: one table of all rows, and the figures of each."""

import re
from collections.abc import Iterator, Mapping, Sequence

from lab.soak.results import Result
from lab.soak.rows import STORES, Figure, Row, StoreName

_STORE_TITLES: dict[StoreName, str] = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_MET = {True: "met", False: "**not met**", None: ""}


def write_report(rows: Sequence[Row], results: Sequence[Result], facts: str, earlier: str = "") -> str:
    """Return the report. Rows without a result keep their sections of the earlier report."""
    sections = {part.partition("\n")[0]: part.strip() for part in re.split(r"^(?=##)", earlier, flags=re.MULTILINE)} | {
        _heading(result.row, result.store): "\n".join(_section(result)) for result in results
    }
    lines = ["# Soak report", "", facts, "", *_overview(rows, sections)]
    for row in rows:
        lines += ["", f"## {row.name}: {row.title}", "", f"Target: {row.target}."]
        for store in row.stores:
            if section := sections.get(_heading(row.name, store)):
                lines += ["", section]
    return "\n".join(lines) + "\n"


def _heading(row: str, store: StoreName) -> str:
    return f"### {row} on {_STORE_TITLES[store]}"


def _overview(rows: Sequence[Row], sections: Mapping[str, str]) -> Iterator[str]:
    yield f"| | | {' | '.join(_STORE_TITLES[store] for store in STORES)} |"
    yield f"|---|---|{'---|' * len(STORES)}"
    for row in rows:
        states = [_state(row, store, sections.get(_heading(row.name, store))) for store in STORES]
        yield f"| {row.name} | {row.title} | {' | '.join(states)} |"


def _state(row: Row, store: StoreName, section: str | None) -> str:
    if store not in row.stores:
        return "–"
    return section.splitlines()[2].partition(":")[0] if section else "not run"


def _section(result: Result) -> Iterator[str]:
    yield _heading(result.row, result.store)
    yield ""
    state = _MET[result.is_met] if result.state == "finished" else f"**{result.state}**"
    yield f"{state}: {result.minutes:.1f} minutes, {result.state} at {result.finished_at}."
    if result.note:
        yield ""
        yield f"> {result.note}"
    if result.figures:
        yield ""
        yield "| figure | value | target | |"
        yield "|---|---|---|---|"
        yield from map(_line, result.figures)


def _line(figure: Figure) -> str:
    cells = (figure.name, figure.value, figure.target, _MET[figure.met])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def terminal_lines(result: Result) -> Iterator[str]:
    """Yield the lines that the terminal shows after a row."""
    state = ("met" if result.is_met else "NOT MET") if result.state == "finished" else result.state.upper()
    yield f"{result.row} {_STORE_TITLES[result.store]}: {state} ({result.minutes:.1f} min)"
    for figure in result.figures:
        target = f" ({figure.target})" if figure.target else ""
        yield f"  {'! ' if figure.met is False else '  '}{figure.name}: {figure.value}{target}"
    if result.note:
        yield f"    {result.note}"
