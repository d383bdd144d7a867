"""The time axis: which column an instant falls on, and the labels."""

from collections.abc import Callable, Iterator
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


class Axis(NamedTuple):
    """A period of time spread over columns."""

    start: datetime
    end: datetime
    columns: int

    def column(self, at: datetime) -> int:
        return int((at - self.start) / (self.end - self.start) * (self.columns - 1))


def build_axis(first: datetime, last: datetime, columns: int) -> Axis:
    """Return an axis from the start of the first instant's day or month to the last instant."""
    start, end = _midnight(first.astimezone(UTC)), last.astimezone(UTC)
    if end - start > _STARTS_WITH_DAY:
        start = start.replace(day=1)
    # Without a minimum, a few minutes would fill the whole width.
    return Axis(start, max(end, start + _MIN_LENGTH), columns)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


class _Step(NamedTuple):
    """A distance between ticks."""

    length: Duration
    label: Callable[[datetime], str]
    round_down: Callable[[datetime], datetime]
    """Return the last tick at or before an instant."""


def _hours(every: int) -> _Step:
    def round_down(at: datetime) -> datetime:
        return _midnight(at).replace(hour=at.hour // every * every)

    return _Step(Duration(hours=every), lambda at: f"{at:%H:%M}" if at.hour else f"{at:%d %b}", round_down)


def _days(every: int) -> _Step:
    def round_down(at: datetime) -> datetime:
        # Day 1 of the calendar is a Monday, so weeks start on Mondays.
        return _midnight(at) - timedelta(days=(at.toordinal() - 1) % every)

    return _Step(Duration(days=every), lambda at: f"{at:%d %b}", round_down)


def _months(every: int) -> _Step:
    def round_down(at: datetime) -> datetime:
        return _midnight(at).replace(day=1, month=(at.month - 1) // every * every + 1)

    # The label of January is the year.
    return _Step(Duration(months=every), lambda at: f"{at:%b}" if at.month > 1 else f"{at.year:04}", round_down)


def _years(every: int) -> _Step:
    def round_down(at: datetime) -> datetime:
        return _midnight(at).replace(day=1, month=1, year=max(1, at.year // every * every))

    return _Step(Duration(years=every), lambda at: f"{at.year:04}", round_down)


_SHORT_STEPS: Final = (*(_hours(every) for every in (1, 3, 6, 12)), *(_days(every) for every in (1, 2, 7, 14)))
_LONG_STEPS: Final = (*(_months(every) for every in (1, 2, 3, 6)), *(_years(every) for every in (1, 2, 5, 10)))


def ticks(axis: Axis) -> list[tuple[int, str]]:
    """Return columns and labels. They are as dense as possible without touching each other."""
    is_short = axis.end - axis.start < _LABELS_WEEKS
    for step in (*_SHORT_STEPS, *_LONG_STEPS) if is_short else _LONG_STEPS:
        found = list(_ticks(axis, step))
        if all(before + len(label) < after for (before, label), (after, _) in pairwise(found)):
            return [(column, label) for column, label in found if column + len(label) <= axis.columns]
    return []


def _ticks(axis: Axis, step: _Step) -> Iterator[tuple[int, str]]:
    # A tick can fall outside the calendar of datetime.
    with suppress(OverflowError):
        at = step.round_down(axis.start)
        while at <= axis.end:
            if at >= axis.start:
                yield axis.column(at), step.label(at)
            at = step.length.add_to(at)
