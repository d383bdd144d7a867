"""Parses the keys that transactions and contributions share: amounts, timing and adjustments."""

from collections.abc import Container
from datetime import UTC, date, time, tzinfo
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from tickover.api.durations import Duration
from tickover.scenarios import readers
from tickover.scenarios.adjustments import Adjustments, AmountRange, Calendar, Variety, country_holidays
from tickover.scenarios.errors import Advice, quote
from tickover.scenarios.scenario import Payments
from tickover.scenarios.tables import Table
from tickover.scenarios.timings import ListedTiming, LocalTime, Point, RecurringTiming, Timing

DEFAULT_KEYS: Final = ("timezone", "weekend", "holidays", "seed")
"""Keys of the file that items can override."""
ITEM_KEYS: Final = (
    "amount", "every", "rrule", "from", "until", "times", "at", "time", "timezone", "weekend", "holidays",
    "jitter_days", "chance", "seed", "late_by", "skipped",
)  # fmt: skip
_RECURRENCE_KEYS: Final = ("from", "until", "times", "weekend", "holidays")
_BETWEEN_KEYS: Final = ("between", "step")
_DEFAULT_TIME: Final = time(8)
_CENT: Final = Decimal("0.01")
_MAX_STEPS: Final = 10**12
MAX_LISTED_DATES: Final = 400


class Defaults(Struct, frozen=True):
    """The values of a file that apply to all its items."""

    zone: tzinfo = UTC
    calendar: Calendar = Calendar()
    seed: int = 0

    def local_time(self, table: Table) -> LocalTime:
        zone = table.optional("timezone", readers.ZONE) or self.zone
        return LocalTime(table.optional("time", readers.TIME_OF_DAY) or _DEFAULT_TIME, zone)


def parse_defaults(table: Table) -> Defaults:
    """Parse the defaults of a file."""
    return Defaults(
        zone=table.optional("timezone", readers.ZONE) or UTC,
        calendar=_parse_calendar(table, Calendar()),
        seed=table.optional("seed", readers.SEED) or 0,
    )


def parse_payments(table: Table, name: str, defaults: Defaults) -> Payments:
    """Parse the shared keys of an item. `name` is the item's name for its variety."""
    with table.mistakes.collect():
        amounts = _parse_amounts(table)
    with table.mistakes.collect():
        timing = _parse_timing(table, defaults)
    with table.mistakes.collect():
        adjustments = _parse_adjustments(table, name, defaults)
    reversed_after = table.optional("reversed_after", readers.DELAY)
    pending = table.optional("pending", readers.DELAY)
    table.mistakes.raise_all()
    if isinstance(amounts, tuple) and isinstance(table.get("amount"), list):
        if not isinstance(timing, ListedTiming):
            raise table.error("amount must be one number; a list of amounts requires at", "amount")
        if len(amounts) != len(timing.points):
            raise table.error(
                f"amount must have as many entries as at: {len(timing.points):,}, not {len(amounts):,}", "amount"
            )
    return Payments(
        location=table.location,
        amounts=amounts,
        timing=timing,
        adjustments=adjustments,
        reversed_after=reversed_after,
        pending=pending,
    )


def _parse_amounts(table: Table) -> tuple[Decimal, ...] | AmountRange:
    value = table.get("amount")
    if not isinstance(value, dict) or not set(value) & set(_BETWEEN_KEYS):
        return table.one_or_more("amount", readers.AMOUNT)
    between = Table(value, table.location.within("amount"), _BETWEEN_KEYS)
    bounds = between.one_or_more("between", readers.AMOUNT)
    step = between.optional("step", readers.AMOUNT) or _CENT
    between.mistakes.raise_all()
    if len(bounds) != 2 or bounds[0] > bounds[1]:
        raise table.error("between must have the lowest and the highest amount, as in {between = [40, 90]}", "amount")
    if (bounds[1] - bounds[0]) / step > _MAX_STEPS:
        raise table.error("step is too small for between; increase it", "amount")
    return AmountRange(*bounds, step)


