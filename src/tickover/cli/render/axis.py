"""The time axis: which column an instant falls on, and the labels."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from tickover.api.durations import Duration

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


class Axis(NamedTuple):
    """A period of time spread over columns."""

    start: datetime
    end: datetime
    columns: int
    margin: int = 0
    """The width of the labels before the columns."""

    def column(self, at: datetime) -> int:
        return int((at - self.start) / (self.end - self.start) * (self.columns - 1))


def build_axis(first: datetime, last: datetime, columns: int, margin: int = 0) -> Axis:
    """Return an axis from the start of the first instant's day or month to the last instant."""
    start, end = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0), last.astimezone(UTC)
    if end - start > _STARTS_WITH_DAY:
        start = start.replace(day=1)
    # Without a minimum, a few minutes would fill the whole width.
    return Axis(start, max(end, start + _MIN_LENGTH), columns, margin)


def ticks(axis: Axis) -> list[tuple[int, str]]:
    """Return columns and labels. They are as dense as possible without touching each other."""
    is_short = axis.end - axis.start < _LABELS_WEEKS
    for step in (*_SHORT_STEPS, *_LONG_STEPS) if is_short else _LONG_STEPS:
        found = [(axis.column(at), _label(at, step)) for at in _instants(axis, step)]
        if all(before + len(label) < after for (before, label), (after, _) in pairwise(found)):
            return [(column, label) for column, label in found if column + len(label) <= axis.columns]
    return []


def _instants(axis: Axis, step: Duration) -> Iterator[datetime]:
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
