"""The tables of a run."""

from collections.abc import Iterator, Sequence
from typing import Any

from lab.bench.plan import CLOCKS, FULL, LARGEST, LEDGER, POSTGRES, SHARES, TYPICAL, Plan
from lab.bench.results import Case, Results, Slot, Spread
from lab.bench.sides import DURABILITY
from lab.bench.signin import name_of as sign_in_of
from lab.bench.targets import PASS, SHORT, Row, Unit

_DECIMALS: dict[Unit, int] = {"ratio": 2, "times": 1, "round trips": 2, "MiB": 0, "s": 2, "ms": 1}
_UNITS: dict[Unit, str] = {
    "ratio": "",
    "times": " times",
    "round trips": "",
    "MiB": " MiB",
    "s": " s",
    "ms": " ms",
}
_BLOCKS = {
    TYPICAL: "typical clocks, SQLite",
    LARGEST: "largest clocks, SQLite",
    POSTGRES: "typical clocks, PostgreSQL",
    SHARES: "PostgreSQL, each worker held to an equal share",
    CLOCKS: "number of living clocks, SQLite",
    LEDGER: "questions about a clock of 5,000 items, SQLite",
}
_GAP = "  "
_LEGEND = (
    "limit            a bare server that reads a request and returns a constant of the same size; it keeps nothing",
    "bare SQLite      a loop of the same statements, without any server",
    "FastAPI default  what a good team would write first: FastAPI, pydantic, SQLAlchemy",
    "typical clock    10 transactions and 2 goals of 6 contributions; the largest has 2,600 items",
    "docs/performance.md says how all this is measured, and why some targets are not reached.",
)


def written(value: float, unit: Unit) -> str:
    """A figure as a person reads it: two digits that matter, and its unit."""
    decimals = _DECIMALS[unit] if abs(value) < 100 else 0
    if unit in ("ratio", "times") and 0 < abs(value) < 1:
        decimals = 2 if abs(value) >= 0.1 else 3
    return f"{value:,.{decimals}f}{_UNITS[unit]}"


def measured(row: Row) -> str:
    if row.spread is None:
        return row.why_not or "–"
    low, high = (written(value, row.unit).split()[0] for value in (row.spread.lowest, row.spread.highest))
    middle = written(row.spread.median, row.unit)
    return middle if len(row.spread.rounds) == 1 else f"{middle} [{low} .. {high}]"


def target(row: Row) -> str:
    return f"{row.goal.sign} {row.goal.value:.3g}{_UNITS[row.unit]}" if row.goal else ""


def table_of_targets(rows: Sequence[Row], plan: Plan) -> str:
    head = ("", "what", "target", "median [lowest .. highest]", "")
    cells = [
        (row.number, row.what + ("*" if row.made_smaller else ""), target(row), measured(row), row.verdict)
        for row in rows
    ]
    smaller = sorted({row.made_smaller for row in rows if row.made_smaller})
    verdicts = [row.verdict for row in rows if row.goal]
    caption = (
        f"{len(verdicts)} targets: {verdicts.count(PASS)} pass, {verdicts.count(SHORT)} fall short, by the median of "
        "the rounds.\nTypical clocks at 64 connections, and ratios of calls a second, unless noted otherwise."
    )
    notes = [f"* made smaller by QUICK: {what}" for what in smaller]
    if plan.is_quick:
        notes.append(
            f"QUICK has slots of {plan.slot_seconds} s instead of {FULL.slot_seconds} s, advances {plan.clocks:,} "
            f"clocks, not {FULL.clocks:,}, and leaves out what no target is about."
        )
    return "\n".join([caption, "", *_aligned([head, *cells]), *notes, "", *_LEGEND])


def tables_of_rates(results: Results) -> str:
    parts = [*_rates(results), *_latencies(results), *_figures(results)]
    return "\n\n".join(parts)


def _rates(results: Results) -> Iterator[str]:
    for block, title in _BLOCKS.items():
        cases = results.cases(block)
        if not cases:
            continue
        every_connections = sorted({case.connections for case in cases})
        head = (f"Calls a second, {title}", "", *(f"{_connections(number)}" for number in every_connections))
        yield "\n".join(_aligned([head, *_lines(results, cases, every_connections, _rate_cell)]))


def _latencies(results: Results) -> Iterator[str]:
    for block in (TYPICAL, POSTGRES):
        cases = results.cases(block)
        if not cases:
            continue
        every_connections = sorted({case.connections for case in cases})
        head = (f"Median / p99, ms, {_BLOCKS[block]}", "", *(_connections(number) for number in every_connections))
        yield "\n".join(_aligned([head, *_lines(results, cases, every_connections, _latency_cell)]))


def _lines(results: Results, cases: Sequence[Case], every_connections: Sequence[int], cell: Any) -> list[Sequence[str]]:
    block = cases[0].block
    lines: list[Sequence[str]] = []
    for operation in dict.fromkeys(case.operation for case in cases):
        sides = dict.fromkeys(side for case in cases if case.operation == operation for side in results.sides(case))
        for side in sides:
            cells = [cell(results, Case(block, operation, number), side) for number in every_connections]
            if any(text != "–" for text in cells):
                lines.append((side, operation, *cells))
    return lines


def _connections(number: int) -> str:
    return "1 connection" if number == 1 else f"{number} connections"


def _rate_cell(results: Results, case: Case, side: str) -> str:
    spread = results.spread(case, side, lambda slot: slot.rate)
    return _numbers(spread, 0 if spread and spread.median >= 100 else 1)


def _latency_cell(results: Results, case: Case, side: str) -> str:
    spreads = [results.spread(case, side, how) for how in (_median_millis, _p99_millis)]
    return " / ".join(f"{spread.median:,.2f}" if spread and spread.median else "–" for spread in spreads).replace(
        "– / –", "–"
    )


def _median_millis(slot: Slot) -> float:
    return slot.median_micros / 1000


def _p99_millis(slot: Slot) -> float:
    return slot.p99_micros / 1000


def _numbers(spread: Spread | None, decimals: int) -> str:
    if spread is None:
        return "–"
    return f"{spread.median:,.{decimals}f} [{spread.lowest:,.{decimals}f} .. {spread.highest:,.{decimals}f}]"


def _figures(results: Results) -> Iterator[str]:
    found = [(name, Spread.of(values)) for name, values in results.figures.items() if name.startswith(sign_in_of(""))]
    sign_ins = [(name.removeprefix(sign_in_of("")), _numbers(spread, 2)) for name, spread in found if spread]
    if sign_ins:
        yield "\n".join(_aligned([("Server CPU of a sign-in, ms", ""), *sign_ins]))
    yield "\n".join(_aligned([("Durability", ""), *DURABILITY.items()]))


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    padded = [_GAP.join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return [padded[0], "─" * max(map(len, padded)), *padded[1:]]
