"""Instants and their text form, RFC 3339 timestamps.

An instant is a `datetime` in UTC, exact to the microsecond. Databases store it as microseconds since 1970.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from tickover.api.limits import SPAN_YEARS

Instant = datetime

EXPECTED: Final = "must be an RFC 3339 timestamp with an offset, such as 2027-01-31T09:00:00Z"

EARLIEST_NOW: Final = datetime(1970, 1, 8, tzinfo=UTC)
LATEST_NOW: Final = datetime(9900, 1, 1, tzinfo=UTC)
"""The wall clock is wrong outside of these: IDs count from 1970, and a clock can run for 20 years after now."""
LATEST: Final = datetime.max.replace(tzinfo=UTC)
"""Later than every clock."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_HOUR_AND_MINUTE: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
USUAL_AFTER_YEAR: Final = r"[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9](?:\.[0-9]{1,6})?(?:Z|\+00:00)"
"""The rest of a timestamp after the year and a dash, in the usual forms, which all decoders read the same way."""
_RFC_3339: Final = re.compile(
    rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[Tt]({_HOUR_AND_MINUTE}):([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]{_HOUR_AND_MINUTE})"
)


def parse(text: object) -> Instant:
    """Parse an RFC 3339 timestamp. Raise ValueError if it is invalid.

    Digits after the microsecond are truncated. Second 60 is valid only at 23:59:60 UTC, and means the next second.
    """
    if not isinstance(text, str):
        raise ValueError(EXPECTED)
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise ValueError(EXPECTED)
    date, minute, second, fraction, offset = match.groups()
    try:
        if second == "60":
            return _parse_leap_second(f"{date}T{minute}:59{offset.upper()}", fraction)
        text = f"{date}T{minute}:{second}{(fraction or '')[:7]}{offset.upper()}"
        return _parse_date(text).astimezone(UTC)
    except OverflowError:
        raise ValueError("must be in the years 0001 to 9999 in UTC") from None


def _parse_leap_second(second_before: str, fraction: str | None) -> Instant:
    before = _parse_date(second_before).astimezone(UTC)
    if (before.hour, before.minute) != (23, 59):
        raise ValueError("second 60 exists only at 23:59:60 UTC")
    microsecond = int((fraction or ".0")[1:7].ljust(6, "0"))
    return before + timedelta(seconds=1, microseconds=microsecond)


def _parse_date(text: str) -> Instant:
    """Parse text in the right form. It can still be invalid, such as 31 April."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(EXPECTED) from None


def to_micros(instant: Instant) -> int:
    since = instant - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_micros(micros: int) -> Instant:
    return _EPOCH + micros * _MICROSECOND


def write(instant: Instant) -> str:
    """Return an RFC 3339 timestamp in UTC with `Z`, without a fraction if it is zero."""
    return instant.isoformat().removesuffix("+00:00") + "Z"


def first_of_month(instant: Instant) -> Instant:
    return instant.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def years_after(instant: Instant, years: int = SPAN_YEARS) -> Instant:
    """Return the same day and time `years` later, or earlier if negative. 29 February becomes 28 February."""
    try:
        return instant.replace(year=instant.year + years)
    except ValueError:
        return instant.replace(year=instant.year + years, day=28)
