"""Recurrences in the format of iCalendar, such as `FREQ=MONTHLY;BYDAY=-1FR` (RFC 5545)."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Final

from dateutil.rrule import rrulestr

from tickover.scenarios.recurrences import Recurrence
from tickover.scenarios.scenario_errors import Advice, quote

EXPECTED: Final = (
    'must be an iCalendar rule such as "FREQ=MONTHLY;BYDAY=-1FR", with a FREQ of DAILY, WEEKLY, MONTHLY or YEARLY, '
    "and an INTERVAL of at most 1000"
)

_DAY: Final = "(?:MO|TU|WE|TH|FR|SA|SU)"
_NUMBERED_DAY: Final = rf"[+-]?[0-9]{{0,2}}{_DAY}"
_NUMBERS: Final = "[+-]?[0-9]{1,3}(?:,[+-]?[0-9]{1,3})*"
_PARTS: Final[Mapping[str, str]] = {
    "FREQ": "DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": "[1-9][0-9]{0,2}|1000",
    "BYDAY": f"{_NUMBERED_DAY}(?:,{_NUMBERED_DAY})*",
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
    last = 53 if parts.get("FREQ") == "YEARLY" and "BYMONTH" not in parts else 5
    if any(not 0 < int(number) <= last for number in re.findall("[0-9]+", parts.get("BYDAY", ""))):
        # dateutil raises IndexError for some of these when it searches.
        raise Advice(f"rrule must have days from 1 to {last} in BYDAY, such as {last}MO")
    try:
        rrulestr(text, dtstart=_ANY_DAY)
    except (ValueError, TypeError):
        # It raises TypeError without a FREQ.
        return None
    return Rule(1, text)


def _check_parts(parts: Mapping[str, str]) -> None:
    """Raise Advice if a part is not supported, or could make dateutil search for too long."""
    for name in parts:
        if name in _REPLACED_PARTS:
            raise Advice(f"rrule can't have {name}; write {_REPLACED_PARTS[name]} instead")
        if name not in _PARTS:
            raise Advice(f"rrule can't have {quote(name)}; available parts: {', '.join(_PARTS)}")
    frequency = parts.get("FREQ", "")
    allowed = _FREQUENT_PARTS.get(frequency, tuple(_PARTS))
    if not set(parts) <= {"FREQ", "WKST", *allowed}:
        listed = " and ".join([", ".join(allowed[:-1]), allowed[-1]])
        raise Advice(f"rrule with FREQ={frequency} can have only {listed}; use FREQ=MONTHLY or FREQ=YEARLY")
