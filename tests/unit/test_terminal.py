"""Escaping and sanitizing text for a terminal."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.strategies import CHARACTERS
from tickover.api.terminal import escape, sanitize


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Rent", "Rent"),
        ("Miete für März", "Miete für März"),
        ("日本語 🎉", "日本語 🎉"),
        ("a\x1b[31mred", "a�[31mred"),
        ("line\nbreak\r\ttab", "line�break��tab"),
        ("bell\x07 del\x7f csi\x9b", "bell� del� csi�"),
        ("separator\u2028and\u2029", "separator�and�"),
        ("turned \u202earound", "turned around"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("lone \ud800", "lone �"),
    ],
)
def test_sanitize_replaces_control_characters(text: str, shown: str) -> None:
    assert sanitize(text) == shown


@given(st.text(CHARACTERS))
def test_sanitized_text_has_no_control_characters(text: str) -> None:
    shown = sanitize(text)
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert sanitize(shown) == shown
