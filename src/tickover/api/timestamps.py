"""Instants: RFC 3339 in and out, always UTC, exact to the microsecond, and ten calendar years after.

A moment is a `datetime` in UTC. Databases keep it as a whole number of microseconds since 1970.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from tickover.api.limits import SPAN_YEARS

Instant = datetime

EXPECTED: Final = "must be an RFC 3339 timestamp with an offset, such as 2027-01-31T09:00:00Z"

EARLIEST_NOW: Final = datetime(1970, 1, 8, tzinfo=UTC)
LATEST_NOW: Final = datetime(9900, 1, 1, tzinfo=UTC)
"""Outside of these the wall clock is wrong: ids count from 1970, and a clock runs for decades after now."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_HOUR_AND_MINUTE: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
USUAL_AFTER_YEAR: Final = r"[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9](?:\.[0-9]{1,6})?(?:Z|\+00:00)"
"""What follows the year and its dash in the forms that nearly all programs write, and all readers take for the same."""
_RFC_3339: Final = re.compile(
    rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[Tt]({_HOUR_AND_MINUTE}):([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]{_HOUR_AND_MINUTE})"
)


def parse(text: object) -> Instant:
    """Read an RFC 3339 timestamp; ValueError when it is anything else.

    Digits past the microsecond are cut. Second 60 is taken where it is 23:59:60 in UTC, and is the next second.
    """
    if not isinstance(text, str):
        raise ValueError(EXPECTED)
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise ValueError(EXPECTED)
    date, minute, second, fraction, offset = match.groups()
    try:
        if second == "60":
            return _after_leap_second(f"{date}T{minute}:59{offset.upper()}", fraction)
        written = f"{date}T{minute}:{second}{(fraction or '')[:7]}{offset.upper()}"
        return _of_the_calendar(written).astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 0001 to 9999 in UTC") from None


def _after_leap_second(second_before: str, fraction: str | None) -> Instant:
    before = _of_the_calendar(second_before).astimezone(UTC)
    if (before.hour, before.minute) != (23, 59):
        raise ValueError("second 60 exists only at 23:59:60 UTC")
    microsecond = int((fraction or ".0")[1:7].ljust(6, "0"))
    return before + timedelta(seconds=1, microseconds=microsecond)


def _of_the_calendar(written: str) -> Instant:
    """Read what has the right form; it may still be the 31st of a month that has none."""
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(EXPECTED) from None


def to_micros(moment: Instant) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_micros(micros: int) -> Instant:
    return _EPOCH + micros * _MICROSECOND


def write(moment: Instant) -> str:
    """RFC 3339 in UTC with `Z`, the fraction left out when it is zero."""
    return moment.isoformat().removesuffix("+00:00") + "Z"


def years_after(moment: Instant, years: int = SPAN_YEARS) -> Instant:
    """The same day and time `years` later (earlier when negative); 29 February goes to 28 February."""
    try:
        return moment.replace(year=moment.year + years)
    except ValueError:
        return moment.replace(year=moment.year + years, day=28)
