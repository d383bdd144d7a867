"""Recurrences in the format of iCalendar, such as `FREQ=MONTHLY;BYDAY=-1FR` (RFC 5545)."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Final

from dateutil.rrule import rrulestr

from tickover.scenarios.errors import Advice, quote
from tickover.scenarios.recurrences import Recurrence

EXPECTED: Final = 'must be an iCalendar rule such as "FREQ=MONTHLY;BYDAY=-1FR"'

_FREQUENCIES: Final = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_DAY: Final = "(?:MO|TU|WE|TH|FR|SA|SU)"
_DAYS: Final = rf"[+-]?[0-9]{{0,2}}{_DAY}(?:,[+-]?[0-9]{{0,2}}{_DAY})*"
_NUMBERS: Final = "[+-]?[0-9]{1,3}(?:,[+-]?[0-9]{1,3})*"
_PARTS: Final[Mapping[str, str]] = {
    "FREQ": "[A-Z]+",
    "INTERVAL": "[0-9]+",
    "BYDAY": _DAYS,
    "BYMONTHDAY": _NUMBERS,
    "BYMONTH": _NUMBERS,
    "BYSETPOS": _NUMBERS,
    "BYYEARDAY": _NUMBERS,
    "BYWEEKNO": _NUMBERS,
    "WKST": _DAY,
}
"""The available parts, and what their values look like. dateutil reads more than one rule and other properties."""
_REPLACED_PARTS: Final = {
    "COUNT": "times = 6",
    "UNTIL": 'until = "2027-06-30"',
    "BYHOUR": 'time = "09:00"',
    "BYMINUTE": 'time = "09:00"',
    "BYSECOND": 'time = "09:00"',
}
_FREQUENT_PARTS: Final = {"DAILY": ("INTERVAL", "BYDAY"), "WEEKLY": ("INTERVAL", "BYDAY", "BYMONTH")}
"""The parts that can restrict a frequent rule. With others, dateutil could search every day until the year 9999."""
_MAX_LENGTH: Final = 200
_MAX_INTERVAL: Final = 1000
_ANY_DAY: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - days have no time zone
_CALENDAR_CYCLE: Final = date(2400, 1, 1).toordinal() - date(2000, 1, 1).toordinal()
"""The calendar repeats after 400 years."""
_LATEST_START: Final = date(9978, 1, 1).toordinal()
"""Leaves the 20 years that a scenario needs before the end of the year 9999."""


class Rule(Recurrence, frozen=True):
    """An iCalendar rule that begins on `begin`, a proleptic ordinal."""

    text: str = ""
    begin: int = 0

    def with_default_day(self, day: date) -> Recurrence:
        return Rule(1, self.text, day.toordinal())

    def ordinals(self, first: int, last: int) -> Iterator[int]:
        # dateutil searches until the year 9999. It has less to search in the last 400 years.
        shift = (_LATEST_START - self.begin) // _CALENDAR_CYCLE * _CALENDAR_CYCLE
        begin = datetime.combine(date.fromordinal(self.begin + shift), time())
        for found in rrulestr(self.text, dtstart=begin):
            day = found.toordinal() - shift
            if day > last:
                return
            if day >= first:
                yield day
        raise ValueError(f"rrule {quote(self.text)} selects no day")


def parse(value: object) -> Rule | None:
    """Parse a rule. Raise ValueError if it is invalid. Return None for other values."""
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        return None
    text = value.strip().upper().removeprefix("RRULE:")
    pairs = [part.partition("=")[::2] for part in text.split(";")]
    parts = dict(pairs)
    _check_parts(parts)
    if len(parts) < len(pairs) or not all(re.fullmatch(_PARTS[name], parts[name]) for name in parts):
        return None
    _check_numbered_days(parts)
    try:
        rrulestr(text, dtstart=_ANY_DAY)
    except ValueError:
        return None
    return Rule(1, text)


def _check_parts(parts: Mapping[str, str]) -> None:
    """Raise Advice if a part is missing or not supported."""
    for name in parts:
        if name in _REPLACED_PARTS:
            raise Advice(f"rrule can't have {name}; write {_REPLACED_PARTS[name]} instead")
        if name not in _PARTS:
            raise Advice(f"rrule can't have {quote(name)}; available parts: {', '.join(_PARTS)}")
    if parts.get("FREQ") not in _FREQUENCIES:
        raise Advice(f"rrule must have a FREQ of {', '.join(_FREQUENCIES)}")
    _check_search(parts)
    if "INTERVAL" in parts and parts["INTERVAL"] not in map(str, range(1, _MAX_INTERVAL + 1)):
        raise Advice(f"rrule must have an INTERVAL from 1 to {_MAX_INTERVAL}")


def _check_search(parts: Mapping[str, str]) -> None:
    """Raise Advice if dateutil would search for too long."""
    frequency = parts["FREQ"]
    allowed = _FREQUENT_PARTS.get(frequency, tuple(_PARTS))
    if not set(parts) <= {"FREQ", "WKST", *allowed}:
        listed = " and ".join([", ".join(allowed[:-1]), allowed[-1]])
        raise Advice(f"rrule with FREQ={frequency} can have only {listed}; use FREQ=MONTHLY or FREQ=YEARLY")


def _check_numbered_days(parts: Mapping[str, str]) -> None:
    """Raise Advice for a day such as 6MO of a month, which no month has."""
    last = 53 if parts["FREQ"] == "YEARLY" and "BYMONTH" not in parts else 5
    if any(not 0 < int(number) <= last for number in re.findall("[0-9]+", parts.get("BYDAY", ""))):
        raise Advice(f"rrule must have days from 1 to {last} in BYDAY, such as {last}MO")
