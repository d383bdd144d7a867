"""Escapes text for a terminal, so that control characters in it have no effect."""

import unicodedata
from typing import Final

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories: control, format (bidirectional ones included), unassigned, private, surrogate, separators."""


def escape(text: str, keep: str = "") -> str:
    """Write control and invisible characters as `\\x1b` or `\\u202e`, except those in `keep`."""
    if text.isprintable():
        return text
    return "".join(
        _escaped(character) if unicodedata.category(character) in _ESCAPED and character not in keep else character
        for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
