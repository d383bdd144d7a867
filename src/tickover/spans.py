"""Spans of calendar time, such as a month and two days: read from text, and added to an instant."""

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

_UNITS: Final = {
    "years": "y|yr|yrs|year|years",
    "months": "mo|mon|month|months",
    "weeks": "w|wk|week|weeks",
    "days": "d|day|days",
    "hours": "h|hr|hour|hours",
    "minutes": "min|minute|minutes",
    "seconds": "s|sec|second|seconds",
}
_NAMES: Final = {name: unit for unit, names in _UNITS.items() for name in names.split("|")}
_PART: Final = re.compile(r"([0-9]{1,6}) *([a-z]+)", re.IGNORECASE)
_BETWEEN: Final = r"(?: *, *| +and +| *)"
_WHOLE: Final = re.compile(rf"\+? *{_PART.pattern}(?:{_BETWEEN}{_PART.pattern})*", re.IGNORECASE)

EXPECTED: Final = "must be a span of time such as 1mo, 2w, 10 days or 1y 6mo"


class Duration(Struct, frozen=True):
    """How much later. Months and years go by the calendar: a month after 31 January is the last day of February."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: int = 0

    def add_to(self, moment: datetime) -> datetime:
        """The instant so much later; OverflowError when the calendar has none."""
        moved = add_months(moment, 12 * self.years + self.months)
        return moved + timedelta(
            weeks=self.weeks, days=self.days, hours=self.hours, minutes=self.minutes, seconds=self.seconds
        )

    @property
    def is_zero(self) -> bool:
        return self == Duration()


def parse(text: str) -> Duration:
    """Read a span such as `1mo`, `+2 weeks` or `1y 6mo`; ValueError when it is anything else."""
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError(EXPECTED)
    amounts: dict[str, int] = {}
    for amount, name in _PART.findall(text):
        unit = _NAMES.get(name.lower())
        if unit is None or unit in amounts:
            raise ValueError(EXPECTED)
        amounts[unit] = int(amount)
    return Duration(**amounts)


def add_months(moment: datetime, months: int) -> datetime:
    """The same day of the month so many months later (earlier when negative), or that month's last day."""
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if not 1 <= year <= 9999:
        raise OverflowError("the calendar ends there")
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)
