"""How texts, amounts and times are written for a person at a terminal."""

import unicodedata
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from tickover.core.ids import read_clock_id

MINUS: Final = "\N{MINUS SIGN}"
_OBEYED: Final = {"Cc", "Cs", "Zl", "Zp"}
_INVISIBLE: Final = "Cf"
_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
_SHORT_ID: Final = 8
_DAY: Final = timedelta(days=1)
_UNITS: Final = (("d", _DAY), ("h", timedelta(hours=1)), ("min", timedelta(minutes=1)))


def safe(text: str) -> str:
    """The text without anything that a terminal would obey, or that is there unseen and turns its neighbours around."""
    return "".join(map(_shown, text)) if not text.isascii() or not text.isprintable() else text


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in _OBEYED:
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category == _INVISIBLE and character not in _JOINERS else character


def amount(value: Decimal) -> str:
    """With two decimals, or as many as there are, and a space between thousands: `1 150.00`."""
    decimals = max(2, -_exponent(value))
    return f"{value:,.{decimals}f}".replace(",", " ").replace("-", MINUS)


def signed(value: Decimal) -> str:
    """The same with its sign: `+2 800.00`."""
    return f"+{amount(value)}" if value > 0 else amount(value)


def _exponent(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    # What is no number has a letter there; no server says so of money.
    return exponent if isinstance(exponent, int) else 0


def moment(at: datetime) -> str:
    """The date, and the time of day where it is not midnight: `2027-02-01`, `2027-02-01 09:30 UTC`."""
    at = at.astimezone(UTC)
    if (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0):
        return f"{at:%Y-%m-%d}"
    precision = "microseconds" if at.microsecond else "seconds" if at.second else "minutes"
    return f"{at.replace(tzinfo=None).isoformat(' ', precision)} UTC"


def day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def span(length: timedelta) -> str:
    """The two greatest units of it: `6 d 23 h`, `5 min`."""
    rest, parts = length, list[tuple[int, str]]()
    for name, unit in _UNITS:
        count, rest = divmod(rest, unit)
        if count or parts:
            parts.append((count, name))
    told = [f"{count} {name}" for count, name in parts[:2] if count]
    return " ".join(told) if told else "< 1 min"


def short_id(id: str) -> str:
    """The end of a clock's id, which tells clocks apart; their beginnings are times and look alike."""
    return f"clock_…{id[-_SHORT_ID:]}" if read_clock_id(id) else safe(id)


def count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"
