"""Lines of styled text that fit a width: cut, flowed and laid out in tables by the cells they take on a terminal."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from rich.text import Text

INDENT: Final = "  "
_GAP: Final = "  "

GOOD: Final = "green"
BAD: Final = "red"
NOW: Final = "yellow"
HAPPENED: Final = "bold"
SCHEDULED: Final = "dim"
FAINT: Final = "dim"


class Column(NamedTuple):
    """How a column of a table is laid out."""

    justify: Literal["left", "right"] = "left"
    least: int | None = None
    """How far it may be cut; None when it may not."""


def cut(text: Text, cells: int) -> Text:
    """At most so many cells of it, the last of them … when it was longer."""
    short = text.copy()
    short.truncate(max(cells, 1), overflow="ellipsis")
    return short


def flow(pieces: Iterable[Text], width: int) -> list[Text]:
    """The pieces side by side on as few lines as they need."""
    lines: list[Text] = []
    for piece in pieces:
        if lines and lines[-1].cell_len + len(_GAP) + piece.cell_len <= width:
            lines[-1].append(_GAP).append_text(piece)
        else:
            lines.append(Text(INDENT).append_text(cut(piece, width - len(INDENT))))
    return lines


def table(rows: Sequence[Sequence[Text]], columns: Sequence[Column], width: int) -> list[Text]:
    """The rows with their cells below each other, cut where they may be until they fit."""
    widths = [max((cell.cell_len for cell in cells), default=0) for cells in zip(*rows, strict=True)]
    excess = len(INDENT) + sum(widths) + len(_GAP) * (len(columns) - 1) - width
    for number, column in enumerate(columns):
        if column.least is not None and excess > 0:
            given_up = min(excess, max(0, widths[number] - column.least))
            widths[number] -= given_up
            excess -= given_up
    return [_row(cells, columns, widths, width) for cells in rows]


def _row(cells: Sequence[Text], columns: Sequence[Column], widths: Sequence[int], width: int) -> Text:
    line = Text(INDENT)
    for number, (cell, column, wide) in enumerate(zip(cells, columns, widths, strict=True)):
        fitted = cut(cell, wide) if wide else Text()
        fitted.align(column.justify, wide)
        line.append(_GAP if number else "").append_text(fitted)
    line.rstrip()
    return cut(line, width)
