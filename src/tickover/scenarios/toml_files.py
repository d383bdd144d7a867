"""Loads scenario files in TOML: the included ones by name, and others by path."""

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from tickover.api.limits import MAX_SCENARIO_BYTES
from tickover.scenarios.scenario import Scenario
from tickover.scenarios.scenario_errors import error_at, quote
from tickover.scenarios.scenario_parser import parse_scenario

MAX_DOTS_PER_LINE: Final = 100
"""A dotted key takes time quadratic in the number of its parts."""

_SHIPPED: Final = Path(__file__).with_name("shipped")
_POSITION: Final = re.compile(r" \(at line ([0-9]+), column ([0-9]+)\)$")
_TOO_MANY_DIGITS: Final = "integer string conversion"
_AT_END: Final = " (at end of document)"
"""Ends and parts of the messages of tomllib and int."""


def names() -> list[str]:
    """Return the names of the included scenarios."""
    return sorted(file.stem for file in _SHIPPED.glob("*.toml"))


def included_text(name: str) -> str:
    """Return the content of an included scenario."""
    return (_SHIPPED / f"{name}.toml").read_text("utf-8")


def load(name_or_path: str | Path) -> Scenario:
    """Load an included scenario by name, or else a file by path. Raise ScenarioError if it doesn't exist."""
    name = str(name_or_path)
    if name in names():
        return read(included_text(name), name)
    return read(read_file(name), name, title=Path(name).stem)


def read_file(name: str) -> bytes:
    """Return the content of a scenario file, up to one byte over the limit. Raise ScenarioError if it can't be one."""
    path, label = Path(name), name or quote(name)
    try:
        if not name or not path.exists():
            raise error_at(label, f"no scenario or file has this name; included scenarios: {', '.join(names())}")
        if not path.is_file():
            # Reading a pipe or a device may block forever.
            raise ValueError("it isn't a regular file")
        if path.suffix.lower() != ".toml":
            raise error_at(label, "the file name must end with .toml")
        with path.open("rb") as file:
            return file.read(MAX_SCENARIO_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise error_at(label, f"can't be read: {reason}") from None


def read(text: str | bytes, name: str = "scenario", title: str = "") -> Scenario:
    """Parse a scenario in TOML. Errors contain `name`, and `title` is the default title."""
    if len(text) > MAX_SCENARIO_BYTES:
        raise error_at(name, f"the file must have at most {MAX_SCENARIO_BYTES:,} bytes")
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        values = _parse_toml(decoded)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise error_at(name, f"invalid UTF-8 at byte {error.start + 1:,}; save the file as UTF-8", line) from None
    except RecursionError:
        raise error_at(name, "the values are nested too deeply; a scenario needs three levels") from None
    except ValueError as error:
        problem, line_of_error = _split_position(str(error), decoded)
        raise error_at(name, f"invalid TOML: {problem}", line_of_error) from None
    return parse_scenario(values, name, decoded, title or name)


def _parse_toml(text: str) -> dict[str, Any]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS_PER_LINE:
            raise ValueError(f"more than {MAX_DOTS_PER_LINE} dots (at line {number}, column 1)")
    return tomllib.loads(text, parse_float=_parse_decimal)


def _parse_decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise ValueError("the exponent of a number is out of range") from None


def _split_position(problem: str, text: str) -> tuple[str, int | None]:
    """Split the position from a parser's message, such as `Invalid value (at line 3, column 5)`."""
    if problem.endswith(_AT_END):
        return f"{problem.removesuffix(_AT_END)} at the end of the file", text.count("\n") + 1
    position = _POSITION.search(problem)
    if not position:
        return "a number has too many digits" if _TOO_MANY_DIGITS in problem else problem, None
    return f"{problem[: position.start()]} at column {int(position[2]):,}", int(position[1])
