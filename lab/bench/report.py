"""The report of a run: one table of the targets, in Markdown, so that the documentation can show it as it is."""

from collections.abc import Sequence

from lab.bench.targets import PASS, SHORT, Row, Unit

_SUFFIXES: dict[Unit, str] = {"ratio": "", "times": " times", "MiB": " MiB", "s": " s", "ms": " ms"}


def table(rows: Sequence[Row]) -> str:
    verdicts = [row.verdict for row in rows]
    caption = f"{verdicts.count(PASS)} of {len(rows)} targets pass, {verdicts.count(SHORT)} fall short."
    cells = [(row.number, row.what, _target(row), _result(row), row.verdict) for row in rows]
    head = ("", "What", "Target", "Median (lowest to highest round)", "")
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    lines = [head, ["-" * width for width in widths], *cells]
    padded = (" | ".join(map(str.ljust, line, widths)) for line in lines)
    return "\n".join([caption, "", *(f"| {line} |" for line in padded)])


def _target(row: Row) -> str:
    return f"{row.goal.sign} {row.goal.value:.3g}{_SUFFIXES[row.unit]}"


def _result(row: Row) -> str:
    if row.spread is None:
        return row.why_not or "–"
    median, lowest, highest = map(_number, row.spread)
    return f"{median}{_SUFFIXES[row.unit]}" + (f" ({lowest} to {highest})" if lowest != highest else "")


def _number(value: float) -> str:
    """Return three significant digits, or a whole number."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
