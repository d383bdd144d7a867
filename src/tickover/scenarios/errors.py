"""ScenarioError, and where in a scenario it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from typing import Final

from msgspec import Struct

from tickover.scenarios.line_numbers import Path, find_lines

MAX_MISTAKES: Final = 20
"""In one error. Finding the lines of more would take too long."""
_MAX_VALUE_LENGTH: Final = 60
_MAX_SOURCE_LENGTH: Final = 200


class ScenarioError(Exception):
    """A scenario is invalid. The message says where, what is wrong, and how to fix it, with a line for each mistake."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """The line in the file, if the error has one. The first one, if there are several mistakes."""
        self.errors: tuple[ScenarioError, ...] = (self,)
        """An error for each mistake."""


class Mistakes:
    """Collects the errors of the parts of a scenario, so that one error reports all of them."""

    def __init__(self) -> None:
        self._errors: list[ScenarioError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Continue after a part that is invalid."""
        try:
            yield
        except ScenarioError as error:
            self._errors += error.errors
            if len(self._errors) >= MAX_MISTAKES:
                self.raise_all()

    def raise_all(self) -> None:
        """Raise one error with all mistakes, in order of their lines, if there are any."""
        if not self._errors:
            return
        errors = sorted(self._errors, key=lambda error: error.line or 0)[:MAX_MISTAKES]
        whole = ScenarioError("\n".join(map(str, errors)), errors[0].line)
        whole.errors = tuple(errors)
        raise whole


class Advice(ValueError):
    """An invalid value whose message needs no key and no value, because it says what to write instead."""


class Source(Struct, frozen=True):
    """The text of a scenario, and its name in error messages."""

    name: str
    text: str = ""

    def find_line(self, path: Path, key: str) -> int | None:
        """Return the line of a key, or else of the table that it belongs to."""
        lines = find_lines(self.text)
        whole = (*path, key)
        # A header such as [a.b] also creates the table a.
        inside = (line for found, line in lines.items() if found[: len(whole)] == whole)
        return lines.get(whole) or next(inside, lines.get(path))


class Location(Struct, frozen=True):
    """A scenario, or an item in it, for error messages."""

    source: Source
    item: str = ""
    path: Path = ()

    def child(self, kind: str, key: str, number: int, name: object = None) -> "Location":
        """Return the location of an entry of the list `key`, for example `transaction 2 "Rent"`."""
        label = f" {quote(name)}" if isinstance(name, str) else ""
        item = ", ".join(filter(None, [self.item, f"{kind} {number}{label}"]))
        return Location(self.source, item, (*self.path, key, number - 1))

    def within(self, key: str) -> "Location":
        """Return the location of the table in a key of this item."""
        return Location(self.source, self.item, (*self.path, key))

    def error(self, problem: str, key: str = "", line: int | None = None) -> ScenarioError:
        """Return an error about a key of this item, or about the whole item."""
        line = line or self.source.find_line(self.path, key)
        name = _escape(self.source.name, _MAX_SOURCE_LENGTH)
        where = ", ".join(filter(None, [name, f"line {line:,}" if line else "", self.item]))
        sentence = f"{problem}{'' if problem.endswith(('?', '.')) else '.'}"
        return ScenarioError(f"{where}: {sentence}" if where else sentence, line)

    @contextmanager
    def wrap_errors(self) -> Iterator[None]:
        """Turn a ValueError, or a date out of range, into a ScenarioError at this location."""
        try:
            yield
        except ValueError as error:
            raise self.error(str(error)) from None
        except OverflowError:
            raise self.error("a date is outside of the years 1 to 9999") from None


def quote(value: object) -> str:
    """Return a value as short printable text for an error message."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            # Python refuses to format very long integers.
            return str(value) if value.bit_length() <= 64 else "a number of that size"
        case str():
            return f'"{_escape(value)}"'
        case Decimal():
            return _escape(str(value))
        case date() | time():
            return value.isoformat()
    return "a list" if isinstance(value, list) else "a table"


def _escape(text: str, max_length: int = _MAX_VALUE_LENGTH) -> str:
    truncated = text if len(text) <= max_length else text[: max_length - 1] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in truncated)
