"""Escapes or sanitizes text for a terminal, so that control characters in it have no effect."""

import unicodedata
from typing import Final

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories: control, format (bidirectional ones included), unassigned, private, surrogate, separators."""
_CONTROL_CATEGORIES: Final = {"Cc", "Cs", "Zl", "Zp"}
_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def escape(text: str, keep: str = "") -> str:
    """Write control and invisible characters as `\\x1b` or `\\u202e`, except those in `keep`."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _ESCAPED and character not in keep
        else character
        for character in text
    )


def sanitize(text: str) -> str:
    """Replace control characters and remove invisible format characters, such as bidirectional overrides."""
    return text if text.isprintable() else "".join(map(_sanitize_character, text))


def _sanitize_character(character: str) -> str:
    category = unicodedata.category(character)
    if category in _CONTROL_CATEGORIES:
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category == "Cf" and character not in _JOINERS else character
