"""Durations in calendar units, such as one month and two days: parsed from text, and arithmetic on instants."""

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

_UNITS: Final = {
    "years": "y|yr|yrs|year|years",
    "months": "mo|mon|month|months",
    "weeks": "w|wk|week|weeks",
    "days": "d|day|days",
    "hours": "h|hr|hour|hours",
    "minutes": "min|minute|minutes",
    "seconds": "s|sec|second|seconds",
}
_UNIT_BY_NAME: Final = {name: unit for unit, names in _UNITS.items() for name in names.split("|")}
_PART: Final = re.compile(r"([0-9]{1,6}) *([a-z]+)", re.IGNORECASE)
_SEPARATOR: Final = r"(?: *, *| +and +| *)"
_DURATION: Final = re.compile(rf"\+? *{_PART.pattern}(?:{_SEPARATOR}{_PART.pattern})*", re.IGNORECASE)

EXPECTED: Final = "must be a duration such as 1mo, 2w, 10 days or 1y 6mo"


class Duration(Struct, frozen=True):
    """A duration. Months and years follow the calendar: 31 January plus one month is the last day of February."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: int = 0

    def add_to(self, instant: datetime, times: int = 1) -> datetime:
        """Return `instant` plus this duration, or minus it if `times` is -1.

        Raise OverflowError outside of the years 1 to 9999.
        """
        rest = timedelta(weeks=self.weeks, days=self.days, hours=self.hours, minutes=self.minutes, seconds=self.seconds)
        return add_months(instant, times * (12 * self.years + self.months)) + times * rest

    def __str__(self) -> str:
        """Return the duration as `parse` reads it. Without any unit, it is an empty string."""
        units = {"years": "y", "months": "mo", "minutes": "min"}
        return " ".join(f"{amount}{units.get(name, name[0])}" for name, amount in asdict(self).items() if amount)

    @property
    def is_zero(self) -> bool:
        return self == Duration()

    @property
    def has_time(self) -> bool:
        """Return whether it has hours, minutes or seconds."""
        return bool(self.hours or self.minutes or self.seconds)


def parse(text: str) -> Duration:
    """Parse a duration such as `1mo`, `+2 weeks` or `1y 6mo`. Raise ValueError if it is invalid."""
    if not _DURATION.fullmatch(text.strip()):
        raise ValueError(EXPECTED)
    amounts: dict[str, int] = {}
    for amount, name in _PART.findall(text):
        unit = _UNIT_BY_NAME.get(name.lower())
        if unit is None or unit in amounts:
            raise ValueError(EXPECTED)
        amounts[unit] = int(amount)
    return Duration(**amounts)


def add_months(instant: datetime, months: int) -> datetime:
    """Return the same day of the month `months` later, or that month's last day. `months` may be negative."""
    years, month = divmod(instant.month - 1 + months, 12)
    year = instant.year + years
    if not 1 <= year <= 9999:
        raise OverflowError("outside of the years 1 to 9999")
    day = min(instant.day, monthrange(year, month + 1)[1])
    return instant.replace(year=year, month=month + 1, day=day)
