"""A chart of the targets as SVG.

All bars start at the target, the line in the middle. The scale is logarithmic, so that twice as good and half as good
have the same distance. The module draws it without a library, in colours for light and dark mode.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from lab.bench.plan import Plan
from lab.bench.report import measured, target, written
from lab.bench.results import Spread
from lab.bench.targets import PASS, SHORT, Row

_WIDTH = 1080
_ROW = 34
_TOP = 104
_LEFT = 560
_RIGHT = 820
_VERDICT_WIDTH = 844
_BAR = 12
_MAX_DOUBLINGS = 3
"""Bars beyond this end in an arrow, so that the others stay distinguishable."""

_STYLE = """
  svg { --ground: #ffffff; --text: #1f2328; --faint: #656d76; --rule: #d8dee4; --pass: #1a6fb5; --short: #c2570c; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --text: #e6edf3; --faint: #8d96a0; --rule: #30363d; --pass: #58a6e8; --short: #f0883e; }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--text); }
  .title { font-size: 18px; font-weight: 600; }
  .faint { fill: var(--faint); font-size: 12px; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .ground { fill: var(--ground); }
  .rule { stroke: var(--rule); }
  .target { stroke: var(--text); stroke-width: 1.5; }
  .pass { fill: var(--pass); }
  .short { fill: var(--short); }
  .spread { stroke: var(--text); stroke-width: 1.5; }
  .strong { font-weight: 600; }
"""


def attainment(row: Row, figure: float) -> float:
    """Return how many times better than the target the value is: 1 at the target, more if it is better."""
    assert row.goal is not None
    # Some values may be 0 or less, such as an added latency.
    worst, best = 1e-3, 1e3
    if row.goal.sign == "≥":
        return min(best, max(worst, figure / row.goal.value))
    return min(best, max(worst, row.goal.value / figure)) if figure > 0 else best


def draw(rows: Sequence[Row], facts: Mapping[str, Any], plan: Plan) -> str:
    """Return the SVG file."""
    charted = [row for row in rows if row.goal is not None]
    height = _TOP + _ROW * len(charted) + 58
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{height}"/>',
        *_head(charted, plan),
    ]
    scale = _Scale(charted)
    bottom = _TOP + _ROW * len(charted)
    parts += _axis(scale, bottom)
    for index, row in enumerate(charted):
        parts += _row(row, scale, _TOP + index * _ROW)
    parts.append(_text(24, bottom + 40, _machine(facts), "faint"))
    return "\n".join([*parts, "</svg>", ""])


class _Scale:
    """A logarithmic scale, symmetric about the target, as wide as the farthest value needs."""

    def __init__(self, rows: Sequence[Row]) -> None:
        spreads = [(row, row.spread) for row in rows if row.spread is not None]
        figures = [attainment(row, value) for row, spread in spreads for value in (spread.lowest, spread.highest)]
        farthest = max((abs(math.log2(figure)) for figure in figures), default=1.0)
        self.doublings = min(_MAX_DOUBLINGS, max(2, math.ceil(farthest)))

    def has_room_for(self, figure: float) -> bool:
        return abs(math.log2(figure)) <= self.doublings

    def x(self, figure: float) -> float:
        doublings = max(-self.doublings, min(self.doublings, math.log2(figure)))
        return round((_LEFT + _RIGHT) / 2 + doublings / self.doublings * (_RIGHT - _LEFT) / 2, 1)


def _head(rows: Sequence[Row], plan: Plan) -> Iterator[str]:
    reached = sum(row.verdict == PASS for row in rows)
    title = f"Tickover against its targets: {reached} of {len(rows)} reached"
    yield _text(24, 36, title, "title", id="title")
    how = "Median of five rounds in one run, with the minimum and the maximum. Bars start at the target."
    yield _text(24, 58, how + (" A quick run: what has a * is smaller." if plan.is_quick else ""), "faint")
    yield _text(24, _TOP - 14, "what", "faint")
    yield _text(_WIDTH - 24, _TOP - 14, "measured (target)", "faint end")


def _axis(scale: _Scale, bottom: int) -> Iterator[str]:
    for doubling in range(-scale.doublings, scale.doublings + 1):
        x = scale.x(2.0**doubling)
        kind = "target" if doubling == 0 else "rule"
        yield f'<line class="{kind}" x1="{x}" y1="{_TOP - 8}" x2="{x}" y2="{bottom}"/>'
        label = "target" if doubling == 0 else f"×{2**doubling}" if doubling > 0 else f"÷{2**-doubling}"
        yield _text(x, _TOP - 14, label, "faint middle")


def _row(row: Row, scale: _Scale, top: int) -> Iterator[str]:
    middle = top + _ROW // 2
    what = row.what + (" *" if row.made_smaller else "")
    yield f'<line class="rule" x1="24" y1="{top}" x2="{_WIDTH - 24}" y2="{top}"/>'
    yield _text(24, middle + 4, row.number, "strong")
    yield _text(64, middle + 4, what)
    if row.spread is None:
        yield _text(_VERDICT_WIDTH, middle + 4, row.verdict, "faint")
        return
    yield from _bar(row, row.spread, scale, middle)
    kind = "pass" if row.verdict == PASS else "short"
    yield _text(_VERDICT_WIDTH, middle + 4, row.verdict, f"strong {kind}")
    value = f'{escape(written(row.spread.median, row.unit))} <tspan class="faint">({escape(target(row))})</tspan>'
    yield f'<text class="end" x="{_WIDTH - 24}" y="{middle + 4}">{value}</text>'


def _bar(row: Row, spread: Spread, scale: _Scale, middle: int) -> Iterator[str]:
    zero, end = scale.x(1), scale.x(attainment(row, spread.median))
    left, width = min(zero, end), max(1.5, abs(end - zero))
    kind = "short" if row.verdict == SHORT else "pass"
    tip = escape(f"{row.number} {row.what}: {measured(row)}")
    geometry = f'x="{left}" y="{middle - _BAR // 2}" width="{width:.1f}" height="{_BAR}"'
    yield f'<rect class="{kind}" {geometry} rx="2"><title>{tip}</title></rect>'
    if not scale.has_room_for(attainment(row, spread.median)):
        tip_of_arrow, back = (end + 9, end) if end > zero else (end - 9, end)
        yield f'<path class="{kind}" d="M{back} {middle - 9} L{tip_of_arrow} {middle} L{back} {middle + 9} Z"/>'
        return
    ends = sorted(scale.x(attainment(row, value)) for value in (spread.lowest, spread.highest))
    yield f'<line class="spread" x1="{ends[0]}" y1="{middle}" x2="{ends[1]}" y2="{middle}"/>'


def _text(x: float, y: float, text: str, kind: str = "", id: str = "") -> str:
    attributes = (f' class="{kind}"' if kind else "") + (f' id="{id}"' if id else "")
    return f'<text{attributes} x="{x}" y="{y}">{escape(text)}</text>'


def _machine(facts: Mapping[str, Any]) -> str:
    details = [f"{facts['cores']} cores"] if "cores" in facts else []
    # Without the suffix of its packager.
    known = {
        name: str(facts[name]).split()[0] for name in ("Python", "uvicorn", "SQLite", "PostgreSQL") if name in facts
    }
    details += [f"{name} {version}" for name, version in known.items()]
    where = "On " + ", ".join(details) + ", with the load generator."
    return f"Typical clocks at 64 connections, unless noted. {where}"
