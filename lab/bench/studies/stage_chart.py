"""Draws the CPU time of the stages of each operation, and of the limit, as an SVG chart."""

from collections.abc import Iterator, Mapping
from html import escape

_WIDTH = 960
_LEFT = 170
_STRIP = 40
_GAP = 84
_TOP = 74
_FILLS = ("#4878a8", "#6a9fb5", "#8fb996", "#d9a441", "#b5654a")
_LIMIT = "#8d96a0"

_STYLE = """
  svg { --ground: #ffffff; --text: #1f2328; --faint: #656d76; }
  @media (prefers-color-scheme: dark) { svg { --ground: #0d1117; --text: #e6edf3; --faint: #8d96a0; } }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--text); }
  .title { font-size: 18px; font-weight: 600; }
  .faint { fill: var(--faint); font-size: 12px; }
  .inside { fill: #ffffff; text-anchor: middle; font-weight: 600; }
  .ground { fill: var(--ground); }
"""


def draw_stages(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the SVG file. Each operation maps `limit` and its stages, in order, to microseconds."""
    stages = [name for name in next(iter(found.values())) if name != "limit"]
    longest = max(sum(figures.values()) - figures["limit"] for figures in found.values())
    scale = (_WIDTH - _LEFT - 90) / longest
    height = _TOP + len(found) * (2 * _STRIP + _GAP) + 30
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    under = "CPU microseconds for a typical clock, on SQLite, with 64 concurrent calls, without sockets"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{height}"/>',
        '<text id="title" class="title" x="24" y="36">Where a request\'s time goes</text>',
        f'<text class="faint" x="24" y="56">{under}</text>',
    ]
    top = _TOP
    for method, figures in found.items():
        parts += _strip(method, [(name, figures[name]) for name in stages], _FILLS, top, scale)
        parts += _strip("the limit", [("uvicorn and ASGI", figures["limit"])], (_LIMIT,), top + _STRIP + 34, scale)
        top += 2 * _STRIP + _GAP
    parts += _legend(stages, top + 4)
    return "\n".join([*parts, "</svg>", ""])


def _strip(
    label: str, stages: list[tuple[str, float]], fills: tuple[str, ...], top: float, scale: float
) -> Iterator[str]:
    yield f'<text x="24" y="{top + 25}">{escape(label)}</text>'
    left = float(_LEFT)
    for (name, figure), fill in zip(stages, fills, strict=True):
        width = figure * scale
        yield (
            f'<rect x="{left:.1f}" y="{top}" width="{max(1.0, width - 1):.1f}" height="{_STRIP}" fill="{fill}">'
            f"<title>{escape(name)}: {figure:.1f} µs</title></rect>"
        )
        if width > 26:
            yield f'<text class="inside" x="{left + width / 2:.1f}" y="{top + 25}">{figure:.0f}</text>'
        left += width
    yield f'<text class="faint" x="{left + 8:.1f}" y="{top + 25}">{sum(figure for _, figure in stages):.0f} µs</text>'


def _legend(stages: list[str], top: float) -> Iterator[str]:
    left = 24.0
    for name, fill in zip(stages, _FILLS, strict=True):
        yield f'<rect x="{left:.0f}" y="{top - 11}" width="12" height="12" fill="{fill}"/>'
        yield f'<text class="faint" x="{left + 18:.0f}" y="{top}">{escape(name)}</text>'
        left += 30 + 6.6 * len(name)
