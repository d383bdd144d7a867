"""When things happen in a scenario: at instants that are listed, or again and again."""

import re
from datetime import UTC, date, datetime, time
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

from tickover import spans
from tickover.core import moments
from tickover.core.limits import SPAN_YEARS
from tickover.scenarios.locations import shown
from tickover.scenarios.recurrences import Recurrence
from tickover.spans import Duration

EXPECTED: Final = (
    'must be a time after the start such as "+10 days", a date such as "2027-01-31", '
    'an instant such as "2027-01-31T09:00:00Z", "start" or "end"'
)
EXPECTED_DAY: Final = 'must be a date such as "2027-01-31" or an instant such as "2027-01-31T09:00:00Z"'
EXPECTED_TIME: Final = 'must be a time of day in UTC such as "08:00"'

_End = Literal["start", "end"]
_ENDS: Final[dict[str, _End]] = {"start": "start", "end": "end"}
_DAYS: Final = re.compile(r"[0-9] *(?:y|mo|w|d)")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?")


class Window(Struct, frozen=True):
    """All that a scenario covers, both ends included."""

    start: datetime
    end: datetime


class Point(Struct, frozen=True):
    """A point in time that a file names, known only when the scenario's start is."""

    written: str
    when: datetime | date | Duration | _End

    def instant(self, time_of_day: time, window: Window) -> datetime:
        """The instant that is meant; a day without a time of its own gets the one given."""
        match self.when:
            case "start":
                return window.start
            case "end":
                return window.end
            case datetime():
                return self.when
            case date():
                return datetime.combine(self.when, time_of_day, UTC)
        moved = self._moved(self.when, window.start)
        if self.when.hours or self.when.minutes or self.when.seconds:
            return moved
        return datetime.combine(moved, time_of_day, UTC)

    def _moved(self, span: Duration, start: datetime) -> datetime:
        try:
            return span.add_to(start)
        except OverflowError:
            raise ValueError(f"{self.written} lies beyond the last year of the calendar, 9999") from None


class Listed(Struct, frozen=True):
    """Instants one by one, in the order of the file."""

    points: tuple[Point, ...]
    time_of_day: time

    def instants(self, window: Window) -> list[datetime]:
        """All of them; ValueError when one lies outside, because whoever lists an instant wants it to happen."""
        return [self._inside(point, window) for point in self.points]

    def _inside(self, point: Point, window: Window) -> datetime:
        instant = point.instant(self.time_of_day, window)
        if instant < window.start:
            problem = f'before the start, {moments.write(window.start)}; the earliest is "start"'
        elif instant > window.end:
            problem = f"after the end, {moments.write(window.end)}; let it be earlier, or the length longer"
        else:
            return instant
        raise ValueError(f"at {point.written} is {moments.write(instant)} and lies {problem}")


class Recurring(Struct, frozen=True):
    """A recurrence, and how far of it counts."""

    recurrence: Recurrence
    time_of_day: time
    since: Point | None = None
    until: Point | None = None
    times: int | None = None

    def instants(self, window: Window) -> list[datetime]:
        """Those inside. What would have been before the start counts towards `times` all the same."""
        begin, end = self._bounds(window)
        first = begin.toordinal() + (begin.time() > self.time_of_day)
        last = end.toordinal() - (end.time() < self.time_of_day)
        ordinals = self.recurrence.settled(begin).ordinals(first, last)
        found = (
            datetime.combine(date.fromordinal(ordinal), self.time_of_day, UTC)
            for ordinal in islice(ordinals, self.times)
        )
        return [instant for instant in found if instant >= window.start]

    def _bounds(self, window: Window) -> tuple[datetime, datetime]:
        begin = self.since.instant(self.time_of_day, window) if self.since else window.start
        end = self.until.instant(self.time_of_day, window) if self.until else window.end
        if self.since and begin < moments.years_after(window.start, -SPAN_YEARS):
            raise ValueError(f"from {self.since.written} lies more than {SPAN_YEARS} years before the start")
        if self.since and self.until and end < begin:
            raise ValueError(f"until {self.until.written} lies before from {self.since.written}")
        return begin, min(end, window.end)


Timing = Listed | Recurring


def read_point(value: object) -> Point:
    """Read a point in time; ValueError says what it must be."""
    if not isinstance(value, str):
        return Point(shown(value), read_day(value, EXPECTED))
    text = value.strip().lower()
    if text in _ENDS:
        return Point(shown(value), _ENDS[text])
    if _DATE.match(text):
        return Point(shown(value), read_day(value, EXPECTED))
    try:
        span = spans.parse(text)
    except ValueError:
        raise ValueError(EXPECTED) from None
    # No hours at all are exact too, but a span does not remember that it was hours.
    return Point(shown(value), "start" if span.is_zero and not _DAYS.search(text) else span)


def read_day(value: object, expected: str = EXPECTED_DAY) -> datetime | date:
    """Read an instant, or a date, from text or as TOML writes them; ValueError says what it must be."""
    try:
        if isinstance(value, str):
            text = value.strip()
            return date.fromisoformat(text) if _DATE.fullmatch(text) else moments.parse(text)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(expected) from None
    if isinstance(value, datetime):
        raise ValueError("must say its offset, as 2027-01-31T09:00:00Z does with its Z")
    if isinstance(value, date):
        return value
    raise ValueError(expected)


def read_time(value: object) -> time:
    """Read a time of day; ValueError says what it must be."""
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not _TIME.fullmatch(value.strip()):
        raise ValueError(EXPECTED_TIME)
    return time.fromisoformat(value.strip())
