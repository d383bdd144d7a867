"""Writes report.md: one table of all rows, and the figures of each."""

from collections.abc import Iterator, Sequence

from lab.soak.results import Result
from lab.soak.rows import STORES, Figure, Row, StoreName

_STORE_TITLES: dict[StoreName, str] = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_MET = {True: "met", False: "**not met**", None: ""}


def write_report(rows: Sequence[Row], results: Sequence[Result], facts: str) -> str:
    found = {(result.row, result.store): result for result in results}
    lines = ["# Soak report", "", facts, "", *_overview(rows, found)]
    for row in rows:
        lines += ["", f"## {row.name}: {row.title}", "", f"Target: {row.target}."]
        for store in row.stores:
            if result := found.get((row.name, store)):
                lines += ["", *_section(result)]
    return "\n".join(lines) + "\n"


def _overview(rows: Sequence[Row], found: dict[tuple[str, StoreName], Result]) -> Iterator[str]:
    yield f"| | | {' | '.join(_STORE_TITLES[store] for store in STORES)} |"
    yield f"|---|---|{'---|' * len(STORES)}"
    for row in rows:
        states = [_state(row, store, found.get((row.name, store))) for store in STORES]
        yield f"| {row.name} | {row.title} | {' | '.join(states)} |"


def _state(row: Row, store: StoreName, result: Result | None) -> str:
    if store not in row.stores:
        return "–"
    if result is None:
        return "not run"
    return _MET[result.is_met] if result.state == "finished" else f"**{result.state}**"


def _section(result: Result) -> Iterator[str]:
    yield f"### {result.row} on {_STORE_TITLES[result.store]}"
    yield ""
    yield f"{result.minutes:.1f} minutes, {result.state} at {result.finished_at}."
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
