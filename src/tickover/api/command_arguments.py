"""Converts the values that Python callers pass: instants and amounts."""

from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal, localcontext
from typing import TypeVar

from tickover.api import timestamps

InstantLike = datetime | date | str
"""A datetime with a time zone, an RFC 3339 string, or a date as `date` or string, which means midnight UTC."""
Amount = Decimal | int | float
Amount_co = TypeVar("Amount_co", covariant=True)
"""A number of the server, or a Decimal of the client."""

_DATE_LENGTH = len("2027-01-31")
_EXACT_DIGITS = 400
"""Enough for sums of amounts: each is at most 1e9, and a double has at most 324 leading decimals."""


def to_instant(value: InstantLike) -> datetime:
    """Convert to a datetime in UTC. Raise ValueError if the value is invalid or has no time zone."""
    if isinstance(value, str):
        return _parse(value)
    if not isinstance(value, date):
        raise ValueError(f"invalid time {value!r}; use a datetime with a time zone, a date or a string")
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    if value.utcoffset() is None:
        raise ValueError(f"{value.isoformat()} has no time zone; add one, for example datetime(..., tzinfo=UTC)")
    return _to_utc(value)


def midnight(day: date | str, zone: tzinfo | str) -> datetime:
    """Return the instant at which a day begins in a time zone, such as Europe/Berlin."""
    try:
        day = date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError:
        raise ValueError(f"invalid date {day!r}; use a date such as 2027-01-31") from None
    if isinstance(day, datetime):
        raise ValueError(f"{day.isoformat()} has a time of day; pass a date")
    return _to_utc(datetime.combine(day, time(), _zone(zone)))


def to_exact_decimal(amount: Amount) -> Decimal:
    """Convert to a decimal. Raise ValueError if a JSON number can't represent the amount exactly."""
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int | float):
        raise ValueError(f"invalid amount {amount!r}; use a Decimal, an int or a float")
    decimal = Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount)
    # Only the shortest decimal form of a double is exact.
    if not decimal.is_finite() or Decimal(repr(float(decimal))) != decimal:
        raise ValueError(f"{amount} is not finite or has too many digits for a JSON number")
    return decimal


def int_if_whole(amount: int | float) -> int | float:
    """Return the same number, as an int if it is whole, so that JSON shows no `.0`."""
    return int(amount) if isinstance(amount, float) and amount.is_integer() else amount


def add_exactly(total: Decimal, amount: Decimal) -> Decimal:
    with localcontext(prec=_EXACT_DIGITS):
        return total + amount


def _parse(text: str) -> datetime:
    try:
        is_date = len(text) == _DATE_LENGTH
        return timestamps.parse(f"{text}T00:00:00Z" if is_date else text)
    except ValueError as error:
        hint = ", or a date such as 2027-01-31" if str(error) == timestamps.EXPECTED else ""
        raise ValueError(f"{text!r} {error}{hint}") from None


def _to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value.isoformat()} is outside of the years 0001 to 9999 in UTC") from None


def _zone(zone: tzinfo | str) -> tzinfo:
    if not isinstance(zone, str):
        return zone
    try:
        from zoneinfo import ZoneInfo  # noqa: PLC0415 - few programs name a time zone

        return ZoneInfo(zone)
    except (ValueError, OSError, KeyError):
        # ZoneInfo raises OSError for folders and KeyError for missing zones.
        raise ValueError(f"unknown time zone {zone!r}; use a name such as Europe/Berlin") from None
