"""Suggests a known name for a misspelled one."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_LENGTH: Final = 40
"""Longer names are not misspellings, and comparing them is slow."""


def closest_match(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most similar to `name`, or None if none is similar."""
    if len(name) > MAX_LENGTH:
        return None
    return next(iter(get_close_matches(name, candidates, n=1)), None)
