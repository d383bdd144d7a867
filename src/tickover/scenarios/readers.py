"""Readers of single values in a scenario file."""

from contextlib import suppress
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Annotated, Any, Final, get_args
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Meta, ValidationError, convert

from tickover.api import durations, fields, limits
from tickover.api.command_arguments import to_exact_decimal
from tickover.api.connections import ALL_QUIRKS, QUIRK_SETS, BankFaultKind
from tickover.api.durations import Duration
from tickover.api.expectations import Period
from tickover.api.suggestions import suggest
from tickover.scenarios import phrases, rrules, timings
from tickover.scenarios.adjustments import Weekend, country_holidays
from tickover.scenarios.scenario_errors import Advice, quote
from tickover.scenarios.toml_tables import ByType, OneOrMore, Reader

_MAX_ABOUT: Final = 2_000
_MAX_ZONE: Final = 100


def _typed_reader(type: Any, expected: str) -> Reader:
    """Return a reader of the values of a type, which may have bounds."""

    def parse(value: object) -> object:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("must be text without U+0000")
        with suppress(ValidationError):
            return convert(value, type)
        return None

    return Reader(parse, expected=expected)


def _text_reader(minimum: int, maximum: int) -> Reader:
    type = Annotated[str, Meta(min_length=minimum, max_length=maximum)]
    return _typed_reader(type, f"must be text of {minimum} to {maximum:,} characters")


def _choice_reader(kind: Any) -> Reader:
    """Return a reader of one of the values of a Literal, written as words in any case."""
    choices = {str(value).lower().replace("_", " "): value for value in get_args(kind)}

    def parse(value: object) -> object:
        return choices.get(value.lower().replace("_", " ")) if isinstance(value, str) else None

    *words, last = (quote(choice) for choice in choices)
    return Reader(parse, expected=f"must be {', '.join(words)} or {last}")


def _amount_reader(minimum: int, maximum: int) -> Reader:
    def parse(value: Any) -> Decimal | None:
        # TOML has inf and nan, and in Python True is an int.
        is_number = not isinstance(value, bool) and isinstance(value, int | Decimal) and Decimal(value).is_finite()
        if not is_number or not minimum <= value <= maximum:
            return None
        try:
            return to_exact_decimal(value)
        except ValueError:
            raise ValueError("must have at most 15 digits, the precision of a JSON number") from None

    return Reader(parse, expected=f"must be a number from {minimum:,} to {maximum:,}")


def _whole_number_reader(minimum: int, maximum: int) -> Reader:
    type = Annotated[int, Meta(ge=minimum, le=maximum)]
    return _typed_reader(type, f"must be a whole number from {minimum:,} to {maximum:,}")


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


def _parse_quirk(value: object) -> object:
    known = isinstance(value, str) and (value in QUIRK_SETS or value.upper().replace("-", "_") in ALL_QUIRKS)
    return value if known else None


def _parse_date(value: object) -> date | None:
    day = timings.parse_day(value)
    return None if isinstance(day, datetime) else day


def _parse_duration(value: object) -> Duration | None:
    try:
        duration = durations.parse(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return None if duration.is_zero else duration


NAME: Final = _text_reader(1, limits.MAX_NAME)
CATEGORY: Final = _text_reader(0, limits.MAX_CATEGORY)
ABOUT: Final = _text_reader(0, _MAX_ABOUT)
TYPE: Final = _choice_reader(fields.TransactionType)
ACCOUNT_KEY: Final = _typed_reader(
    fields.AccountKey,
    f"must be 1 to {limits.MAX_ACCOUNT_KEY} lower-case letters, digits and hyphens, and not start with a hyphen",
)
ACCOUNT_TYPE: Final = _choice_reader(fields.AccountType)
CURRENCY: Final = _typed_reader(fields.Currency, 'must be three uppercase letters such as "EUR"')
INITIAL_AMOUNT: Final = _amount_reader(0, limits.MAX_AMOUNT)
AMOUNT: Final = Reader(
    lambda value: INITIAL_AMOUNT.parse(value) or None,
    expected=f"must be a number greater than 0 and at most {limits.MAX_AMOUNT:,}",
)
BALANCE: Final = _amount_reader(-limits.MAX_OPENING_BALANCE, limits.MAX_OPENING_BALANCE)
BOUND: Final = _amount_reader(-limits.MAX_BOUND, limits.MAX_BOUND)
TOTAL_BOUND: Final = _amount_reader(0, limits.MAX_BOUND)
PERIOD: Final = _choice_reader(Period)
START: Final = Reader(
    timings.parse_day,
    expected='must be a date such as "2027-01-31" or an instant such as "2027-01-31T09:00:00Z"',
)
DURATION: Final = Reader(_parse_duration, expected='must be a duration such as "3 days"')
LENGTH: Final = Reader(
    _parse_duration, expected=f'must be a duration such as "6 months" or "1 year", at most {limits.SPAN_YEARS} years'
)
RECURRENCE: Final = Reader(phrases.parse, expected=phrases.EXPECTED)
RRULE: Final = Reader(rrules.parse, expected=rrules.EXPECTED)
POINT: Final = Reader(
    timings.parse_point,
    expected='must be a duration after the start such as "+10 days", a date such as "2027-01-31", '
    'an instant such as "2027-01-31T09:00:00Z", "start" or "end"',
)
DATE_KEY: Final = Reader(timings.parse_point, expected='must be a date such as "2027-01-31"')
TIME_OF_DAY: Final = Reader(timings.parse_time, expected='must be a time of day such as "08:00"')
TIMES: Final = _whole_number_reader(1, 10_000)
ZONE: Final = Reader(_parse_zone, expected='must be the name of a time zone such as "Europe/Berlin"')
WEEKEND: Final = _choice_reader(Weekend)
DATE: Final = Reader(_parse_date, expected='must be a date such as "2027-01-31"')
HOLIDAYS: Final = ByType(str, Reader(country_holidays), OneOrMore(DATE, minimum=0, collect=frozenset))
JITTER_DAYS: Final = _whole_number_reader(1, 15)
CHANCE: Final = _amount_reader(0, 1)
TABLE: Final = Reader(lambda _: None, expected="must be a table")
QUIRK: Final = Reader(
    _parse_quirk, expected=f"must be {', '.join(ALL_QUIRKS)}, or a set of them: {', '.join(QUIRK_SETS)}"
)
FAULT_KIND: Final = _choice_reader(BankFaultKind)
CONSENT_DAYS: Final = _whole_number_reader(1, limits.MAX_CONSENT_DAYS)
CALLS_PER_DAY: Final = _whole_number_reader(1, limits.MAX_CALLS_PER_DAY)
SEED: Final = _whole_number_reader(0, 1_000_000_000)
