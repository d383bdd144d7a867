"""Recurrences in plain English, such as `every month on the last Friday`."""

import re
from calendar import monthrange
from collections.abc import Callable
from typing import Final, TypeVar

from tickover.scenarios.recurrences import EVERY_DAY, LAST, Days, MonthDay, Months, Recurrence, Weeks, Years

_T = TypeVar("_T")

EXPECTED: Final = (
    'must be a recurrence such as "day", "3 days", "weekday", "second Friday", "2 weeks on Friday", '
    '"month on the 25th", "month on the last day", "quarter on the first Monday" or "year on 1 April"'
)

_LEAP_YEAR: Final = 2000
_NOISE: Final = frozenset({"the", "of", "on", "a"})
_STEPS: Final = {
    **dict.fromkeys(("one", "single"), 1),
    **dict.fromkeys(("two", "second", "other"), 2),
    **dict.fromkeys(("three", "third"), 3),
    **dict.fromkeys(("four", "fourth"), 4),
    **dict.fromkeys(("five", "fifth"), 5),
    **dict.fromkeys(("six", "sixth"), 6),
}
_PLACES: Final = {
    **dict.fromkeys(("first", "1st"), 1),
    **dict.fromkeys(("second", "2nd"), 2),
    **dict.fromkeys(("third", "3rd"), 3),
    **dict.fromkeys(("fourth", "4th"), 4),
    "last": LAST,
}
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
_KINDS_OF_DAYS: Final = {
    "day": EVERY_DAY,
    "weekday": frozenset(range(5)),
    **{form: frozenset({number}) for form, number in _WEEKDAYS.items()},
}
_MONTHS: Final = {
    form: number for number, name in enumerate(map(str.lower, _MONTH_NAMES), 1) for form in (name, name[:3])
}

_OF_THE_MONTH: Final = re.compile(r"(?:every |each )?(.+) of (?:the|a|each|every) month")
_COMMA: Final = re.compile(r",(?:\s*and\b)?")
_NUMBERED: Final = re.compile(r"([0-9]{1,3})(?:st|nd|rd|th)?")


def parse(phrase: object) -> Recurrence:
    """Read a recurrence; ValueError says what it must be."""
    words = _words(phrase) if isinstance(phrase, str) else []
    if words[:2] == ["twice", "month"] and words.count("and") == 1:
        return _months(1, words[2:])
    step, rest = _step(words)
    if not rest:
        raise ValueError(EXPECTED)
    read = _UNITS.get(rest[0].removesuffix("s"))
    return read(step, rest[1:]) if read else _weeks(step, rest)


def _words(phrase: str) -> list[str]:
    """The words that matter. `The last Friday of the month` becomes `month last friday`."""
    text = " ".join(_COMMA.sub(" and ", phrase.lower()).split())
    of_the_month = _OF_THE_MONTH.fullmatch(text)
    if of_the_month:
        text = f"month {of_the_month[1]}"
    words = [word for word in text.split() if word not in _NOISE]
    return words[1:] if words and words[0] in ("every", "each") else words


def _step(words: list[str]) -> tuple[int, list[str]]:
    """How many periods to go on by, and the words behind."""
    if words and words[0] in _STEPS:
        return _STEPS[words[0]], words[1:]
    number = _NUMBERED.fullmatch(words[0]) if words else None
    if number is None:
        return 1, words
    if int(number[1]) == 0:
        raise ValueError("must count from 1 on")
    return int(number[1]), words[1:]


def _days(step: int, named: list[str]) -> Days:
    if named:
        raise ValueError(EXPECTED)
    return Days(step)


def _weekdays(step: int, named: list[str]) -> Weeks:
    if named or step > 1:
        raise ValueError(EXPECTED)
    return Weeks(step, _KINDS_OF_DAYS["weekday"])


def _weeks(step: int, named: list[str]) -> Weeks:
    return Weeks(step, frozenset(_each(named, _weekday)))


def _months(step: int, named: list[str]) -> Months:
    return Months(step, tuple(_each(named, _day_of_month)))


def _quarters(step: int, named: list[str]) -> Months:
    return _months(3 * step, named)


def _years(step: int, named: list[str]) -> Years:
    return Years(step, tuple(_each(named, _day_of_year)))


_UNITS: Final[dict[str, Callable[[int, list[str]], Recurrence]]] = {
    "day": _days,
    "weekday": _weekdays,
    "week": _weeks,
    "month": _months,
    "quarter": _quarters,
    "year": _years,
}


def _each(words: list[str], read: Callable[[list[str]], _T]) -> list[_T]:
    """What `and` joins, each read by itself and kept once; nothing, when there are no words."""
    if not words:
        return []
    return list(dict.fromkeys(read(part.split()) for part in re.split(r"\band\b", " ".join(words))))


def _weekday(words: list[str]) -> int:
    if len(words) != 1 or words[0] not in _WEEKDAYS:
        raise ValueError(EXPECTED)
    return _WEEKDAYS[words[0]]


def _day_of_month(words: list[str]) -> MonthDay:
    match words:
        case [number]:
            return MonthDay(_day_number(number))
        case [place, kind] if place in _PLACES and kind in _KINDS_OF_DAYS:
            return MonthDay(_PLACES[place], _KINDS_OF_DAYS[kind])
    raise ValueError(EXPECTED)


def _day_of_year(words: list[str]) -> tuple[int, MonthDay]:
    number, month = _in_order(words)
    day = _day_number(number)
    if day > monthrange(_LEAP_YEAR, month)[1]:
        raise ValueError(f"must name a day that {_MONTH_NAMES[month - 1]} has")
    return month, MonthDay(day)


def _in_order(words: list[str]) -> tuple[str, int]:
    """A day and its month, whichever of them comes first."""
    match words:
        case [number, month] if month in _MONTHS:
            return number, _MONTHS[month]
        case [month, number] if month in _MONTHS:
            return number, _MONTHS[month]
    raise ValueError(EXPECTED)


def _day_number(word: str) -> int:
    number = _NUMBERED.fullmatch(word)
    if number is None:
        raise ValueError(EXPECTED)
    if not 1 <= int(number[1]) <= LAST:
        raise ValueError("must name a day from 1 to 31")
    return int(number[1])
