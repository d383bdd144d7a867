"""Suggests a known name for a misspelled one."""

from collections.abc import Iterable
from heapq import nlargest
from itertools import pairwise
from typing import Final

MAX_LENGTH: Final = 40
"""Longer names are not misspellings, and comparing them is slow."""
_MIN_START: Final = 3
_MAX_COMPARED: Final = 5
"""Comparing texts in order is slow, so only those that share the most characters are compared."""


def closest_match(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most similar to `name` in any case, or begins with it, or None."""
    if len(name) > MAX_LENGTH:
        return None
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    folded = name.casefold()
    parts = _parts(folded)

    def overlap(candidate: str) -> float:
        others = _parts(candidate)
        return len(parts & others) / ((len(parts) + len(others)) or 1)

    likely = nlargest(_MAX_COMPARED, by_folded, key=overlap)
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    longer = [candidate for candidate in by_folded if candidate.startswith(folded)] if len(name) >= _MIN_START else []
    matches = get_close_matches(folded, likely, n=1) or sorted(longer, key=len)
    return by_folded[matches[0]] if matches else None


def _parts(text: str) -> set[object]:
    """Return the characters of a text and its pairs of neighbours."""
    return {*text, *pairwise(text)}


def suggest(name: str, candidates: Iterable[str], template: str = "{}", *, fallback: str = "") -> str:
    """Return `; did you mean X?` with the closest candidate, or else the fallback. `template` formats the candidate."""
    match = closest_match(name, candidates)
    hint = fallback if match is None else f"did you mean {template.format(match)}?"
    return f"; {hint}" if hint else ""
