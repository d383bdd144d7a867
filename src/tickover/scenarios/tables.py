"""Tables of a scenario file. They check their keys, and report invalid values with the key's name."""

from collections.abc import Iterator
from typing import Any, TypeVar, cast

from tickover.api.suggestions import suggest
from tickover.scenarios.errors import Advice, Location, Mistakes, ScenarioError, quote
from tickover.scenarios.limits import Limit
from tickover.scenarios.readers import Reader

T = TypeVar("T")


class Table:
    """A table with a fixed set of allowed keys. If `allowed` is None, the keys are the user's.

    It collects the mistakes of its keys. A key with a mistake reads as None, until `mistakes.raise_all()`.
    """

    def __init__(self, value: object, location: Location, allowed: tuple[str, ...] | None) -> None:
        if not isinstance(value, dict):
            assert allowed is not None
            raise location.error(f"must be a table with the keys {', '.join(allowed)}, not {quote(value)}")
        self.location = location
        self.mistakes = Mistakes()
        self._values: dict[str, Any] = value
        self.has_unknown_keys = allowed is not None and not value.keys() <= set(allowed)
        """Then a key that seems to be missing may be misspelt."""
        for key in value:
            if allowed is not None and key not in allowed:
                hint = suggest(key.lower(), allowed, '"{}"', fallback=f"available keys: {', '.join(allowed)}")
                self.report(f"unknown key {quote(key)}{hint}", key)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def get(self, key: str) -> object:
        """Return the value as it is in the file, or None."""
        return self._values.get(key)

    def required(self, key: str, reader: Reader[T]) -> T:
        """Read a value. If it is invalid, the result is None, and `mistakes.raise_all()` raises."""
        with self.mistakes.collect():
            if key in self._values:
                return self._read(key, self._values[key], reader)
            if not self.has_unknown_keys:
                raise self.location.error(f"{key} is missing; it {reader.expected}")
        return cast("T", None)

    def optional(self, key: str, reader: Reader[T]) -> T | None:
        return self.required(key, reader) if key in self._values else None

    def one_or_more(self, key: str, reader: Reader[T]) -> tuple[T, ...]:
        """Read a required value that is either one entry or a list."""
        entries = self._values.get(key)
        if not isinstance(entries, list):
            return (self.required(key, reader),)
        if not entries:
            self.report(f"{key} must have at least one entry", key)
        found = []
        for number, entry in enumerate(entries, 1):
            with self.mistakes.collect():
                found.append(self._read(key, entry, reader, f"entry {number} of {key}"))
        return tuple(found)

    def report(self, problem: str, key: str = "") -> None:
        """Add a mistake, and continue."""
        with self.mistakes.collect():
            raise self.error(problem, key)

    def items(self, limit: Limit, key: str = "") -> Iterator[tuple[object, Location]]:
        """Yield the entries of an optional list with their locations. The default key is the limit's plural noun."""
        key, kind = key or limit.items, limit.items.removesuffix("s")
        entries = self._values.get(key, [])
        if not isinstance(entries, list):
            raise self.error(f"{key} must be a list with a table for each {kind}, not {quote(entries)}", key)
        if len(entries) > limit.maximum:
            raise self.error(f"{limit.error_text(len(entries))}; remove some", key)
        for number, entry in enumerate(entries, 1):
            name = entry.get("name") if isinstance(entry, dict) else None
            yield entry, self.location.child(kind, key, number, name)

    def error(self, problem: str, key: str = "") -> ScenarioError:
        """Return an error about a key, or about the whole table."""
        return self.location.error(problem, key)

    def _read(self, key: str, value: object, reader: Reader[T], label: str = "") -> T:
        try:
            return reader.read(value)
        except Advice as advice:
            raise self.error(str(advice), key) from None
        except ValueError as error:
            raise self.error(f"{label or key} {error}, not {quote(value)}", key) from None
