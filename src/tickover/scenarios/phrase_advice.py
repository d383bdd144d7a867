"""Advice for recurrences that can't be read: the nearest phrase that would have worked."""

import re
from typing import Final

from tickover.api.suggestions import closest_match
from tickover.scenarios import phrases
from tickover.scenarios.errors import Advice, quote
from tickover.scenarios.recurrences import Recurrence

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


def _correct(phrase: str) -> str:
    """Return the phrase with its misspelled words replaced, if it is then valid."""
    words = [_closest_word(word) for word in phrase.lower().replace(",", " , ").split()]
    corrected = " ".join(words).replace(" ,", ",")
    numbered = _add_suffix(corrected)
    for candidate in (corrected, numbered, _add_month(corrected), _add_month(numbered)):
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
