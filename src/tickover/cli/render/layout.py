"""Layout of styled text, measured in terminal cells."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

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
_ANSI_CODES: Final = {GOOD: "32", BAD: "31", NOW: "33", HAPPENED: "1", FAINT: "2"}


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


def to_ansi(text: Text) -> str:
    """Return the text with escape sequences for its styles. A console of rich takes longer to import than the rest."""
    places = sorted({0, len(text), *(place for span in text.spans for place in (span.start, span.end))})
    pieces = []
    for start, end in pairwise(places):
        styles = [text.style, *(span.style for span in text.spans if span.start <= start and end <= span.end)]
        codes = ";".join(_ANSI_CODES[str(style)] for style in styles if style)
        piece = text.plain[start:end]
        pieces.append(f"\x1b[{codes}m{piece}\x1b[0m" if codes and piece else piece)
    return "".join(pieces)


def fold(text: Text, width: int) -> list[Text]:
    """Break the text into lines of at most `width` cells."""
    # Only justified text needs a console.
    return list(text.wrap(None, width, overflow="fold"))  # type: ignore[arg-type]


def wrap(pieces: Iterable[Text], width: int) -> list[Text]:
    """Place the pieces side by side on as few lines as possible. A long piece continues on the next line."""
    lines: list[Text] = []
    for piece in pieces:
        if lines and lines[-1].cell_len + len(_GAP) + piece.cell_len <= width:
            lines[-1].append(_GAP).append_text(piece)
        else:
            folded = fold(piece, max(width - len(INDENT), _MIN_FOLDED_WIDTH))
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
