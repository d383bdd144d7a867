"""Finds the lines of tables, keys and list entries in a valid TOML text, for error messages."""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct, field

Path = tuple[str | int, ...]
"""Keys, and indexes of list entries, from the top of the file."""

_KEY: Final = r"""(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_DOTTED_KEY: Final = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER: Final = rf"^[ \t]*(?:\[\[[ \t]*{_DOTTED_KEY}[ \t]*\]\]|\[[ \t]*{_DOTTED_KEY}[ \t]*\])(?=[ \t\r]*(?:#|$))"
_STRINGS: Final = r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\''
_SPACED_INSTANT: Final = r"[0-9-]{10} [0-9:]{5,}[^\s\[\]{},#]*"
_TOKENS: Final = re.compile(
    rf"{_HEADER}|{_STRINGS}|#[^\n]*|[\[\]{{}}=]|{_SPACED_INSTANT}|[^\s\[\]{{}},=\"'#]+", re.DOTALL | re.MULTILINE
)


class _Node(Struct):
    """A table, a list or a single value."""

    line: int = 0
    is_list: bool = False
    children: dict[str | int, "_Node"] = field(default_factory=dict)

    def child(self, key: str | int, line: int) -> "_Node":
        """Return the value of a key, or the entry of a list. Add it if it's new."""
        return self.children.setdefault(key, _Node(line))


def find_line(text: str, path: Path) -> int | None:
    """Return the line of a key or an entry, or else of the table that it belongs to. The text must be valid."""
    node = _read_lines(text)
    for key in path:
        if key not in node.children:
            break
        node = node.children[key]
    return node.line or None


@lru_cache(maxsize=1)
def _read_lines(text: str) -> _Node:
    root = _Node()
    stack = [root]
    name = ""
    value: _Node | None = None
    for symbol, line in _symbols(text):
        top = stack[-1]
        if symbol in ("]", "}"):
            stack.pop()
        elif value is not None or top.is_list:
            value = value or top.child(len(top.children), line)
            if symbol in ("[", "{"):
                value.is_list = symbol == "["
                stack.append(value)
            value = None
        elif symbol.startswith("["):
            stack = [_read_header(root, symbol, line)]
        elif symbol == "=":
            value = top
            for key in _split_keys(name):
                value = value.child(key, line)
            name = ""
        else:
            name += symbol
    return root


def _symbols(text: str) -> Iterator[tuple[str, int]]:
    """Yield all but commas and comments, each with its line."""
    line, position = 1, 0
    for token in _TOKENS.finditer(text):
        line += text.count("\n", position, token.start())
        position = token.start()
        if not token[0].startswith("#"):
            yield token[0].strip(), line


def _read_header(root: _Node, symbol: str, line: int) -> _Node:
    """Return the table that a header opens."""
    node = root
    for key in _split_keys(symbol.strip("[] \t")):
        if node.is_list:
            node = node.children[len(node.children) - 1]
        node = node.child(key, line)
    if not symbol.startswith("[["):
        return node
    node.is_list = True
    return node.child(len(node.children), line)


@lru_cache
def _split_keys(name: str) -> list[str]:
    """Return the parts of a dotted key."""
    if '"' not in name and "'" not in name:
        # tomllib takes ten times longer.
        return [key.strip() for key in name.split(".")]
    value: Any = tomllib.loads(f"{name} = 0")
    keys = []
    while value:
        [(key, value)] = value.items()
        keys.append(key)
    return keys
