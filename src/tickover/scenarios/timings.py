"""Points in time and times of day, as scenario files write them."""

import re
from datetime import UTC, date, datetime, time, tzinfo
from typing import Final, Literal

from msgspec import Struct

from tickover.api import durations, timestamps
from tickover.api.durations import Duration
from tickover.scenarios.scenario_errors import quote

DEFAULT_TIME: Final = time(8)
"""The time of day of a date without one."""

_End = Literal["start", "end"]
_ENDS: Final[dict[str, _End]] = {"start": "start", "end": "end"}
_HAS_DAY_UNIT: Final = re.compile(r"[0-9] *(?:y|mo|w|d)")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?")


class Window(Struct, frozen=True):
    """The time that a scenario covers, both ends included."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{timestamps.write(self.start)} to {timestamps.write(self.end)}"


class LocalTime(Struct, frozen=True):
    """A time of day in a time zone.

    If the clocks go forward past it, it is as much later: 02:30 becomes 03:30. If it occurs twice, it is the first one.
    """

    time: time
    zone: tzinfo = UTC

    def on(self, day: date) -> datetime:
        """Return the instant on a day."""
        return datetime.combine(day, self.time, self.zone).astimezone(UTC)

    def to_instant(self, local: datetime) -> datetime:
        """Return the instant of a local time without a zone."""
        return local.replace(tzinfo=self.zone).astimezone(UTC)

    def to_local(self, instant: datetime) -> datetime:
        """Return the local time of an instant, without a zone."""
        return instant.astimezone(self.zone).replace(tzinfo=None)

    def day_of(self, instant: datetime) -> date:
        """Return the local day of an instant."""
        return instant.astimezone(self.zone).date()

    def add(self, instant: datetime, duration: Duration) -> datetime:
        """Return the instant whose local time is `duration` later."""
        return self.to_instant(duration.add_to(self.to_local(instant)))

    def subtract(self, instant: datetime, duration: Duration, earliest: datetime) -> datetime:
        """Return the instant whose local time is `duration` earlier, but not before `earliest`."""
        moved = self.to_instant(duration.add_to(self.to_local(instant), -1))
        # A local time that the clocks skip is later.
        return max(earliest, min(moved, instant))


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
            return self.value.add_to(window.start)
        return local_time.on(self.value.add_to(local_time.to_local(window.start)))


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
