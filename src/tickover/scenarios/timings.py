"""Timings of a scenario's items: listed instants or a recurrence."""

import re
from datetime import UTC, date, datetime, time, tzinfo
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

from tickover.api import durations, timestamps
from tickover.api.durations import Duration
from tickover.api.limits import SPAN_YEARS
from tickover.scenarios.errors import quote
from tickover.scenarios.recurrences import Recurrence

_End = Literal["start", "end"]
_ENDS: Final[dict[str, _End]] = {"start": "start", "end": "end"}
_HAS_DAY_UNIT: Final = re.compile(r"[0-9] *(?:y|mo|w|d)")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?")


class Window(Struct, frozen=True):
    """The time that a scenario covers, both ends included."""

    start: datetime
    end: datetime


class LocalTime(Struct, frozen=True):
    """A time of day in a time zone.

    If the clocks go forward past it, it is as much later: 02:30 becomes 03:30. If it occurs twice, it is the first one.
    """

    time: time
    zone: tzinfo = UTC

    def on(self, day: date) -> datetime:
        """Return the instant on a day."""
        return _to_utc(datetime.combine(day, self.time, self.zone))

    def to_instant(self, local: datetime) -> datetime:
        """Return the instant of a local time without a zone."""
        return _to_utc(local.replace(tzinfo=self.zone))

    def to_local(self, instant: datetime) -> datetime:
        """Return the local time of an instant, without a zone."""
        return instant.astimezone(self.zone).replace(tzinfo=None)

    def day_of(self, instant: datetime) -> date:
        """Return the local day of an instant."""
        return instant.astimezone(self.zone).date()

    def add(self, instant: datetime, duration: Duration) -> datetime:
        """Return the instant whose local time is `duration` later."""
        try:
            return self.to_instant(duration.add_to(self.to_local(instant)))
        except OverflowError:
            raise ValueError(f"{timestamps.write(instant)} plus the duration is after the year 9999") from None

    def subtract(self, instant: datetime, duration: Duration, earliest: datetime) -> datetime:
        """Return the instant whose local time is `duration` earlier, but not before `earliest`."""
        try:
            moved = self.to_instant(duration.subtract_from(self.to_local(instant)))
        except (OverflowError, ValueError):
            return earliest
        # A local time that the clocks skip is later.
        return max(earliest, min(moved, instant))


def _to_utc(local: datetime) -> datetime:
    try:
        return local.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{local.replace(tzinfo=None).isoformat()} is outside of the years 1 to 9999 in UTC") from None


class Point(Struct, frozen=True):
    """A point in time as written in a file. Its instant depends on the scenario's start."""

    text: str
    value: datetime | date | Duration | _End

    def instant(self, local_time: LocalTime, window: Window) -> datetime:
        """Return the instant. A day without a time gets `local_time`."""
        match self.value:
            case "start":
                return window.start
            case "end":
                return window.end
            case datetime():
                return self.value
            case date():
                return local_time.on(self.value)
        if self.value.has_time:
            return self._add_to(self.value, window.start)
        return local_time.on(self._add_to(self.value, local_time.to_local(window.start)))

    def _add_to(self, duration: Duration, start: datetime) -> datetime:
        try:
            return duration.add_to(start)
        except OverflowError:
            raise ValueError(f"{self.text} is after the year 9999") from None


class ListedTiming(Struct, frozen=True):
    """Instants in the order of the file."""

    points: tuple[Point, ...]
    local_time: LocalTime

    def instants(self, window: Window) -> list[datetime]:
        """Return all instants. Raise ValueError if one is outside of the window."""
        return [self._check(point, window) for point in self.points]

    def _check(self, point: Point, window: Window) -> datetime:
        instant = point.instant(self.local_time, window)
        if instant < window.start:
            problem = f'before the start, {timestamps.write(window.start)}; use "start" or later'
        elif instant > window.end:
            problem = f"after the end, {timestamps.write(window.end)}; use an earlier time, or increase length"
        else:
            return instant
        raise ValueError(f"at {point.text} is {timestamps.write(instant)}, {problem}")


class RecurringTiming(Struct, frozen=True):
    """A recurrence with optional bounds."""

    recurrence: Recurrence
    local_time: LocalTime
    since: Point | None = None
    until: Point | None = None
    times: int | None = None

    def instants(self, window: Window) -> list[datetime]:
        """Return the instants inside of the window. Those before the start count towards `times`."""
        begin, end = self._bounds(window)
        days = self.recurrence.with_default_day(self.local_time.day_of(begin)).ordinals(*self._days(begin, end))
        # Converting a day takes longer than finding it.
        first = self.local_time.day_of(window.start).toordinal()
        found = (self.local_time.on(date.fromordinal(day)) for day in islice(days, self.times) if day >= first)
        return [instant for instant in found if instant >= window.start]

    def _days(self, begin: datetime, end: datetime) -> tuple[int, int]:
        """Return the first and the last day whose instant is between two instants."""
        first, last = self.local_time.day_of(begin), self.local_time.day_of(end)
        return (
            first.toordinal() + (self.local_time.on(first) < begin),
            last.toordinal() - (self.local_time.on(last) > end),
        )

    def _bounds(self, window: Window) -> tuple[datetime, datetime]:
        begin = self.since.instant(self.local_time, window) if self.since else window.start
        end = self.until.instant(self.local_time, window) if self.until else window.end
        if self.since and begin < timestamps.years_after(window.start, -SPAN_YEARS):
            raise ValueError(f"from {self.since.text} is more than {SPAN_YEARS} years before the start")
        if self.since and self.until and end < begin:
            raise ValueError(f"until {self.until.text} is before from {self.since.text}")
        return begin, min(end, window.end)


Timing = ListedTiming | RecurringTiming


def parse_point(value: object) -> Point | None:
    """Parse a point in time. Return None if it is invalid."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if text in _ENDS:
        return Point(quote(value), _ENDS[text])
    if not text or _DATE.match(text):
        day = parse_day(value)
        return None if day is None else Point(quote(value), day)
    try:
        duration = durations.parse(text)
    except ValueError:
        return None
    # "+0 hours" means exactly the start, but a zero duration doesn't record its unit.
    return Point(quote(value), "start" if duration.is_zero and not _HAS_DAY_UNIT.search(text) else duration)


def parse_day(value: object) -> datetime | date | None:
    """Parse an instant or a date from text or from a TOML value. Return None if it is invalid."""
    try:
        if isinstance(value, str):
            text = value.strip()
            return date.fromisoformat(text) if _DATE.fullmatch(text) else timestamps.parse(text)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if isinstance(value, datetime):
        raise ValueError("must have an offset, as in 2027-01-31T09:00:00Z")
    return value if isinstance(value, date) else None


def parse_time(value: object) -> time | None:
    """Parse a time of day. Return None if it is invalid."""
    if isinstance(value, str) and _TIME.fullmatch(value.strip()):
        return time.fromisoformat(value.strip())
    return value if isinstance(value, time) else None
