"""Scenario files: those that come with Tickover, and one's own, in TOML or JSON with the same structure."""

import json
import tomllib
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NoReturn

from tickover.scenarios.locations import Place, shown
from tickover.scenarios.reading import read_scenario
from tickover.scenarios.scenario import Scenario

LARGEST: Final = 256 * 1024
"""Bytes of a file; a scenario is a few lines, and what reads them takes its time over endless ones."""
MOST_DOTS: Final = 100
"""In one line of TOML, where a key of many parts takes time with the square of their number."""

_SHIPPED: Final = files("tickover.scenarios") / "shipped"
_LONGEST_INTEGER: Final = 18


def names() -> list[str]:
    """The scenarios that come with Tickover."""
    return sorted(file.name.removesuffix(".toml") for file in _SHIPPED.iterdir() if file.name.endswith(".toml"))


def load(name_or_path: str | Path) -> Scenario:
    """A scenario by its name, if it comes with Tickover, or else from a file; ScenarioError when there is none."""
    name = str(name_or_path)
    if name in names():
        return read((_SHIPPED / f"{name}.toml").read_bytes(), "toml", name)
    path, place = Path(name), Place(name or shown(name))
    try:
        content = _content(path) if name else None
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise place.error(f"it cannot be read: {reason}") from None
    if content is None:
        raise place.error(f"there is no scenario and no file of that name; {_hint(name)}")
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _READERS:
        raise place.error("the name of a scenario's file must end with .toml or .json")
    return read(content, kind, name, title=path.stem)


def read(text: str | bytes, kind: str, name: str = "the scenario", title: str = "") -> Scenario:
    """A scenario from the text of a file; errors call it by `name`, and `title` is for one that has none."""
    place = Place(name)
    if kind not in _READERS:
        raise place.error(f'the kind of a scenario must be "toml" or "json", not {shown(kind)}')
    if len(text) > LARGEST:
        raise place.error(f"it must have at most {LARGEST:,} bytes")
    try:
        values = _READERS[kind](text if isinstance(text, str) else text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise place.error(f"it must be text in UTF-8, and is not from byte {error.start + 1:,} on") from None
    except RecursionError:
        raise place.error("it must not be nested so deeply") from None
    except ValueError as error:
        raise place.error(f"it must be {kind.upper()}, and is not: {error}") from None
    return read_scenario(values, name, title or name)


def _content(path: Path) -> bytes | None:
    """The bytes of a file, or as many as are too many; None when there is no file."""
    if path.is_dir():
        raise ValueError("it is a folder; name a file in it")
    if not path.exists():
        return None
    if not path.is_file():
        # A pipe or a device may never end, or never begin.
        raise ValueError("it is no ordinary file")
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _hint(name: str) -> str:
    nearest = get_close_matches(Path(name).stem.lower(), names(), n=1)
    meant = f'the nearest is "{nearest[0]}", and ' if nearest else ""
    return f"{meant}those that come with Tickover are {', '.join(names())}"


def _read_toml(text: str) -> Any:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise ValueError(f"line {number} has more than {MOST_DOTS} dots")
    return tomllib.loads(text, parse_float=_read_decimal)


def _read_json(text: str) -> Any:
    return json.loads(
        text,
        parse_float=_read_decimal,
        parse_int=_read_integer,
        parse_constant=_refuse_constant,
        object_pairs_hook=_read_object,
    )


_READERS: Final = {"toml": _read_toml, "json": _read_json}


def _read_decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise ValueError("a number has too long an exponent") from None


def _read_integer(digits: str) -> int | Decimal:
    # No field takes longer ones, and Python refuses to read the longest.
    return int(digits) if len(digits) <= _LONGEST_INTEGER else Decimal(digits)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {shown(key)} is there twice")
        values[key] = value
    return values
