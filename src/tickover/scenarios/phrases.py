"""Recurrences in plain English, such as `every month on the last Friday`."""

import re
from calendar import monthrange
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from tickover.scenarios.recurrences import EVERY_DAY, LAST, Days, MonthDay, Months, Recurrence, Weeks, Years

_T = TypeVar("_T")

EXPECTED: Final = (
    'must be a recurrence such as "day", "3 days", "weekday", "second Friday", "2 weeks on Friday", '
    '"month on the 25th", "month on the last day", "first and third Friday of the month", '
    '"quarter on the first Monday" or "year on 1 April"'
)

_LEAP_YEAR: Final = 2000
_ORDINAL_WORDS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth",
    "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
_ORDINALS: Final = {word: number for number, word in enumerate(_ORDINAL_WORDS, 1)}
_COUNTING_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {
    "single": 1,
    "other": 2,
    **{word: number for number, word in enumerate(_COUNTING_WORDS, 1)},
}
# A fifth of a month's Fridays is not always there, so nobody can ask for it.
_LAST_PLACE: Final = 4
# Written out, because those of Python's calendar follow the locale.
_WEEKDAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = {
    form: number
    for number, name in enumerate(map(str.lower, _WEEKDAY_NAMES))
    for form in (name, f"{name}s", name[:3])
}  # fmt: skip
_MONDAY_TO_FRIDAY: Final = frozenset(range(5))
_KINDS_OF_DAYS: Final = {
    **dict.fromkeys(("day", "days"), EVERY_DAY),
    **dict.fromkeys(("weekday", "weekdays"), _MONDAY_TO_FRIDAY),
    **{form: frozenset({number}) for form, number in _WEEKDAYS.items()},
}
# How many a month can have of a kind of so many weekdays; an ordinal beyond that is a day of the month.
_MOST_IN_A_MONTH: Final = {1: 5, len(_MONDAY_TO_FRIDAY): 23}
_MONTHS: Final = {
    form: number for number, name in enumerate(map(str.lower, _MONTH_NAMES), 1) for form in (name, name[:3])
}

_OF_THE_MONTH: Final = re.compile(r"(.+) of (?:(?:the|a|each|every) )?month")
_TWICE_A_MONTH: Final = re.compile(r"twice (?:a|each|every) month (.+)")
_EVERY: Final = re.compile(r"^(?:every|each) ")
_COMMA: Final = re.compile(r",(?:\s*and\b)?")
_NUMBERED: Final = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")


class _Named(NamedTuple):
    """A day of a month as it is written: an ordinal, perhaps the kind of day, and whether `the` or `on` is in front."""

    ordinal: str
    kind: frozenset[int] | None
    apart: bool

    @property
    def place(self) -> int:
        return LAST if self.ordinal == "last" else _day_number(self.ordinal)

    def day(self, kind: frozenset[int]) -> MonthDay:
        return MonthDay(self.place, kind)

    def can_be_a_place(self) -> bool:
        """Whether it may stand before its kind of day; any weekday, if it names none."""
        if self.ordinal == "last":
            return True
        return _is_ordinal(self.ordinal) and (self.kind == EVERY_DAY or self.place <= _LAST_PLACE)

    def may_be(self, kind: frozenset[int]) -> bool:
        """Whether someone can mean that kind of day by it, as a month may have so many of them."""
        return kind != EVERY_DAY and (self.ordinal == "last" or self.place <= _MOST_IN_A_MONTH[len(kind)])

    def unclear(self, kind: frozenset[int]) -> str:
        place = "last" if self.ordinal == "last" else _ORDINAL_WORDS[self.place - 1]
        other = f'"{place} {_kind_name(kind)}"'
        end = f" or {other}" if place == "last" or self.place <= _LAST_PLACE else f", as {other} cannot be asked for"
        return f'must say which is meant by "{self.ordinal}": write "{place} day"{end}'


def parse(phrase: object) -> Recurrence:
    """Read a recurrence; ValueError says what it must be."""
    text = _plain(phrase) if isinstance(phrase, str) else ""
    twice = _TWICE_A_MONTH.fullmatch(text)
    if twice:
        return _twice_a_month(twice[1].split())
    step, rest = _step(text.split())
    if not rest:
        raise ValueError(EXPECTED)
    read = _UNITS.get(rest[0].removesuffix("s"))
    return read(step, rest[1:]) if read else _weeks(step, rest)


def _plain(phrase: str) -> str:
    """One way to write it: `Every last Friday of the month` becomes `month last friday`, and each comma an `and`."""
    text = _EVERY.sub("", " ".join(_COMMA.sub(" and ", phrase.lower()).split()))
    of_the_month = _OF_THE_MONTH.fullmatch(text)
    return f"month {of_the_month[1]}" if of_the_month else text


def _step(words: list[str]) -> tuple[int, list[str]]:
    """How many periods to go on by, and the words behind."""
    if not words:
        return 1, words
    if words[0] in _COUNTS:
        return _COUNTS[words[0]], words[1:]
    number = _number(words[0])
    if number == 0:
        raise ValueError("must count from 1 on")
    if words[0] == "last" or (number == 1 and _is_ordinal(words[0])):
        raise ValueError(_first_of_what("first" if number else "last", words[1:]))
    return (1, words) if number is None else (number, words[1:])


def _first_of_what(place: str, words: list[str]) -> str:
    """Why `first Friday` is none: of every week, or of every month?"""
    if len(words) != 1 or words[0] not in _KINDS_OF_DAYS:
        return EXPECTED
    kind = _kind_name(_KINDS_OF_DAYS[words[0]])
    return f'must say which is meant: write "every {kind}", or "month on the {place} {kind}"'