def _parse_timing(table: Table, defaults: Defaults) -> Timing:
    local_time = defaults.local_time(table)
    if sum(key in table for key in ("every", "rrule", "at")) != 1:
        if not table.has_unknown_keys:
            table.report(
                'must have only one of every, for example "month on the 25th", at, for example "+10 days", and rrule'
            )
        return ListedTiming((), local_time)
    if "at" not in table:
        every = "every" in table
        return RecurringTiming(
            recurrence=table.required("every", readers.RECURRENCE) if every else table.required("rrule", readers.RRULE),
            local_time=local_time,
            since=table.optional("from", readers.POINT),
            until=table.optional("until", readers.POINT),
            times=table.optional("times", readers.TIMES),
        )
    for key in _RECURRENCE_KEYS:
        if key in table:
            table.report(f"{key} requires every or rrule and can't be used with at; remove it", key)
    return ListedTiming(table.one_or_more("at", readers.POINT), local_time)


def _parse_adjustments(table: Table, name: str, defaults: Defaults) -> Adjustments:
    calendar = Calendar() if "at" in table else _parse_calendar(table, defaults.calendar)
    seed = table.optional("seed", readers.SEED)
    _check_date_count(table, "skipped")
    _check_date_count(table, "late_by")
    late_by, late_days = _parse_late_by(table)
    return Adjustments(
        variety=Variety(defaults.seed if seed is None else seed, name),
        calendar=calendar,
        jitter_days=table.optional("jitter_days", readers.JITTER_DAYS) or 0,
        chance=table.optional("chance", readers.CHANCE),
        skipped=table.one_or_more("skipped", readers.POINT) if "skipped" in table else (),
        late_by=late_by,
        late_days=late_days,
    )


def _parse_calendar(table: Table, default: Calendar) -> Calendar:
    weekend = table.optional("weekend", readers.WEEKEND) or default.weekend
    if "holidays" not in table:
        return Calendar(weekend, default.holidays)
    holidays = _parse_holidays(table)
    if weekend == "keep" and not table.mistakes:
        table.report('holidays requires weekend = "before" or weekend = "after"', "holidays")
    return Calendar(weekend, holidays)


def _parse_holidays(table: Table) -> Container[date]:
    value = table.get("holidays")
    if not isinstance(value, str):
        _check_date_count(table, "holidays")
        return frozenset(table.one_or_more("holidays", readers.HOLIDAY) if value != [] else ())
    try:
        return country_holidays(value)
    except Advice as advice:
        raise table.error(str(advice), "holidays") from None


def parse_currency(table: Table, default: str | None) -> str:
    """Parse the currency of a transaction or an expectation. The default is that of the scenario."""
    currency = table.optional("currency", readers.CURRENCY) or default
    if currency is None and "currency" not in table and not table.has_unknown_keys:
        table.report('currency is missing; set it here or for the whole scenario, for example "EUR"')
    return currency or ""


def _check_date_count(table: Table, key: str) -> None:
    value = table.get(key)
    if isinstance(value, list | dict) and len(value) > MAX_LISTED_DATES:
        raise table.error(f"{key} must have at most {MAX_LISTED_DATES} dates, not {len(value):,}", key)


def _parse_late_by(table: Table) -> tuple[Duration | None, tuple[tuple[Point, Duration], ...]]:
    """Parse a delay of all occurrences, or a table with the delay of each late date."""
    value: Any = table.get("late_by")
    if not isinstance(value, dict):
        return table.optional("late_by", readers.DELAY), ()
    delays = Table(value, table.location.within("late_by"), None)
    days = []
    for key in value:
        try:
            point = readers.POINT.read(key)
        except ValueError:
            raise delays.error(f'the key {quote(key)} of late_by must be a date such as "2027-01-31"', key) from None
        days.append((point, delays.required(key, readers.DELAY)))
    delays.mistakes.raise_all()
    return None, tuple(days)
