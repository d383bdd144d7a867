"""ScenarioError, and the mistakes of a scenario file."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from typing import Final

MAX_MISTAKES: Final = 20
"""In one error. A reader wants no more."""
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
    """Collects the errors of a scenario, so that one error reports all of them."""

    def __init__(self) -> None:
        self._errors: list[ScenarioError] = []

    def add(self, error: ScenarioError) -> None:
        """Add an error, and continue. Raise them all if there are too many."""
        self._errors += error.errors
        if len(self._errors) >= MAX_MISTAKES:
            self.raise_all()

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Continue after a part that is invalid."""
        try:
            yield
        except ScenarioError as error:
            self.add(error)

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


def error_at(source: str, problem: str, line: int | None = None, item: str = "") -> ScenarioError:
    """Return an error in a file, or about an item of it, such as `transaction 2 "Rent"`."""
    name = _escape(source, _MAX_SOURCE_LENGTH)
    where = ", ".join(filter(None, [name, f"line {line:,}" if line else "", item]))
    sentence = f"{problem}{'' if problem.endswith(('?', '.')) else '.'}"
    return ScenarioError(f"{where}: {sentence}" if where else sentence, line)


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
