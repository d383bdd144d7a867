"""Formatting of text, amounts, times and IDs for people."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from tickover.api import ids
from tickover.api.terminal import sanitize

MINUS: Final = "\N{MINUS SIGN}"
_SHORT_ID_LENGTH: Final = 8
_UNITS: Final = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("min", timedelta(minutes=1)))


def amount(value: Decimal) -> str:
    """Format an amount with at least two decimals and spaces between thousands: `1 150.00`."""
    decimals = max(2, -_exponent(value))
    return f"{value:,.{decimals}f}".replace(",", " ").replace("-", MINUS)


def signed_amount(value: Decimal) -> str:
    """Format an amount with its sign: `+2 800.00`."""
    return f"+{amount(value)}" if value > 0 else amount(value)


def _exponent(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    # The exponent of NaN and infinity is a string. A server never returns them.
    return exponent if isinstance(exponent, int) else 0


def timestamp(at: datetime) -> str:
    """Format the date, and the time of day unless it is midnight: `2027-02-01`, `2027-02-01 09:30 UTC`."""
    at = at.astimezone(UTC)
    if (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0):
        return f"{at:%Y-%m-%d}"
    precision = "microseconds" if at.microsecond else "seconds" if at.second else "minutes"
    return f"{at.replace(tzinfo=None).isoformat(' ', precision)} UTC"


def date(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def date_and_minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def duration(length: timedelta) -> str:
    """Format a duration with its two largest units: `6 d 23 h`, `5 min`."""
    rest, parts = length, list[tuple[int, str]]()
    for name, unit in _UNITS:
        count, rest = divmod(rest, unit)
        if count or parts:
            parts.append((count, name))
    shown = [f"{count} {name}" for count, name in parts[:2] if count]
    return " ".join(shown) if shown else "< 1 min"


def short_id(id: str) -> str:
    """Shorten a clock's ID to its end. IDs start with a time, so only their ends differ clearly."""
    return f"clock_…{id[-_SHORT_ID_LENGTH:]}" if ids.read("clock", id) else sanitize(id)


def sentence(error: Exception) -> str:
    """Return the message of an error with a capital letter and a full stop."""
    message = str(error)
    return f"{message[:1].upper()}{message[1:]}{'' if message.endswith('?') else '.'}"


def count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"
