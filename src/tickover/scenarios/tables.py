"""Tables of a file: what their keys hold, read by one rule each, and refused with the key's name."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from tickover.scenarios.locations import Limit, Place, shown

_T = TypeVar("_T")
_LONGEST_KEY_HINTED: Final = 40


class Table:
    """A table whose keys are all known. Readers raise a ValueError that says what a value must be."""

    def __init__(self, value: object, place: Place, known: tuple[str, ...]) -> None:
        if not isinstance(value, dict):
            raise place.error(f"it must be a table with the keys {', '.join(known)}, not {shown(value)}")
        self.place = place
        self._values: dict[str, Any] = value
        for key in value:
            if key not in known:
                raise place.error(f"{shown(key)} is no key here; {_hint(key, known)}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def has_list(self, key: str) -> bool:
        return isinstance(self._values.get(key), list)

    def required(self, key: str, read: Callable[[object], _T]) -> _T:
        if key in self._values:
            return self._read(key, self._values[key], read)
        try:
            # No reader takes nothing, and what it says of nothing is what it wants.
            read(None)
        except ValueError as error:
            raise self.place.error(f"{key} is missing; it {error}") from None
        raise AssertionError(f"{key} may be nothing")

    def optional(self, key: str, read: Callable[[object], _T]) -> _T | None:
        return self._read(key, self._values[key], read) if key in self._values else None

    def several(self, key: str, read: Callable[[object], _T]) -> tuple[_T, ...]:
        """What is required once, or in a list."""
        entries = self._values.get(key)
        if not isinstance(entries, list):
            return (self.required(key, read),)
        if not entries:
            raise self.place.error(f"{key} must have at least one entry")
        return tuple(self._read(f"entry {number} of {key}", entry, read) for number, entry in enumerate(entries, 1))

    def items(self, limit: Limit) -> Iterator[tuple[object, Place]]:
        """The entries of the list that is named for their kind, each with its place; none, when it is not there."""
        key, kind = limit.kinds, limit.kinds.removesuffix("s")
        entries = self._values.get(key, [])
        if not isinstance(entries, list):
            raise self.place.error(f"{key} must be a list with a table for each {kind}, not {shown(entries)}")
        if len(entries) > limit.most:
            raise self.place.error(f"{limit.told(len(entries))}; leave some out")
        for number, entry in enumerate(entries, 1):
            yield entry, self.place.inside(kind, number, entry.get("name") if isinstance(entry, dict) else None)

    def _read(self, label: str, value: object, read: Callable[[object], _T]) -> _T:
        try:
            return read(value)
        except ValueError as error:
            raise self.place.error(f"{label} {error}, not {shown(value)}") from None


def _hint(key: str, known: tuple[str, ...]) -> str:
    nearest = get_close_matches(key.lower(), known, n=1) if len(key) <= _LONGEST_KEY_HINTED else []
    return f'did you mean "{nearest[0]}"?' if nearest else f"known are {', '.join(known)}"
