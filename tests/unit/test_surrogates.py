"""Lone surrogates in a body become U+0000. Pairs and text that only looks like an escape stay."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tickover.server.rpc.envelope import decode_text

PARTS = ["\\\\", r"\n", r"\ud800", r"\uDFFF", r"\uD83D\ude00", r"\u00e9", "ud83d", "a", "0"]
# Reads one escape after another.
ESCAPE = re.compile(r"\\u[dD][89abAB]\w{2}\\u[dD][c-fC-F]\w{2}|(\\u[dD][89a-fA-F]\w{2})|\\.")


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_every_body_is_read_like_one_escape_after_another(written: str) -> None:
    expected = ESCAPE.sub(lambda found: r"\u0000" if found[1] else found[0], written)
    assert decode_text(f'"{written}"'.encode()) == f'"{expected}"'
