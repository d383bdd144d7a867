"""Text for a terminal: what a caller sent is escaped, so that a terminal shows it and never obeys it."""

import unicodedata
from typing import Final

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories: control, format (bidirectional ones included), unassigned, private, surrogate, separators."""


def escape(text: str, keep: str = "") -> str:
    """Return the text with its control and invisible characters written as `\\x1b` or `\\u202e`; `keep` stays."""
    # Python calls all of these not printable, and some blanks beside them.
    if text.isprintable():
        return text
    return "".join(
        _escaped(character) if unicodedata.category(character) in _ESCAPED and character not in keep else character
        for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
