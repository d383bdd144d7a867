"""Parses recurrences in plain English, such as `every month on the last Friday`."""

import re
from calendar import monthrange
from typing import Final, NamedTuple

from tickover.scenarios.recurrences import EVERY_DAY, LAST, Days, MonthDay, Months, Recurrence, Weeks
from tickover.scenarios.scenario_errors import Advice, quote

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
_NUMBER_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {"single": 1, "other": 2, **{word: number for number, word in enumerate(_NUMBER_WORDS, 1)}}
# Many months have no fifth Friday, so phrases can't name it.
_MAX_POSITION: Final = 4
# The names in Python's calendar module depend on the locale.
WEEKDAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = {
    form: number
    for number, name in enumerate(map(str.lower, WEEKDAY_NAMES))
    for form in (name, f"{name}s", name[:3])
}  # fmt: skip
_MONDAY_TO_FRIDAY: Final = frozenset(range(5))
_DAY_KINDS: Final = {
    **dict.fromkeys(("day", "days"), EVERY_DAY),
    **dict.fromkeys(("weekday", "weekdays"), _MONDAY_TO_FRIDAY),
    **{form: frozenset({number}) for form, number in _WEEKDAYS.items()},
}
# The most days of a kind in a month, by the number of weekdays in the kind. Higher ordinals are days of the month.
_MAX_IN_A_MONTH: Final = {1: 5, len(_MONDAY_TO_FRIDAY): 23}
_MONTHS: Final = {
    form: number for number, name in enumerate(map(str.lower, MONTH_NAMES), 1) for form in (name, name[:3])
}

_ADVERBS: Final = {
    "daily": "day",
    "weekly": "week",
    **dict.fromkeys(("biweekly", "bi-weekly", "fortnightly"), "fortnight"),
    "monthly": "month",
    "quarterly": "quarter",
    **dict.fromkeys(("yearly", "annually"), "year"),
}
_FACTORS: Final = {"fortnight": 2, "quarter": 3}
"""The number of weeks or months."""
_UNSUPPORTED: Final = {
    "bimonthly": ("2 months", "twice a month on the 1st and 15th"),
    "bi-monthly": ("2 months", "twice a month on the 1st and 15th"),
    "semimonthly": ("twice a month on the 1st and 15th",),
    "semi-monthly": ("twice a month on the 1st and 15th",),
    "biannually": ("6 months", "2 years"),
    "semiannually": ("6 months",),
    "half-yearly": ("6 months",),
    "semiweekly": ("week on Monday and Thursday",),
    "hourly": ("day",),
}
"""Words, and what can be written instead."""
_WORKING_DAY: Final = re.compile(r"\b(?:business|working)[ -]?day|\bworkday")
_OF_THE_MONTH: Final = re.compile(r"(.+) of (?:(?:the|a|each|every) )?month")
_TWICE_A_MONTH: Final = re.compile(r"twice (?:a|each|every) month (.+)")
_EVERY: Final = re.compile(r"^(?:every|each) ")
_COMMA: Final = re.compile(r",(?:\s*and\b)?")
_NUMBERED: Final = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")


class _DayPhrase(NamedTuple):
    """A day of a month in words: an ordinal, an optional kind of day, and whether `the` or `on` precedes it."""

    ordinal: str
    kind: frozenset[int] | None
    has_article: bool

    @property
    def position(self) -> int:
        return LAST if self.ordinal == "last" else _day_number(self.ordinal)

    def month_day(self, kind: frozenset[int]) -> MonthDay:
        return MonthDay(self.position, kind)

    def can_precede_kind(self) -> bool:
        """Return whether the ordinal can precede its kind of day, or any weekday if it has no kind."""
        if self.ordinal == "last":
            return True
        return _is_ordinal(self.ordinal) and (self.kind == EVERY_DAY or self.position <= _MAX_POSITION)

    def could_mean(self, kind: frozenset[int]) -> bool:
        """Return whether a month can have that many days of this kind."""
        return kind != EVERY_DAY and (self.ordinal == "last" or self.position <= _MAX_IN_A_MONTH[len(kind)])

    def ambiguity_error(self, kind: frozenset[int]) -> str:
        word = "last" if self.ordinal == "last" else _ORDINAL_WORDS[self.position - 1]
        is_supported = word == "last" or self.position <= _MAX_POSITION
        other = f' or "{word} {_kind_name(kind)}"' if is_supported else ""
        return f'is ambiguous: for "{self.ordinal}" write "{word} day"{other}'


