"""A slow model of recurrences, Hypothesis strategies for phrases, and scenarios with one item."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tickover.api.plans import Plan
from tickover.scenarios import read
from tickover.scenarios.phrases import MONTH_NAMES, WEEKDAY_NAMES, ordinal

DAY = timedelta(days=1)
KINDS = {"day": range(7), "weekday": range(5)} | {name: (number,) for number, name in enumerate(WEEKDAY_NAMES)}
LAST = 31
STARTS_PERIOD: dict[str, Callable[[date], bool]] = {
    "day": lambda day: True,
    "week": lambda day: day.weekday() == 0,
    "month": lambda day: day.day == 1,
    "year": lambda day: (day.month, day.day) == (1, 1),
}


class DayRule(NamedTuple):
    """A day in words, and whether a date matches it."""

    words: str
    matches: Callable[[date], bool]


class Phrase(NamedTuple):
    """Certain days of every n-th period, such as `every 2 months on the 5th day and the last Friday`."""

    step: int
    unit: str
    rules: list[DayRule]

    @property
    def words(self) -> str:
        days = " and ".join(rule.words for rule in self.rules)
        return f"every {self.step} {self.unit}s{days and f' on {days}'}"

    def days(self, first: date, last: date) -> Iterator[date]:
        """Yield the matching days. Check every day, and count periods as they start."""
        period, first_period, day = 0, None, first
        while day <= last:
            if day > first and STARTS_PERIOD[self.unit](day):
                period += 1
            if not self.rules or any(rule.matches(day) for rule in self.rules):
                first_period = period if first_period is None else first_period
                if (period - first_period) % self.step == 0:
                    yield day
            day += DAY


@cache
def days_of_month(year: int, month: int, kind: str) -> list[date]:
    days = [date(year, month, 1) + number * DAY for number in range(31)]
    return [day for day in days if day.month == month and day.weekday() in KINDS[kind]]


def is_day_of_month(day: date, position: int, kind: str) -> bool:
    """Return whether the day is the n-th of its kind in its month, or the last if the month has fewer."""
    days = days_of_month(day.year, day.month, kind)
    return day == days[min(position, len(days)) - 1]


def weekday(name: str) -> DayRule:
    return DayRule(name, lambda day: WEEKDAY_NAMES[day.weekday()] == name)


def day_of_month(position: int, kind: str) -> DayRule:
    position_in_words = "last" if position == LAST else ordinal(position)
    return DayRule(f"the {position_in_words} {kind}", lambda day: is_day_of_month(day, position, kind))


def day_of_year(month: int, number: int) -> DayRule:
    words = f"{number} {MONTH_NAMES[month - 1]}"
    return DayRule(words, lambda day: day.month == month and is_day_of_month(day, number, "day"))


_days_of_months = st.one_of(
    st.builds(day_of_month, st.integers(1, LAST), st.just("day")),
    st.builds(day_of_month, st.integers(1, 4) | st.just(LAST), st.sampled_from(list(KINDS))),
)
_days_of_years = st.dates(date(2028, 1, 1), date(2028, 12, 31)).map(lambda day: day_of_year(day.month, day.day))
_rules: dict[str, st.SearchStrategy[list[DayRule]]] = {
    "day": st.just([]),
    "week": st.lists(st.sampled_from(WEEKDAY_NAMES).map(weekday), min_size=1, max_size=3),
    "month": st.lists(_days_of_months, min_size=1, max_size=3),
    "year": st.lists(_days_of_years, min_size=1, max_size=2),
}
phrases = st.one_of([st.builds(Phrase, st.integers(1, 5), st.just(unit), rules) for unit, rules in _rules.items()])
starts = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def rent(**keys: Any) -> dict[str, Any]:
    """Return a transaction. Only its timing is missing."""
    return {"name": "Rent", "amount": 10, "type": "expense", "currency": "EUR", **keys}


def to_toml(values: dict[str, Any]) -> str:
    """Return the values as TOML with one line for each key."""
    return "\n".join(f"{json.dumps(key)} = {_to_inline(value)}" for key, value in values.items())


def _to_inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_to_inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_to_inline, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def plan(start: datetime | str, *transactions: dict[str, Any], **top: Any) -> Plan:
    return read(to_toml({"transactions": transactions, **top})).plan(start)


def instants(start: datetime | str, length: str = "6 months", **timing: Any) -> list[datetime]:
    """Return the instants of a scenario with one transaction."""
    return [item.at for item in plan(start, rent(**timing), length=length).transactions]


def parse_instant(text: str) -> datetime:
    """Parse `2027-01-31`, which means 08:00, or `2027-01-31 09:30`."""
    day, _, time_of_day = text.partition(" ")
    return datetime.combine(date.fromisoformat(day), time.fromisoformat(time_of_day or "08:00"), UTC)
