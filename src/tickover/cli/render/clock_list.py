"""A table of clocks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from tickover.api.clocks import Summary
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import FAINT, HAPPENED, Column, table

_MIN_WIDTH_FOR_FULL_IDS: Final = 74


def render_clock_list(clocks: Sequence[Summary], last_used: str, width: int, now: datetime) -> list[Text]:
    """Render a row for each clock. An asterisk marks the last used one."""
    names = [sanitize(clock.name or "") for clock in clocks]
    name_width = max(map(cell_len, names)) + 2 if any(names) else 0
    format_id = sanitize if width >= _MIN_WIDTH_FOR_FULL_IDS + name_width else formatting.short_id
    rows = [[Text(title, FAINT) for title in ("ID", "NAME", "NOW", "EXPIRES")]]
    rows += [
        [
            Text(format_id(clock.id)),
            Text(name, HAPPENED),
            Text(formatting.date_and_minute(clock.frozen_time)),
            Text(formatting.duration(clock.expires_at - now)),
        ]
        for clock, name in zip(clocks, names, strict=True)
    ]
    columns = [Column(min_width=15), Column(min_width=4), Column(), Column()]
    if not any(names):
        columns, rows = columns[:1] + columns[2:], [row[:1] + row[2:] for row in rows]
    marks = ["  ", *("* " if clock.id == last_used else "  " for clock in clocks)]
    lines = table(rows, columns, width)
    return [Text(mark).append_text(line[2:]) for mark, line in zip(marks, lines, strict=True)]
