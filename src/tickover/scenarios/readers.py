"""Readers: each parses one kind of value in a scenario file, and says what it expects."""

from collections.abc import Callable
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Final, Generic, TypeVar, get_args
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

from tickover.api import durations, fields
from tickover.api.arguments import to_exact_decimal
from tickover.api.durations import Duration
from tickover.api.expectations import Period
from tickover.api.fields import AccountType, TransactionType
from tickover.api.limits import (
    MAX_ACCOUNT_KEY,
    MAX_AMOUNT,
    MAX_BOUND,
    MAX_CATEGORY,
    MAX_NAME,
    MAX_OPENING_BALANCE,
    SPAN_YEARS,
)
from tickover.api.suggestions import suggest
from tickover.scenarios import phrase_advice, phrases, rrules, timings
from tickover.scenarios.adjustments import Weekend
from tickover.scenarios.errors import Advice, quote

T = TypeVar("T")

_MAX_ABOUT: Final = 2_000
_MAX_ZONE: Final = 100


class Reader(Struct, Generic[T], frozen=True):
    """Parses a value of a file. `expected` is the end of the sentence "KEY must be …"."""

    expected: str
    parse: Callable[[object], T | None]
    """Returns None for a value that isn't as expected. Raises ValueError with a more specific message."""

    def read(self, value: object) -> T:
        """Return the parsed value. Raise ValueError if it is invalid."""
        parsed = self.parse(value)
        if parsed is None:
            raise ValueError(self.expected)
        return parsed


def _text_reader(minimum: int, maximum: int) -> Reader[str]:
    def parse(value: object) -> str | None:
        if not isinstance(value, str) or not minimum <= len(value) <= maximum:
            return None
        if "\0" in value:
            raise ValueError("must be text without U+0000")
        return value

    return Reader(f"must be text of {minimum} to {maximum:,} characters", parse)


def _choice_reader(kind: Any) -> Reader[Any]:
    """Return a reader of one of the values of a Literal, written as words in any case."""
    choices = {str(value).lower().replace("_", " "): value for value in get_args(kind)}

    def parse(value: object) -> Any:
        return choices.get(value.lower()) if isinstance(value, str) else None

    *words, last = (quote(choice) for choice in choices)
    return Reader(f"must be {', '.join(words)} or {last}", parse)


def _parse_currency(value: object) -> str | None:
    return value if isinstance(value, str) and fields.CURRENCY.fullmatch(value) else None


def _parse_account_key(value: object) -> str | None:
    is_key = isinstance(value, str) and len(value) <= MAX_ACCOUNT_KEY and fields.ACCOUNT_KEY.fullmatch(value)
    return str(value) if is_key else None


def _amount_reader(minimum: int, maximum: int) -> Reader[Decimal]:
    def parse(value: object) -> Decimal | None:
        number = _finite_number(value)
        return None if number is None or not minimum <= number <= maximum else _to_exact_decimal(number)

    return Reader(f"must be a number from {minimum:,} to {maximum:,}", parse)


def _whole_number_reader(minimum: int, maximum: int) -> Reader[int]:
    def parse(value: object) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if minimum <= value <= maximum else None

    return Reader(f"must be a whole number from {minimum:,} to {maximum:,}", parse)


def _finite_number(value: object) -> Decimal | int | None:
    """Return the value if it is a finite number. TOML has inf and nan, and in Python True is an int."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return value if isinstance(value, int) or value.is_finite() else None


def _to_exact_decimal(number: Decimal | int) -> Decimal:
    try:
        return to_exact_decimal(number)
    except ValueError:
        raise ValueError("must have at most 15 digits, the precision of a JSON number") from None


def _parse_zone(value: object) -> tzinfo | None:
    if not isinstance(value, str) or len(value) > _MAX_ZONE:
        return None
    try:
        return ZoneInfo(value)
    except (ValueError, OSError, KeyError):
        # ZoneInfo raises OSError for folders and KeyError for missing zones.
        hint = suggest(value, available_timezones(), '"{}"')
        if not hint:
            return None
        raise Advice(f"timezone {quote(value)} is unknown{hint}") from None


def _parse_date(value: object) -> date | None:
    day = timings.parse_day(value)
    return None if isinstance(day, datetime) else day


def _parse_duration(value: object) -> Duration | None:
    try:
        duration = durations.parse(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return None if duration.is_zero else duration


NAME: Final = _text_reader(1, MAX_NAME)
CATEGORY: Final = _text_reader(0, MAX_CATEGORY)
ABOUT: Final = _text_reader(0, _MAX_ABOUT)
TYPE: Final[Reader[TransactionType]] = _choice_reader(TransactionType)
ACCOUNT_KEY: Final = Reader(
    f"must be 1 to {MAX_ACCOUNT_KEY} lower-case letters, digits and hyphens, and not start with a hyphen",
    _parse_account_key,
)
ACCOUNT_TYPE: Final[Reader[AccountType]] = _choice_reader(AccountType)
CURRENCY: Final = Reader('must be three uppercase letters such as "EUR"', _parse_currency)
INITIAL_AMOUNT: Final = _amount_reader(0, MAX_AMOUNT)
AMOUNT: Final = Reader(
    f"must be a number greater than 0 and at most {MAX_AMOUNT:,}", lambda value: INITIAL_AMOUNT.parse(value) or None
)
BALANCE: Final = _amount_reader(-MAX_OPENING_BALANCE, MAX_OPENING_BALANCE)
BOUND: Final = _amount_reader(-MAX_BOUND, MAX_BOUND)
TOTAL_BOUND: Final = _amount_reader(0, MAX_BOUND)
PERIOD: Final[Reader[Period]] = _choice_reader(Period)
START: Final = Reader(
    'must be a date such as "2027-01-31" or an instant such as "2027-01-31T09:00:00Z"', timings.parse_day
)
LENGTH: Final = Reader(
    f'must be a duration such as "6 months" or "1 year", at most {SPAN_YEARS} years', _parse_duration
)
RECURRENCE: Final = Reader(phrases.EXPECTED, phrase_advice.parse)
RRULE: Final = Reader(rrules.EXPECTED, rrules.parse)
POINT: Final = Reader(
    'must be a duration after the start such as "+10 days", a date such as "2027-01-31", '
    'an instant such as "2027-01-31T09:00:00Z", "start" or "end"',
    timings.parse_point,
)
TIME_OF_DAY: Final = Reader('must be a time of day such as "08:00"', timings.parse_time)
TIMES: Final = _whole_number_reader(1, 10_000)
ZONE: Final = Reader('must be the name of a time zone such as "Europe/Berlin"', _parse_zone)
WEEKEND: Final[Reader[Weekend]] = _choice_reader(Weekend)
HOLIDAY: Final = Reader('must be a date such as "2027-01-31"', _parse_date)
JITTER_DAYS: Final = _whole_number_reader(1, 15)
CHANCE: Final = _amount_reader(0, 1)
SEED: Final = _whole_number_reader(0, 1_000_000_000)
DELAY: Final = Reader('must be a duration such as "3 days"', _parse_duration)