def parse(phrase: object) -> Recurrence:
    """Parse a recurrence. Raise ValueError if it is invalid or ambiguous."""
    text = _normalize(phrase) if isinstance(phrase, str) else ""
    _check_supported(phrase, text)
    twice = _TWICE_A_MONTH.fullmatch(text)
    if twice:
        return Months(1, _month_days(_split(twice[1].split()), count=2))
    step, words = _parse_step(text.split())
    if not words:
        raise ValueError(EXPECTED)
    unit, parts = words[0].removesuffix("s"), _split(words[1:])
    step *= _FACTORS.get(unit, 1)
    match unit:
        case "day" if not parts:
            return Days(step)
        case "week" | "fortnight":
            return Weeks(step, _weekdays(parts))
        case "month" | "quarter":
            return Months(step, _month_days(parts))
        case "year":
            return Months(step, tuple(dict.fromkeys(map(_parse_year_day, parts))), 12)
    is_weekday = unit == "weekday" and not parts and step == 1
    return Weeks(step, _MONDAY_TO_FRIDAY if is_weekday else _weekdays(_split(words)))


def _check_supported(phrase: object, text: str) -> None:
    """Raise Advice if something else must be written instead."""
    if "freq=" in text:
        raise Advice(f"every takes a phrase; write rrule = {quote(phrase)}")
    alternatives = [f'every = "{other}"' for other in _UNSUPPORTED.get(text.partition(" ")[0], ())]
    if alternatives:
        raise Advice(f"every {quote(phrase)} isn't supported; write {' or '.join(alternatives)}")


def _normalize(phrase: str) -> str:
    """Return the standard form: `Every last Friday of the month` becomes `month last friday`.

    Commas become `and`, business days become weekdays, and `monthly` becomes `month`.
    """
    text = _EVERY.sub("", " ".join(_COMMA.sub(" and ", _WORKING_DAY.sub("weekday", phrase.lower())).split()))
    first, _, rest = text.partition(" ")
    text = f"{_ADVERBS.get(first, first)} {rest}".strip()
    of_the_month = _OF_THE_MONTH.fullmatch(text)
    return f"month {of_the_month[1]}" if of_the_month else text


def _parse_step(words: list[str]) -> tuple[int, list[str]]:
    """Return the number of periods between occurrences, and the remaining words."""
    if not words:
        return 1, words
    if words[0] in _COUNTS:
        return _COUNTS[words[0]], words[1:]
    number = _parse_number(words[0])
    if number == 0:
        raise ValueError("must have a count of 1 or more")
    if words[0] == "last" or (number == 1 and _is_ordinal(words[0])):
        raise ValueError(_missing_period_error("first" if number else "last", words[1:]))
    return (1, words) if number is None else (number, words[1:])


def _missing_period_error(position: str, words: list[str]) -> str:
    """Return the error for `first Friday`, which could mean every week or every month."""
    if len(words) != 1 or words[0] not in _DAY_KINDS:
        return EXPECTED
    kind = _kind_name(_DAY_KINDS[words[0]])
    return f'is ambiguous: write "every {kind}" or "month on the {position} {kind}"'


def _split(words: list[str]) -> list[list[str]]:
    """Return the parts of a list joined by `and`."""
    return [part.split() for part in re.split(r"\band\b", " ".join(words))] if words else []


