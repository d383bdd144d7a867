"""Single values of a file, each by its rule. A ValueError says what a value must be."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

from tickover import plans, spans
from tickover.core.limits import MAX_AMOUNT, MAX_CATEGORY, MAX_NAME, SPAN_YEARS
from tickover.core.results import TransactionType
from tickover.spans import Duration

MOST_TIMES: Final = 10_000
_LONGEST_ABOUT: Final = 2_000
_LONGEST: Final = timedelta(days=366 * SPAN_YEARS)
_LENGTH: Final = f'must be a duration such as "6 months" or "1 year", at most {SPAN_YEARS} years'
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


def read_name(value: object) -> str:
    return _text(value, 1, MAX_NAME)


def read_category(value: object) -> str:
    return _text(value, 0, MAX_CATEGORY)


def read_about(value: object) -> str:
    """Text for people, which no clock holds."""
    return _text(value, 0, _LONGEST_ABOUT)


def _text(value: object, least: int, most: int) -> str:
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise ValueError(f"must be text of {least} to {most:,} characters")
    # JSON can write lone surrogates, which no file and no terminal takes; the server refuses both.
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError("must be text without U+0000 and lone surrogates")
    return value


def read_type(value: object) -> TransactionType:
    match value.lower() if isinstance(value, str) else None:
        case "income":
            return "INCOME"
        case "expense":
            return "EXPENSE"
    raise ValueError('must be "income" or "expense"')


def read_currency(value: object) -> str:
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        raise ValueError('must be three uppercase letters such as "EUR"')
    return value


def read_amount(value: object) -> Decimal:
    amount = _number(value)
    if amount is None or not 0 < amount <= MAX_AMOUNT:
        raise ValueError(f"must be a number greater than 0 and at most {MAX_AMOUNT:,}")
    return _exact(amount)


def read_initial(value: object) -> Decimal:
    amount = _number(value)
    if amount is None or not 0 <= amount <= MAX_AMOUNT:
        raise ValueError(f"must be a number from 0 to {MAX_AMOUNT:,}")
    return _exact(amount)


def _number(value: object) -> Decimal | int | None:
    """The value if it is a number that has a size; TOML knows others, and Python takes truth for one."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return value if isinstance(value, int) or value.is_finite() else None


def _exact(amount: Decimal | int) -> Decimal:
    try:
        return plans.to_exact_decimal(amount)
    except ValueError:
        raise ValueError("must have at most 15 digits, because no more arrive safely as a JSON number") from None


def read_length(value: object) -> Duration:
    """How long a scenario lasts. What is too long only from some starts is for the scenario to refuse."""
    try:
        span = spans.parse(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(_LENGTH) from None
    rest = timedelta(weeks=span.weeks, days=span.days, hours=span.hours, minutes=span.minutes, seconds=span.seconds)
    if span.is_zero or 12 * span.years + span.months > 12 * SPAN_YEARS or rest > _LONGEST:
        raise ValueError(_LENGTH)
    return span


def read_times(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_TIMES:
        raise ValueError(f"must be a whole number from 1 to {MOST_TIMES:,}")
    return value
