"""Calendars: which days are weekends and holidays, and how dates move away from them."""

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import Struct

from tickover.scenarios.errors import Advice, quote

Weekend = Literal["before", "after", "keep"]

_COUNTRY: Final = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{1,4}))?")
_SATURDAY: Final = 5
_MAX_DAYS_OFF: Final = 60


class Calendar(Struct, frozen=True):
    """Holidays, and where a date on a weekend or a holiday moves to."""

    weekend: Weekend = "keep"
    holidays: frozenset[date] = frozenset()
    country: str = ""

    def move(self, day: date) -> date:
        """Return the day, or the nearest working day before or after it."""
        if self.weekend == "keep":
            return day
        step = timedelta(days=-1 if self.weekend == "before" else 1)
        for _ in range(_MAX_DAYS_OFF):
            if not self._is_off(day):
                return day
            day += step
        raise ValueError(f"holidays leave no working day near {day.isoformat()}")

    def _is_off(self, day: date) -> bool:
        if day.weekday() >= _SATURDAY or day in self.holidays:
            return True
        return bool(self.country) and day in _country_holidays(self.country)


@lru_cache(maxsize=64)
def _country_holidays(code: str) -> Any:
    """Return the public holidays of a country. The package adds years as they are needed."""
    try:
        from holidays import country_holidays  # noqa: PLC0415 - it is an optional dependency
    except ImportError:
        raise Advice(f"holidays = {quote(code)} needs a package: pip install holidays; or list the dates") from None
    country, _, subdivision = code.partition("-")
    try:
        return country_holidays(country, subdiv=subdivision or None)
    except NotImplementedError:
        raise _unknown_country(code) from None


def parse_country(value: str) -> str:
    """Return the code of a country or of a part of it. Raise Advice if it isn't one."""
    if not _COUNTRY.fullmatch(value):
        raise _unknown_country(value)
    _country_holidays(value)
    return value


def _unknown_country(code: str) -> Advice:
    return Advice(f'holidays must be a list of dates or a country code such as "DE" or "DE-BY", not {quote(code)}')
