"""A slow model of recurrences, Hypothesis strategies for phrases, and scenarios with one item."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tickover.api.plans import Plan
from tickover.scenarios import read

DAY = timedelta(days=1)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
POSITIONS = ("first", "second", "third", "fourth", "last")
KINDS = ("day", "weekday", *WEEKDAYS)
TEENS = (
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth",
)  # fmt: skip
UNDER_TEN = (*POSITIONS[:4], "fifth", "sixth", "seventh", "eighth", "ninth")
ORDINALS = (
    *UNDER_TEN, "tenth", *TEENS, "twentieth", *(f"twenty-{word}" for word in UNDER_TEN), "thirtieth", "thirty-first",
)  # fmt: skip


class DayRule(NamedTuple):
    """A day in words, and whether a date matches it."""

    words: str
    matches: Callable[[date], bool]


class Phrase(NamedTuple):
    """A recurrence in words with its rules for the model."""

    words: str
    step: int
    starts_period: Callable[[date], bool]
    matches: Callable[[date], bool]

    def days(self, first: date, last: date) -> Iterator[date]:
        """Yield the matching days. Check every day, and count periods as they start."""
        period, first_period, day = 0, None, first
        while day <= last:
            if day > first and self.starts_period(day):
                period += 1
            if self.matches(day):
                first_period = period if first_period is None else first_period
                if (period - first_period) % self.step == 0:
                    yield day
            day += DAY


def is_last_of_month(day: date) -> bool:
    return (day + DAY).month != day.month


@cache
def days_of_month(year: int, month: int) -> list[date]:
    """Return every day of a month."""
    days = [date(year, month, 1)]
    while not is_last_of_month(days[-1]):
        days.append(days[-1] + DAY)
    return days


def weekday(number: int) -> DayRule:
    return DayRule(WEEKDAYS[number], lambda day: day.weekday() == number)


def digits(number: int) -> str:
    return f"{number}{ {1: 'st', 21: 'st', 31: 'st', 2: 'nd', 22: 'nd', 3: 'rd', 23: 'rd'}.get(number, 'th') }"


def numbered(number: int, words: str) -> DayRule:
    return DayRule(words, lambda day: day.day == number or (is_last_of_month(day) and day.day < number))


def positioned(position: str, kind: str, words: str) -> DayRule:
    kinds = {"day": WEEKDAYS, "weekday": WEEKDAYS[:5]}.get(kind, (kind,))

    def matches(day: date) -> bool:
        matching = [one for one in days_of_month(day.year, day.month) if WEEKDAYS[one.weekday()] in kinds]
        return day == (matching[-1] if position == "last" else matching[POSITIONS.index(position)])

    return DayRule(words, matches)


def sharing(kind: str, ordinals: list[tuple[str, str]], separator: str) -> DayRule:
    """Return several positions that share one kind of day, for example `the 1st and 3rd Friday`."""
    days = [positioned(position, kind, "") for position, _ in ordinals]
    words = f"the {separator.join(written for _, written in ordinals)} {kind}"
    return DayRule(words, lambda day: any(one.matches(day) for one in days))


def dated(month: int, number: int) -> DayRule:
    of_month = numbered(number, "")
    return DayRule(f"{number} {MONTHS[month - 1]}", lambda day: day.month == month and of_month.matches(day))


def phrase(unit: str, step: int, rules: list[DayRule], count: str = "", form: str = "every {unit} on {days}") -> Phrase:
    starts_period = {
        "day": lambda day: True,
        "week": lambda day: day.weekday() == 0,
        "month": lambda day: day.day == 1,
        "year": lambda day: (day.month, day.day) == (1, 1),
    }[unit]
    days = " and ".join(one.words for one in rules)
    words = form.format(unit=f"{count} {unit}".strip(), days=days, count=count)
    return Phrase(words, step, starts_period, lambda day: not rules or any(one.matches(day) for one in rules))


def stepped(
    unit: str, max_step: int, lists: st.SearchStrategy[list[DayRule]], *forms: str
) -> st.SearchStrategy[Phrase]:
    """Return phrases of every n-th period, with the count in digits or words."""
    once = st.tuples(st.just(1), st.sampled_from(("", "1", "one", "single")))
    more = st.integers(2, max_step).flatmap(
        lambda step: st.tuples(
            st.just(step),
            st.sampled_from((str(step), digits(step), ORDINALS[step - 1], ("two", "three", "four", "five")[step - 2])),
        )
    )
    return st.builds(
        lambda counted, rules, form: phrase(unit, counted[0], rules, counted[1], form),
        st.one_of(once, more), lists, st.sampled_from(forms),
    )  # fmt: skip


def written_numbers(minimum: int, maximum: int) -> st.SearchStrategy[tuple[int, str]]:
    """Return ordinals in digits and in words."""
    return st.integers(minimum, maximum).flatmap(
        lambda number: st.tuples(st.just(number), st.sampled_from((digits(number), ORDINALS[number - 1])))
    )


_written_positions = st.one_of(
    written_numbers(1, 4).map(lambda one: (POSITIONS[one[0] - 1], one[1])), st.just(("last", "last"))
)
_numbered = st.builds(
    lambda one, article: numbered(one[0], article + one[1]), written_numbers(1, 31), st.sampled_from(("", "the "))
)
_late_numbered = written_numbers(24, 31).map(lambda one: numbered(*one))
_numbered_days = written_numbers(1, 31).map(lambda one: numbered(one[0], f"the {one[1]} day"))


def _sharing(*kinds: str) -> st.SearchStrategy[DayRule]:
    return st.builds(
        sharing,
        st.sampled_from(kinds),
        st.lists(_written_positions, min_size=1, max_size=3),
        st.sampled_from((" and ", ", ", ", and ")),
    )


def _days_of_kinds(*others: st.SearchStrategy[DayRule]) -> st.SearchStrategy[list[DayRule]]:
    """Return days with their kinds. Several ordinals of `day` come first: after a weekday they are ambiguous."""
    first = st.lists(_sharing("day"), max_size=1)
    rest = st.lists(st.one_of(_sharing(*KINDS[1:]), *others), min_size=1, max_size=2)
    return st.one_of(st.lists(_sharing("day"), min_size=1, max_size=3), st.builds(lambda a, b: [*a, *b], first, rest))


_last_day = positioned("last", "day", "last day")
_days_of_months = st.one_of(
    st.lists(_numbered, min_size=1, max_size=3),
    st.lists(_numbered, min_size=1, max_size=2).map(lambda days: [*days, _last_day]),
    _days_of_kinds(_numbered_days),
    st.builds(lambda days, late: [*days, late], _days_of_kinds(), _late_numbered),
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


def at(text: str) -> datetime:
    """Parse `2027-01-31`, which means 08:00, or `2027-01-31 09:30`."""
    day, _, time_of_day = text.partition(" ")
    return datetime.combine(date.fromisoformat(day), time.fromisoformat(time_of_day or "08:00"), UTC)
