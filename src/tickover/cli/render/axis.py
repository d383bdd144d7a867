"""The axis of a picture: which column an instant falls on, and where it is labelled."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from tickover.spans import Duration

_LEAST_LENGTH: Final = timedelta(hours=23)
_CLOSE_TOGETHER: Final = timedelta(days=40)
_A_FEW_MONTHS: Final = timedelta(days=75)
"""From here on months are labelled, and not weeks, even if there is room for them."""


class Axis(NamedTuple):
    """A stretch of time laid over so many columns."""

    start: datetime
    end: datetime
    columns: int

    def column(self, at: datetime) -> int:
        return int((at - self.start) / (self.end - self.start) * (self.columns - 1))


def axis_over(first: datetime, last: datetime, columns: int) -> Axis:
    """An axis from the month of the first instant, or from its day where all lie close together, to the last."""
    start, end = _midnight(first.astimezone(UTC)), last.astimezone(UTC)
    if end - start > _CLOSE_TOGETHER:
        start = start.replace(day=1)
    # What lies within minutes would otherwise stretch over the whole picture.
    return Axis(start, max(end, start + _LEAST_LENGTH), columns)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


class _Step(NamedTuple):
    """A distance between ticks that begin at round times."""

    span: Duration
    label: Callable[[datetime], str]
    begin: Callable[[datetime], datetime]
    """The last round time at or before an instant."""


def _hours(every: int) -> _Step:
    def begin(at: datetime) -> datetime:
        return _midnight(at).replace(hour=at.hour // every * every)

    return _Step(Duration(hours=every), lambda at: f"{at:%H:%M}" if at.hour else f"{at:%d %b}", begin)


def _days(every: int) -> _Step:
    def begin(at: datetime) -> datetime:
        # The first day of the calendar was a Monday, and so weeks begin.
        return _midnight(at) - timedelta(days=(at.toordinal() - 1) % every)

    return _Step(Duration(days=every), lambda at: f"{at:%d %b}", begin)


def _months(every: int) -> _Step:
    def begin(at: datetime) -> datetime:
        return _midnight(at).replace(day=1, month=(at.month - 1) // every * every + 1)

    # January is labelled with its year, so that every label is short and years are seen.
    return _Step(Duration(months=every), lambda at: f"{at:%b}" if at.month > 1 else f"{at.year:04}", begin)


def _years(every: int) -> _Step:
    def begin(at: datetime) -> datetime:
        return _midnight(at).replace(day=1, month=1, year=max(1, at.year // every * every))

    return _Step(Duration(years=every), lambda at: f"{at.year:04}", begin)


_SHORT_STEPS: Final = (*(_hours(every) for every in (1, 3, 6, 12)), *(_days(every) for every in (1, 2, 7, 14)))
_LONG_STEPS: Final = (*(_months(every) for every in (1, 2, 3, 6)), *(_years(every) for every in (1, 2, 5, 10)))


def ticks(axis: Axis) -> list[tuple[int, str]]:
    """Columns and their labels, as close as they can stand without touching each other."""
    is_short = axis.end - axis.start < _A_FEW_MONTHS
    for step in (*_SHORT_STEPS, *_LONG_STEPS) if is_short else _LONG_STEPS:
        found = list(_ticks(axis, step))
        if all(before + len(label) < after for (before, label), (after, _) in pairwise(found)):
            return [(column, label) for column, label in found if column + len(label) <= axis.columns]
    return []


def _ticks(axis: Axis, step: _Step) -> Iterator[tuple[int, str]]:
    # At the ends of the calendar there may be no tick before or after.
    with suppress(OverflowError):
        at = step.begin(axis.start)
        while at <= axis.end:
            if at >= axis.start:
                yield axis.column(at), step.label(at)
            at = step.span.add_to(at)