def _days(step: int, named: list[str]) -> Days:
    if named:
        raise ValueError(EXPECTED)
    return Days(step)


def _weekdays(step: int, named: list[str]) -> Weeks:
    if named or step > 1:
        raise ValueError(EXPECTED)
    return Weeks(step, _MONDAY_TO_FRIDAY)


def _weeks(step: int, named: list[str]) -> Weeks:
    return Weeks(step, frozenset(_each(named, _weekday)))


def _fortnights(step: int, named: list[str]) -> Weeks:
    return _weeks(2 * step, named)


def _fortnightly(_step: int, _named: list[str]) -> Weeks:
    # Biweekly is twice a week to some, so nobody's plan shall hang on it.
    raise ValueError('must be written as "every 2 weeks on Friday"')


def _months(step: int, named: list[str]) -> Months:
    return Months(step, _days_of_month([_day_of_month(part) for part in _parts(named)]))


def _twice_a_month(named: list[str]) -> Months:
    months = _months(1, named)
    if len(months.days) != 2:
        raise ValueError(EXPECTED)
    return months


def _quarters(step: int, named: list[str]) -> Months:
    return _months(3 * step, named)


def _years(step: int, named: list[str]) -> Years:
    return Years(step, tuple(_each(named, _day_of_year)))


_UNITS: Final[dict[str, Callable[[int, list[str]], Recurrence]]] = {
    "day": _days,
    "weekday": _weekdays,
    "week": _weeks,
    "fortnight": _fortnights,
    **dict.fromkeys(("fortnightly", "biweekly", "bi-weekly"), _fortnightly),
    "month": _months,
    "quarter": _quarters,
    "year": _years,
}


def _each(words: list[str], read: Callable[[list[str]], _T]) -> list[_T]:
    """What `and` joins, each read by itself and kept once; nothing, when there are no words."""
    return list(dict.fromkeys(map(read, _parts(words))))


def _parts(words: list[str]) -> list[list[str]]:
    return [part.split() for part in re.split(r"\band\b", " ".join(words))] if words else []


def _without_articles(words: list[str]) -> list[str]:
    """`on`, `the` and `a` mean nothing in front of a day. Anywhere else they are words like others."""
    after_on = words[1:] if words[:1] == ["on"] else words
    return after_on[1:] if after_on[:1] in (["the"], ["a"]) else after_on


def _weekday(words: list[str]) -> int:
    match _without_articles(words):
        case [name] if name in _WEEKDAYS:
            return _WEEKDAYS[name]
    raise ValueError(EXPECTED)


def _days_of_month(parts: list[_Named]) -> tuple[MonthDay, ...]:
    """Each once. Ordinals without a kind of day are settled by the kinds that are named around them."""
    days: list[MonthDay] = []
    bare: list[_Named] = []
    earlier = EVERY_DAY
    for part in parts:
        if part.kind is None:
            bare.append(part)
            continue
        joined = not any(one.apart for one in [*bare, part][1:])
        days += [*_settled(bare, earlier, part.kind, joined), part.day(part.kind)]
        bare, earlier = [], part.kind
    return tuple(dict.fromkeys([*days, *_settled(bare, earlier, EVERY_DAY, joined=False)]))


def _settled(bare: list[_Named], earlier: frozenset[int], later: frozenset[int], joined: bool) -> list[MonthDay]:
    """`1st and 3rd` before a Friday that is joined to them are Fridays, and others days of the month or refused."""
    if joined and later != EVERY_DAY and all(one.can_be_a_place() for one in bare):
        return [one.day(later) for one in bare]
    for one in bare:
        for kind in (later, earlier):
            if one.may_be(kind):
                raise ValueError(one.unclear(kind))
    return [one.day(EVERY_DAY) for one in bare]


def _day_of_month(words: list[str]) -> _Named:
    rest = _without_articles(words)
    match rest:
        case [ordinal] if ordinal == "last" or _day_number(ordinal):
            return _Named(ordinal, None, apart=rest != words)
        case [ordinal, word] if word in _KINDS_OF_DAYS:
            named = _Named(ordinal, _KINDS_OF_DAYS[word], apart=rest != words)
            if named.can_be_a_place():
                return named
    raise ValueError(EXPECTED)


def _day_of_year(words: list[str]) -> tuple[int, MonthDay]:
    number, month = _in_order(_without_articles(words))
    day = _day_number(number)
    if day > monthrange(_LEAP_YEAR, month)[1]:
        raise ValueError(f"must name a day that {_MONTH_NAMES[month - 1]} has")
    return month, MonthDay(day)


def _in_order(words: list[str]) -> tuple[str, int]:
    """A day and its month, whichever of them comes first."""
    match words:
        case [number, month] | [number, "of", month] if month in _MONTHS:
            return number, _MONTHS[month]
        case [month, number] | [month, "the", number] if month in _MONTHS:
            return number, _MONTHS[month]
    raise ValueError(EXPECTED)


def _number(word: str) -> int | None:
    digits = _NUMBERED.fullmatch(word)
    return int(digits[1]) if digits else _ORDINALS.get(word)


def _is_ordinal(word: str) -> bool:
    return _number(word) is not None and not word.isdigit()


def _day_number(word: str) -> int:
    number = _number(word)
    if number is None:
        raise ValueError(EXPECTED)
    if not 1 <= number <= LAST:
        raise ValueError("must name a day from 1 to 31")
    return number


def _kind_name(kind: frozenset[int]) -> str:
    if kind == EVERY_DAY:
        return "day"
    return "weekday" if kind == _MONDAY_TO_FRIDAY else _WEEKDAY_NAMES[min(kind)]
