"""Layout of styled text, measured in terminal cells."""

import os
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from rich.console import Console
from rich.text import Text

INDENT: Final = "  "
_GAP: Final = "  "
_MIN_FOLDED_WIDTH: Final = 2
"""A wide character has two cells."""

GOOD: Final = "green"
BAD: Final = "red"
NOW: Final = "yellow"
HAPPENED: Final = "bold"
SCHEDULED: Final = "dim"
FAINT: Final = "dim"


class PlainConsole(Console):
    """A console without markup, emoji codes and highlighting."""

    def __init__(self) -> None:
        has_colors = not os.environ.get("NO_COLOR")
        super().__init__(color_system="auto" if has_colors else None, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise instead of exiting as rich does. `root.run` handles the error."""
        raise BrokenPipeError


class Column(NamedTuple):
    """The layout of a table column."""

    justify: Literal["left", "right"] = "left"
    min_width: int | None = None
    """The column can shrink to this width. None means that it can't shrink."""


def truncate(text: Text, cells: int) -> Text:
    """Shorten the text to `cells` cells. A shortened text ends with an ellipsis."""
    short = text.copy()
    short.truncate(max(cells, 1), overflow="ellipsis")
    return short


def wrap(pieces: Iterable[Text], width: int) -> list[Text]:
    """Place the pieces side by side on as few lines as possible. A long piece continues on the next line."""
    lines: list[Text] = []
    for piece in pieces:
        if lines and lines[-1].cell_len + len(_GAP) + piece.cell_len <= width:
            lines[-1].append(_GAP).append_text(piece)
        else:
            folded = piece.wrap(Console(), max(width - len(INDENT), _MIN_FOLDED_WIDTH), overflow="fold")
            lines += [Text(INDENT).append_text(line) for line in folded]
    return lines


def table(rows: Sequence[Sequence[Text]], columns: Sequence[Column], width: int) -> list[Text]:
    """Align the cells in columns. Columns that can shrink do so until the table fits."""
    widths = [max((cell.cell_len for cell in cells), default=0) for cells in zip(*rows, strict=True)]
    excess = len(INDENT) + sum(widths) + len(_GAP) * (len(columns) - 1) - width
    for index, column in enumerate(columns):
        if column.min_width is not None and excess > 0:
            cut = min(excess, max(0, widths[index] - column.min_width))
            widths[index] -= cut
            excess -= cut
    return [_row(cells, columns, widths, width) for cells in rows]


def _row(cells: Sequence[Text], columns: Sequence[Column], widths: Sequence[int], width: int) -> Text:
    line = Text(INDENT)
    for index, (cell, column, column_width) in enumerate(zip(cells, columns, widths, strict=True)):
        fitted = truncate(cell, column_width) if column_width else Text()
        fitted.align(column.justify, column_width)
        line.append(_GAP if index else "").append_text(fitted)
    line.rstrip()
    return truncate(line, width)
