"""Calendars: which days are weekends and holidays, and how dates move away from them."""

import re
from collections.abc import Container
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from tickover.scenarios.errors import Advice, quote

Weekend = Literal["before", "after", "keep"]

_COUNTRY: Final = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{1,4}))?")
_SATURDAY: Final = 5
_MAX_DAYS_OFF: Final = 60


class Calendar(Struct, frozen=True):
    """Holidays, and where a date on a weekend or a holiday moves to."""

    weekend: Weekend = "keep"
    holidays: Container[date] = frozenset()

    def move(self, day: date) -> date:
        """Return the day, or the nearest working day before or after it."""
        if self.weekend == "keep":
            return day
        step = timedelta(days=-1 if self.weekend == "before" else 1)
        for _ in range(_MAX_DAYS_OFF):
            if day.weekday() < _SATURDAY and day not in self.holidays:
                return day
            day += step
        raise ValueError(f"holidays leave no working day near {day.isoformat()}")


@lru_cache(maxsize=64)
def country_holidays(code: str) -> Container[date]:
    """Return the public holidays of a country or of a part of it. Raise Advice if the code is unknown."""
    try:
        import holidays  # noqa: PLC0415 - it is an optional dependency
    except ImportError:
        raise Advice(f"holidays = {quote(code)} needs a package: pip install holidays; or list the dates") from None
    found = _COUNTRY.fullmatch(code)
    try:
        if found:
            # It adds years as they are needed.
            return holidays.country_holidays(found[1], subdiv=found[2])
    except NotImplementedError:
        pass
    raise Advice(f'holidays must be a list of dates or a country code such as "DE" or "DE-BY", not {quote(code)}')
