"""Advice for recurrences that can't be read: the nearest phrase that would have worked."""

import re
from collections.abc import Callable
from typing import Final

from tickover.api.suggestions import closest_match
from tickover.scenarios import phrases
from tickover.scenarios.locations import Advice, quote
from tickover.scenarios.recurrences import Recurrence

_CRON: Final = re.compile(
    r"([0-9*/,-]+)\s+([0-9*/,-]+)\s+([0-9*/,L-]+)\s+([0-9A-Z*/,-]+)\s+([0-9A-Z*/,#L-]+)", re.IGNORECASE
)
_CRON_NAMES: Final = {"@daily": "day", "@weekly": "week", "@monthly": "month", "@yearly": "year", "@annually": "year"}
_CRON_WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_TWO_MEANINGS: Final = {
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
_MAX_LENGTH: Final = 120


def parse(phrase: object) -> Recurrence:
    """Parse a recurrence. If it is invalid, advise what to write instead."""
    try:
        return phrases.parse(phrase)
    except ValueError as error:
        is_ambiguous = str(error).startswith("is ambiguous")
        if isinstance(phrase, str) and len(phrase) <= _MAX_LENGTH and not is_ambiguous:
            _advise(phrase.strip())
        raise


def _advise(phrase: str) -> None:
    """Raise Advice if something similar would have worked."""
    cron = _CRON.fullmatch(phrase)
    if cron or phrase in _CRON_NAMES:
        instead = _translate_cron(*cron.groups()) if cron else _every(_CRON_NAMES[phrase])
        raise Advice(f"cron expressions aren't supported; write {instead}")
    if "FREQ=" in phrase.upper():
        raise Advice(f"every takes a phrase; write rrule = {quote(phrase)}")
    word = phrase.lower().removeprefix("every ").split()[:1]
    readings = _TWO_MEANINGS.get(word[0]) if word else None
    if readings:
        raise Advice(f"every {quote(phrase)} isn't supported; write {' or '.join(map(_every, readings))}")
    corrected = _correct(phrase)
    if corrected:
        raise Advice(f'every {quote(phrase)} isn\'t a recurrence; did you mean "{corrected}"?')


def _every(phrase: str) -> str:
    return f'every = "{phrase}"'


def _translate_cron(minute: str, hour: str, day: str, month: str, weekday: str) -> str:
    """Return the keys for a cron expression. A complicated one gets an example."""
    every = _every(_cron_days(day, month, weekday) or "month on the 25th")
    if minute.isdigit() and hour.isdigit() and int(hour) < 24 and int(minute) < 60:
        return f'{every} and time = "{int(hour):02}:{int(minute):02}"'
    return every


def _cron_days(day: str, month: str, weekday: str) -> str:
    if day == "*" and month == "*":
        return "day" if weekday == "*" else _cron_weekdays(weekday)
    if not day.isdigit() or not 1 <= int(day) <= 31 or weekday != "*":
        return ""
    if month == "*":
        return f"month on the {phrases.ordinal(int(day))}"
    if month in ("*/3", "1,4,7,10"):
        return f"quarter on the {phrases.ordinal(int(day))}"
    return (
        f"year on {int(day)} {phrases.MONTH_NAMES[int(month) - 1]}" if month.isdigit() and 1 <= int(month) <= 12 else ""
    )


def _cron_weekdays(weekday: str) -> str:
    if weekday.upper() in ("1-5", "MON-FRI"):
        return "weekday"
    names = {str(number): name for number, name in enumerate(_CRON_WEEKDAYS)} | {"7": "Sunday"}
    names |= {name[:3].upper(): name for name in _CRON_WEEKDAYS}
    chosen = [names.get(part.upper(), "") for part in weekday.split(",")]
    return f"week on {' and '.join(chosen)}" if all(chosen) else ""


def _correct(phrase: str) -> str:
    """Return the phrase with its misspelled words replaced, if it is then valid."""
    words = [_closest_word(word) for word in phrase.lower().replace(",", " , ").split()]
    for repair in _REPAIRS:
        candidate = repair(" ".join(words).replace(" ,", ","))
        try:
            phrases.parse(candidate)
        except ValueError:
            continue
        return candidate
    return ""


def _closest_word(word: str) -> str:
    if word in phrases.WORDS or any(char.isdigit() for char in word) or word == ",":
        return word
    return closest_match(word, phrases.WORDS) or word


def _add_month(phrase: str) -> str:
    return f"month on the {phrase.removeprefix('every ').removeprefix('on ').removeprefix('the ')}"


def _add_suffix(phrase: str) -> str:
    """Replace `25.` with `25th`, and `month 25` with `month on the 25th`."""
    return re.sub(r"\b([0-9]{1,2})\.?(?=\s|$)", lambda match: phrases.ordinal(int(match[1])), phrase)


_REPAIRS: Final[tuple[Callable[[str], str], ...]] = (
    lambda phrase: phrase,
    _add_suffix,
    _add_month,
    lambda phrase: _add_month(_add_suffix(phrase)),
)
