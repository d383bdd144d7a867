"""Escaping text for a terminal."""

import sys
import unicodedata

import pytest

from tests.support.cases import each_case
from tickover.api.terminal import escape


@each_case(
    ("text", "shown"),
    [
        pytest.param("ana@example.test", "ana@example.test", id="plain"),
        pytest.param("é 中 😀", "é 中 😀", id="beyond ASCII"),
        pytest.param("a\u00a0b", "a\u00a0b", id="no-break space"),
        pytest.param("\x1b[2J\x1b]0;owned\x07", r"\x1b[2J\x1b]0;owned\x07", id="escape sequences"),
        pytest.param("a\r\nb\tc\0", r"a\r\nb\tc\x00", id="line breaks"),
        pytest.param("\x9b31m\x85\x7f", r"\x9b31m\x85\x7f", id="C1 controls"),
        pytest.param("a\u202eb\u2066c", r"a\u202eb\u2066c", id="bidirectional"),
        pytest.param("a\u2028b\u2029c", r"a\u2028b\u2029c", id="separators"),
        pytest.param("a\u200bb\ufeff", r"a\u200bb\ufeff", id="invisible"),
        pytest.param("\ud800", r"\ud800", id="lone surrogate"),
        pytest.param("\U000e0041", r"\U000e0041", id="tag"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_characters_to_keep_are_not_escaped() -> None:
    assert escape("a\nb\r\x1b", keep="\n") == "a\nb\\r\\x1b"


def test_all_of_unicode_is_safe() -> None:
    characters = {chr(code) for code in range(0x10000)} | {chr(code) for code in range(0x10000, sys.maxunicode, 7)}
    shown = set(escape("".join(characters)))
    assert {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()
    assert len(shown) > 50_000
