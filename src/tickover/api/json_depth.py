"""Limits how deeply arrays and objects are nested in JSON."""

from itertools import accumulate
from typing import Final

from tickover.api.limits import MAX_NESTING

_TO_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""As signed bytes, an opening bracket is 1 and a closing one is -1."""
_NEITHER_BRACKETS_NOR_QUOTES: Final = bytes(set(range(256)) - set(b'[]{}"'))


def is_nested_too_deeply(text: bytes) -> bool:
    """Return whether arrays and objects are nested more than MAX_NESTING deep.

    Decoders recurse at each level. Their own limit depends on the version of Python and on the size of the stack.
    The sum is below zero only after an unmatched closing bracket, where decoders stop.
    """
    if text.count(b"[") + text.count(b"{") <= MAX_NESTING:
        return False
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Most strings have no brackets, so their quotes are adjacent now. Without escaped quotes, every second piece is
    # outside of strings.
    pieces = text.translate(_TO_STEPS, _NEITHER_BRACKETS_NOR_QUOTES).replace(b'""', b"").split(b'"')[::2]
    return max(accumulate(memoryview(b"".join(pieces)).cast("b")), default=0) > MAX_NESTING
