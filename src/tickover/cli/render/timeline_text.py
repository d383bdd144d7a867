"""The timeline: an axis, lanes for the items, and a curve for each account or currency."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from tickover.api.durations import Duration
from tickover.cli import formatting
from tickover.cli.render.layout import BAD, FAINT, HAPPENED, INDENT, NOW, SCHEDULED, truncate, wrap
from tickover.client.timeline import HAPPENED_MARK, SCHEDULED_MARK, Item

_NOW_MARK: Final = "│"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_LANES: Final = ("in", "out", "moves", "goals")
_MIN_LABEL: Final = 5
_MAX_LABEL: Final = 10
_MAX_CURVES: Final = 6
_MIN_LENGTH: Final = timedelta(hours=23)
_STARTS_WITH_DAY: Final = timedelta(days=40)
"""A shorter axis starts with a day, a longer one with a month."""
_LABELS_WEEKS: Final = timedelta(days=75)
"""A shorter axis may label weeks, a longer one labels only months and years."""
_SHORT_STEPS: Final = (
    *(Duration(hours=every) for every in (1, 3, 6, 12)),
    *(Duration(days=every) for every in (1, 2, 7, 14)),
)
_LONG_STEPS: Final = (
    *(Duration(months=every) for every in (1, 2, 3, 6)),
    *(Duration(years=every) for every in (1, 2, 5, 10)),
)
"""Distances between labels."""


class _Axis(NamedTuple):
    """A period of time spread over columns."""

    start: datetime
    end: datetime
    columns: int
    margin: int
    """The width of the labels before the columns."""
    now: datetime
    now_label: str

    def column(self, at: datetime) -> int:
        return int((at - self.start) / (self.end - self.start) * (self.columns - 1))


def timeline(
    items: Sequence[Item], opening: Mapping[str, Decimal], frozen_time: datetime, width: int, time_label: str = "now"
) -> list[Text]:
    """Render the items over time. Return no lines if there are no items. `time_label` names the frozen time.

    `opening` has the opening balance of each account or currency, which has a curve.
    """
    if not items:
        return []
    margin = len(INDENT) + min(_MAX_LABEL, max([_MIN_LABEL, *map(cell_len, opening)])) + 2
    first, last = min(items[0].at, frozen_time), max(items[-1].at, frozen_time)
    start = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if last - start > _STARTS_WITH_DAY:
        start = start.replace(day=1)
    # Without a minimum, a few minutes would fill the whole width.
    axis = _Axis(start, max(last, start + _MIN_LENGTH), max(2, width - margin), margin, frozen_time, time_label)
    lines = [_ruler(axis)]
    lanes = {lane: [item for item in items if item.lane == lane] for lane in _LANES}
    lines += [_line(axis, lane, _lane(in_lane, axis)) for lane, in_lane in lanes.items() if in_lane]
    for book in list(opening)[:_MAX_CURVES]:
        lines += _curve(book, opening[book], items, axis)
    if len(opening) > _MAX_CURVES:
        more = Text(f"and {len(opening) - _MAX_CURVES} more", FAINT)
        lines.append(_line(axis, "", truncate(more, axis.columns)))
    legend = [f"{HAPPENED_MARK} happened", f"{SCHEDULED_MARK} scheduled", "2 several at once"]
    legend += [f"{_NOW_MARK} {time_label}", *(["▒ to be saved"] if lanes["goals"] else [])]
    return [*lines, *_indent(axis, [Text(entry, FAINT) for entry in legend])]


def _ruler(axis: _Axis) -> Text:
    """Render the labels of the step that labels the most without touching each other."""
    ruler = list("─" * axis.columns)
    is_short = axis.end - axis.start < _LABELS_WEEKS
    for step in (*_SHORT_STEPS, *_LONG_STEPS) if is_short else _LONG_STEPS:
        labels = [(axis.column(at), _label(at, step)) for at in _instants(axis, step)]
        if all(before + len(label) < after for (before, label), (after, _) in pairwise(labels)):
            for column, label in labels:
                if column + len(label) <= axis.columns:
                    ruler[column : column + len(label)] = label
            break
    return _line(axis, "", Text("".join(ruler), FAINT))


def _instants(axis: _Axis, step: Duration) -> Iterator[datetime]:
    """Yield the instants of a step on the axis. They count from a Monday, or from the first year of a decade."""
    # An instant can fall outside the calendar of datetime.
    with suppress(OverflowError):
        if step in _SHORT_STEPS:
            at = axis.start - timedelta(days=axis.start.weekday())
        else:
            at = axis.start.replace(day=1, month=1, year=max(1, axis.start.year // 10 * 10))
        while at <= axis.end:
            if at >= axis.start:
                yield at
            at = step.add_to(at)


def _label(at: datetime, step: Duration) -> str:
    if step in _SHORT_STEPS:
        return f"{at:%H:%M}" if at.hour else f"{at:%d %b}"
    # The label of January is the year.
    return f"{at:%b}" if at.month > 1 else f"{at.year:04}"


def _lane(items: Sequence[Item], axis: _Axis) -> Text:
    cells = [Text(" ")] * axis.columns
    cells[axis.column(axis.now)] = Text(_NOW_MARK, NOW)
    scheduled = {axis.column(item.at) for item in items if not item.happened}
    for column, number in Counter(axis.column(item.at) for item in items).items():
        single, style = (SCHEDULED_MARK, SCHEDULED) if column in scheduled else (HAPPENED_MARK, HAPPENED)
        cells[column] = Text(single if number == 1 else str(number) if number <= 9 else "+", style)
    return Text().join(cells)


def _curve(book: str, opening: Decimal, items: Sequence[Item], axis: _Axis) -> list[Text]:
    """Render a balance over time. Below, say what it is at the clock's time, at the end and at its lowest point."""
    balance = at_now = opening
    balances: dict[datetime | None, Decimal] = {None: opening}
    for item in items:
        for key, amount in item.changes:
            if key == book:
                # Items at one instant count together.
                balance += amount
                balances[item.at] = balance
                at_now = balance if item.happened else at_now
    pieces = [Text.assemble((f"{axis.now_label} ", FAINT), (formatting.amount(at_now), HAPPENED))]
    if max((at for at in balances if at), default=axis.now) > axis.now:
        pieces[0].append(" → end ", FAINT).append(formatting.amount(balance))
    # The earliest of several instants with the lowest balance.
    at = min(balances, key=balances.__getitem__)
    lowest = Text.assemble(("lowest ", FAINT), (formatting.amount(balances[at]), BAD if balances[at] < 0 else ""))
    pieces.append(lowest.append(f" on {formatting.date(at)}" if at else " at the start", FAINT))

    by_column = {axis.column(at) if at else 0: value for at, value in balances.items()}
    value, values = opening, []
    for column in range(axis.columns):
        value = by_column.get(column, value)
        values.append(value)
    low, high, top = min(values), max(values), len(_LEVELS) - 1
    levels = "".join(_LEVELS[int((value - low) * top / (high - low)) if high > low else 0] for value in values)
    now = axis.column(axis.now)
    curve = Text.assemble((levels[:now], HAPPENED), (_NOW_MARK, NOW), (levels[now + 1 :], SCHEDULED))
    return [_line(axis, book, curve), *_indent(axis, pieces)]


def _indent(axis: _Axis, pieces: Iterable[Text]) -> list[Text]:
    """Place the pieces side by side below the columns of the axis."""
    margin = " " * (axis.margin - len(INDENT))
    return [Text(margin).append_text(line) for line in wrap(pieces, len(INDENT) + axis.columns)]


def _line(axis: _Axis, label: str, content: Text) -> Text:
    line = Text(INDENT).append_text(truncate(Text(label, FAINT), axis.margin - len(INDENT) - 2))
    line.align("left", axis.margin)
    line.append_text(content)
    line.rstrip()
    return line
