"""What changes dates and amounts of a scenario's items: draws that depend on a seed, weekends and holidays."""

import re
from collections.abc import Container
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal

from tickover.scenarios.scenario_errors import Advice, quote

_COUNTRY: Final = re.compile(r"([A-Z]{2})(?:-([A-Z0-9]{1,4}))?")
_SATURDAY: Final = 5
_MAX_DAYS_OFF: Final = 60

Weekend = Literal["before", "after", "keep"]


def draw(seed: int, name: str, day: date, use: str, count: int) -> int:
    """Return a whole number from 0 to `count` - 1. It depends only on the other arguments.

    The algorithm is part of the file format. A change needs a new version, which files choose themselves.
    """
    text = f"tickover variety 1\n{seed}\n{name}\n{day.isoformat()}\n{use}"
    number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    return number * count >> 64


def to_working_day(day: date, weekend: Weekend, holidays: Container[date] = ()) -> date:
    """Return the day. If it is on a weekend or a holiday, return the nearest working day before or after it."""
    if weekend == "keep":
        return day
    step = timedelta(days=-1 if weekend == "before" else 1)
    for _ in range(_MAX_DAYS_OFF):
        if day.weekday() < _SATURDAY and day not in holidays:
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
