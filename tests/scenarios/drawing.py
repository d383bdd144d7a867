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
KINDS = ("day", "weekday", *WEEKDAYS)
TEENS = (
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth",
)  # fmt: skip
UNDER_TEN = (*PLACES[:4], "fifth", "sixth", "seventh", "eighth", "ninth")
ORDINALS = (
    *UNDER_TEN, "tenth", *TEENS, "twentieth", *(f"twenty-{word}" for word in UNDER_TEN), "thirtieth", "thirty-first",
)  # fmt: skip


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


def digits(number: int) -> str:
    return f"{number}{ {1: 'st', 21: 'st', 31: 'st', 2: 'nd', 22: 'nd', 3: 'rd', 23: 'rd'}.get(number, 'th') }"


def numbered(number: int, words: str) -> Named:
    return Named(words, lambda day: day.day == number or (ends_month(day) and day.day < number))


def placed(place: str, kind: str, words: str) -> Named:
    kinds = {"day": WEEKDAYS, "weekday": WEEKDAYS[:5]}.get(kind, (kind,))

    def fits(day: date) -> bool:
        fitting = [one for one in days_of_month(day.year, day.month) if WEEKDAYS[one.weekday()] in kinds]
        return day == (fitting[-1] if place == "last" else fitting[PLACES.index(place)])

    return Named(words, fits)


def sharing(kind: str, ordinals: list[tuple[str, str]], joint: str) -> Named:
    """Places, each with how it is written, of days whose kind is named once, behind the last of them."""
    days = [placed(place, kind, "") for place, _ in ordinals]
    words = f"the {joint.join(written for _, written in ordinals)} {kind}"
    return Named(words, lambda day: any(one.fits(day) for one in days))


class LooseDay(NamedTuple):
    """A day of a month, drawn without regard for the others in its list."""

    number: int
    written: str
    kind: str
    article: str

    def meant(self, later: str) -> Named:
        kind = self.kind or later
        if kind == "day":
            return numbered(self.number, self.written)
        return placed(ORDINALS[self.number - 1], kind, self.written)


class LooseList(NamedTuple):
    days: list[LooseDay]

    @property
    def words(self) -> str:
        return " and ".join(f"{day.article}{day.written} {day.kind}".strip() for day in self.days)

    @property
    def may_be_unclear(self) -> bool:
        """Whether weekdays are in it, and ordinals without a kind."""
        kinds = {day.kind for day in self.days}
        return "" in kinds and bool(kinds - {"", "day"})

    def read(self) -> list[Named]:
        """From the end to the front: low ordinals go with the kind that follows, and all others are days."""
        kind, found = "day", []
        for day in reversed(self.days):
            kind = day.kind or kind
            found.append(day.meant(kind if day.number in range(1, 5) else "day"))
        return found


def dated(month: int, number: int) -> Named:
    of_month = numbered(number, "")
    return Named(f"{number} {MONTHS[month - 1]}", lambda day: day.month == month and of_month.fits(day))


def phrase(unit: str, step: int, named: list[Named], count: str = "", form: str = "every {unit} on {days}") -> Phrase:
    begins = {
        "day": lambda day: True,
        "week": lambda day: day.weekday() == 0,
        "month": lambda day: day.day == 1,
        "year": lambda day: (day.month, day.day) == (1, 1),
    }[unit]
    days = " and ".join(one.words for one in named)
    words = form.format(unit=f"{count} {unit}".strip(), days=days, count=count)
    return Phrase(words, step, begins, lambda day: not named or any(one.fits(day) for one in named))


def stepped(unit: str, most: int, lists: st.SearchStrategy[list[Named]], *forms: str) -> st.SearchStrategy[Phrase]:
    """Phrases of every period, or of every second, third and so on, however that is written."""
    once = st.tuples(st.just(1), st.sampled_from(("", "1", "one", "single")))
    more = st.integers(2, most).flatmap(
        lambda step: st.tuples(
            st.just(step),
            st.sampled_from((str(step), digits(step), ORDINALS[step - 1], ("two", "three", "four", "five")[step - 2])),
        )
    )
    return st.builds(
        lambda counted, named, form: phrase(unit, counted[0], named, counted[1], form),
        st.one_of(once, more), lists, st.sampled_from(forms),
    )  # fmt: skip


def written_numbers(least: int, most: int) -> st.SearchStrategy[tuple[int, str]]:
    """Ordinals, in digits and in words."""
    return st.integers(least, most).flatmap(
        lambda number: st.tuples(st.just(number), st.sampled_from((digits(number), ORDINALS[number - 1])))
    )


_written_places = st.one_of(
    written_numbers(1, 4).map(lambda one: (PLACES[one[0] - 1], one[1])), st.just(("last", "last"))
)
_numbered = st.builds(
    lambda one, article: numbered(one[0], article + one[1]), written_numbers(1, 31), st.sampled_from(("", "the "))
)
_late_numbered = written_numbers(24, 31).map(lambda one: numbered(*one))
_numbered_days = written_numbers(1, 31).map(lambda one: numbered(one[0], f"the {one[1]} day"))
_sharing = st.builds(
    sharing,
    st.sampled_from(KINDS),
    st.lists(_written_places, min_size=1, max_size=3),
    st.sampled_from((" and ", ", ", ", and ")),
)
_last_day = placed("last", "day", "last day")
_days_of_months = st.one_of(
    st.lists(_numbered, min_size=1, max_size=3),
    st.lists(_numbered, min_size=1, max_size=2).map(lambda days: [*days, _last_day]),
    st.lists(st.one_of(_sharing, _numbered_days), min_size=1, max_size=3),
    st.builds(lambda days, late: [*days, late], st.lists(_sharing, min_size=1, max_size=2), _late_numbered),
)
loose_days = st.builds(
    lambda one, kind, article: LooseDay(one[0], one[1], kind if one[0] in range(1, 5) else "", article),
    st.one_of(written_numbers(1, 6), written_numbers(1, 31)),
    st.sampled_from(("", "", "day", "weekday", "Monday", "Friday")),
    st.sampled_from(("", "", "the ")),
)
_days_of_years = st.integers(1, 12).flatmap(
    lambda month: st.builds(dated, st.just(month), st.integers(1, LENGTHS[month - 1]))
)
_weekdays = st.lists(st.integers(0, 6).map(weekday), min_size=1, max_size=3)
phrases = st.one_of(
    stepped("day", 5, st.just([]), "every {unit}", "{unit}"),
    stepped("week", 5, _weekdays, "every {unit} on {days}", "every {count} {days}"),
    stepped("month", 5, _days_of_months, "every {unit} on {days}", "{unit} {days}"),
    st.builds(phrase, st.just("month"), st.just(1), _days_of_months, form=st.just("{days} of the month")),
    stepped("year", 3, st.lists(_days_of_years, min_size=1, max_size=2), "every {unit} on {days}"),
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
