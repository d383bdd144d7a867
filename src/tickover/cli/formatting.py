"""Formatting of text, amounts, times and IDs for people."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from tickover.api import ids
from tickover.api.terminal import sanitize

MINUS: Final = "\N{MINUS SIGN}"
_SHORT_ID_LENGTH: Final = 8


def amount(value: Decimal) -> str:
    """Format an amount with at least two decimals and spaces between thousands: `1 150.00`."""
    decimals = f"{value.normalize():f}".partition(".")[2]
    return f"{value:,.{max(2, len(decimals))}f}".replace(",", " ").replace("-", MINUS)


def signed_amount(value: Decimal) -> str:
    """Format an amount with its sign: `+2 800.00`."""
    return f"+{amount(value)}" if value > 0 else amount(value)


def timestamp(at: datetime) -> str:
    """Format the date, and the time of day unless it is midnight: `2027-02-01`, `2027-02-01 09:30 UTC`."""
    at = at.astimezone(UTC)
    if at.time() == time():
        return date(at)
    precision = "auto" if at.second or at.microsecond else "minutes"
    return f"{at.replace(tzinfo=None).isoformat(' ', precision)} UTC"


def date(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def date_and_minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def duration(length: timedelta) -> str:
    """Format a duration with two units: `6 d 23 h`, `1 h 5 min`."""
    hours, minutes = divmod(length // timedelta(minutes=1), 60)
    return f"{hours // 24} d {hours % 24} h" if hours >= 24 else f"{hours} h {minutes} min"


def short_id(id: str) -> str:
    """Shorten a clock's ID to its end. IDs start with a time, so only their ends differ clearly."""
    return f"clock_…{id[-_SHORT_ID_LENGTH:]}" if ids.read("clock", id) else sanitize(id)


def sentence(error: Exception) -> str:
    """Return the message of an error with a capital letter and a full stop."""
    message = str(error)
    return f"{message[:1].upper()}{message[1:]}{'' if message.endswith('?') else '.'}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun}s'}"