def _strip_articles(words: list[str]) -> list[str]:
    """Remove `on`, `the` and `a` from the start."""
    after_on = words[1:] if words[:1] == ["on"] else words
    return after_on[1:] if after_on[:1] in (["the"], ["a"]) else after_on


def _weekdays(parts: list[list[str]]) -> frozenset[int]:
    names = [" ".join(_strip_articles(part)) for part in parts]
    if not _WEEKDAYS.keys() >= set(names):
        raise ValueError(EXPECTED)
    return frozenset(_WEEKDAYS[name] for name in names)


def _month_days(parts: list[list[str]], count: int | None = None) -> tuple[MonthDay, ...]:
    """Return the days without duplicates. An ordinal without a kind of day gets it from its neighbours."""
    days: list[MonthDay] = []
    bare: list[_DayPhrase] = []
    previous = EVERY_DAY
    for part in map(_parse_month_day, parts):
        if part.kind is None:
            bare.append(part)
            continue
        joined = not any(one.has_article for one in [*bare, part][1:])
        days += [*_resolve_bare(bare, previous, part.kind, joined), part.month_day(part.kind)]
        bare, previous = [], part.kind
    found = tuple(dict.fromkeys([*days, *_resolve_bare(bare, previous, EVERY_DAY, joined=False)]))
    if count and len(found) != count:
        raise ValueError(EXPECTED)
    return found


def _resolve_bare(
    bare: list[_DayPhrase], previous: frozenset[int], following: frozenset[int], joined: bool
) -> list[MonthDay]:
    """Resolve ordinals without a kind.

    `1st and 3rd` directly before `Friday` are Fridays. Others are days of the month, or ambiguous.
    """
    if joined and following != EVERY_DAY and all(one.can_precede_kind() for one in bare):
        return [one.month_day(following) for one in bare]
    for one in bare:
        for kind in (following, previous):
            if one.could_mean(kind):
                raise ValueError(one.ambiguity_error(kind))
    return [one.month_day(EVERY_DAY) for one in bare]


def _parse_month_day(words: list[str]) -> _DayPhrase:
    rest = _strip_articles(words)
    match rest:
        case [ordinal] if ordinal == "last" or _day_number(ordinal):
            return _DayPhrase(ordinal, None, has_article=rest != words)
        case [ordinal, word] if word in _DAY_KINDS:
            day = _DayPhrase(ordinal, _DAY_KINDS[word], has_article=rest != words)
            if day.can_precede_kind():
                return day
    raise ValueError(EXPECTED)


def _parse_year_day(words: list[str]) -> MonthDay:
    number, month = _split_date(_strip_articles(words))
    day = _day_number(number)
    if day > monthrange(_LEAP_YEAR, month)[1]:
        raise ValueError(f"must name a day that exists in {MONTH_NAMES[month - 1]}")
    return MonthDay(day, month=month - 1)


def _split_date(words: list[str]) -> tuple[str, int]:
    """Return the day and the month of a date, in either order."""
    match words:
        case [number, month] | [number, "of", month] if month in _MONTHS:
            return number, _MONTHS[month]
        case [month, number] | [month, "the", number] if month in _MONTHS:
            return number, _MONTHS[month]
    raise ValueError(EXPECTED)


def _parse_number(word: str) -> int | None:
    digits = _NUMBERED.fullmatch(word)
    return int(digits[1]) if digits else _ORDINALS.get(word)


def _is_ordinal(word: str) -> bool:
    return _parse_number(word) is not None and not word.isdigit()


def _day_number(word: str) -> int:
    number = _parse_number(word)
    if number is None:
        raise ValueError(EXPECTED)
    if not 1 <= number <= LAST:
        raise ValueError("must name a day from 1 to 31")
    return number


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `4th` and so on."""
    suffix = "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _kind_name(kind: frozenset[int]) -> str:
    if kind == EVERY_DAY:
        return "day"
    return "weekday" if kind == _MONDAY_TO_FRIDAY else WEEKDAY_NAMES[min(kind)]
