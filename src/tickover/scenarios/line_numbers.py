"""Finds the lines of tables, keys and list entries in a valid TOML text, for error messages."""

import json
import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

Path = tuple[str | int, ...]
"""Keys, and indexes of list entries, from the top of the file."""

_KEY: Final = r"""(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_DOTTED_KEY: Final = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER: Final = rf"^[ \t]*(?:\[\[[ \t]*{_DOTTED_KEY}[ \t]*\]\]|\[[ \t]*{_DOTTED_KEY}[ \t]*\])(?=[ \t\r]*(?:#|$))"
_STRINGS: Final = r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\''
_TOKENS: Final = re.compile(
    rf"{_HEADER}|{_STRINGS}|#[^\n]*|[\[\]{{}},=]|[^\s\[\]{{}},=\"'#]+", re.DOTALL | re.MULTILINE
)


@lru_cache(maxsize=1)
def find_lines(text: str) -> dict[Path, int]:
    """Return the line of each table, key and list entry. The text must be valid."""
    reader, line, position = _Reader(), 1, 0
    for symbol in _TOKENS.finditer(text):
        line += text.count("\n", position, symbol.start())
        position = symbol.start()
        if not symbol[0].startswith("#"):
            reader.read(symbol[0], line)
    return reader.lines


class _Container(Struct):
    """An open table or list. A list counts its entries."""

    path: Path
    is_list: bool = False
    index: int = 0


class _Reader:
    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self._stack = [_Container(())]
        self._keys: list[str] = []
        self._key_line = 0
        self._value: Path | None = None
        """The path of the value that follows."""
        self._counts: dict[Path, int] = {}
        """The number of `[[headers]]` of each list."""

    def read(self, symbol: str, line: int) -> None:
        top = self._stack[-1]
        if symbol == ",":
            top.index += 1
        elif symbol in ("]", "}"):
            self._stack.pop()
        elif self._value is not None or top.is_list:
            self._read_value(symbol, line)
        elif symbol.lstrip().startswith("["):
            self._read_header(symbol.strip(), line)
        elif symbol == "=":
            self._value = (*top.path, *self._keys)
            self.lines.setdefault(self._value, self._key_line)
            self._keys = []
        else:
            self._keys += _split_key(symbol)
            self._key_line = line

    def _read_value(self, symbol: str, line: int) -> None:
        top = self._stack[-1]
        path = (*top.path, top.index) if self._value is None else self._value
        self._value = None
        self.lines.setdefault(path, line)
        if symbol in ("[", "{"):
            self._stack.append(_Container(path, is_list=symbol == "["))

    def _read_header(self, symbol: str, line: int) -> None:
        path: Path = ()
        for key in re.findall(_KEY, symbol):
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
            path = (*path, *_split_key(key))
        if symbol.startswith("[["):
            self._counts[path] = self._counts.get(path, 0) + 1
        if path in self._counts:
            path = (*path, self._counts[path] - 1)
        self._stack = [_Container(path)]
        self.lines.setdefault(path, line)


def _split_key(symbol: str) -> list[str]:
    if not symbol.startswith(('"', "'")):
        return [part for part in symbol.split(".") if part]
    return [_unescape(symbol) if symbol.startswith('"') else symbol[1:-1]]


def _unescape(symbol: str) -> str:
    try:
        return str(json.loads(symbol))
    except ValueError:
        # TOML has more escapes than JSON. Such a key is unknown, so only its table's line is found.
        return symbol
