"""Recurrences as a slow, plain model has them, days drawn for them, and scenarios with one item."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tickover.plans import Plan
from tickover.scenarios import read

DAY = timedelta(days=1)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
PLACES = ("first", "second", "third", "fourth", "last")


class Named(NamedTuple):
    """A day as a phrase names it, and whether a day of the calendar is one of these."""

    words: str
    fits: Callable[[date], bool]


class Phrase(NamedTuple):
    """A recurrence in words, and what the model needs to know of it."""

    words: str
    step: int
    begins_period: Callable[[date], bool]
    fits: Callable[[date], bool]

    def days(self, first: date, last: date) -> Iterator[date]:
        """Walks from day to day, counting periods as they begin."""
        period, counted_from, day = 0, None, first
        while day <= last:
            if day > first and self.begins_period(day):
                period += 1
            if self.fits(day):
                counted_from = period if counted_from is None else counted_from
                if (period - counted_from) % self.step == 0:
                    yield day
            day += DAY


def ends_month(day: date) -> bool:
    return (day + DAY).month != day.month


@cache
def days_of_month(year: int, month: int) -> list[date]:
    """Every day, found by walking."""
    days = [date(year, month, 1)]
    while not ends_month(days[-1]):
        days.append(days[-1] + DAY)
    return days


def weekday(number: int) -> Named:
    return Named(WEEKDAYS[number], lambda day: day.weekday() == number)


def numbered(number: int) -> Named:
    ending = {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}.get(number, "th")
    return Named(f"the {number}{ending}", lambda day: day.day == number or (ends_month(day) and day.day < number))


def placed(place: str, kind: str) -> Named:
    kinds = {"day": WEEKDAYS, "weekday": WEEKDAYS[:5]}.get(kind, (kind,))

    def fits(day: date) -> bool:
        fitting = [one for one in days_of_month(day.year, day.month) if WEEKDAYS[one.weekday()] in kinds]
        return day == (fitting[-1] if place == "last" else fitting[PLACES.index(place)])

    return Named(f"the {place} {kind}", fits)


def dated(month: int, number: int) -> Named:
    of_month = numbered(number)
    return Named(f"{number} {MONTHS[month - 1]}", lambda day: day.month == month and of_month.fits(day))


def phrase(unit: str, step: int, named: list[Named]) -> Phrase:
    begins = {
        "day": lambda day: True,
        "week": lambda day: day.weekday() == 0,
        "month": lambda day: day.day == 1,
        "year": lambda day: (day.month, day.day) == (1, 1),
    }[unit]
    count = "" if step == 1 else f"{step} "
    days = " and ".join(one.words for one in named)
    words = f"every {count}{unit}{'s' if step > 1 else ''}{f' on {days}' if days else ''}"
    return Phrase(words, step, begins, lambda day: not named or any(one.fits(day) for one in named))


_steps = st.integers(1, 5)
_days_of_months = st.one_of(
    st.integers(1, 31).map(numbered),
    st.builds(placed, st.sampled_from(PLACES), st.sampled_from(("day", "weekday", *WEEKDAYS))),
)
_days_of_years = st.integers(1, 12).flatmap(
    lambda month: st.builds(dated, st.just(month), st.integers(1, LENGTHS[month - 1]))
)
phrases = st.one_of(
    st.builds(phrase, st.just("day"), _steps, st.just([])),
    st.builds(phrase, st.just("week"), _steps, st.lists(st.integers(0, 6).map(weekday), min_size=1, max_size=3)),
    st.builds(phrase, st.just("month"), _steps, st.lists(_days_of_months, min_size=1, max_size=3)),
    st.builds(phrase, st.just("year"), st.integers(1, 3), st.lists(_days_of_years, min_size=1, max_size=2)),
)
starts = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
times = st.times().map(lambda drawn: drawn.replace(microsecond=0))


def rent(**keys: Any) -> dict[str, Any]:
    """A transaction that lacks only when it is."""
    return {"name": "Rent", "amount": 10, "type": "expense", "currency": "EUR", **keys}


def plan(start: datetime | str, *transactions: dict[str, Any], **top: Any) -> Plan:
    return read(json.dumps({"transactions": transactions, **top}), "json").plan(start)


def instants(start: datetime | str, length: str = "6 months", **when: Any) -> list[datetime]:
    """The instants of a scenario with one transaction."""
    return [item.at for item in plan(start, rent(**when), length=length).transactions]


def at(text: str) -> datetime:
    """An instant from `2027-01-31`, which means 08:00, or from `2027-01-31 09:30`."""
    day, _, of_day = text.partition(" ")
    return datetime.combine(date.fromisoformat(day), time.fromisoformat(of_day or "08:00"), UTC)
