"""Limits how deeply arrays and objects are nested in JSON."""

from typing import Final

from tickover.api.limits import MAX_NESTING

_TO_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


def is_nested_too_deeply(text: bytes) -> bool:
    """Return whether arrays and objects are nested more than MAX_NESTING deep.

    Decoders recurse at each level. Their own limit depends on the version of Python and on the size of the stack.
    """
    if text.count(b"[") + text.count(b"{") <= MAX_NESTING:
        return False
    # Without escaped quotes, every second piece is outside of strings.
    pieces = text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(pieces).translate(_TO_BRACKETS, _NOT_BRACKETS)
    for _ in range(MAX_NESTING):
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_NESTING
