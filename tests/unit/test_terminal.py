"""Escaping and sanitizing text for a terminal."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.strategies import CHARACTERS
from tickover.api.terminal import escape, sanitize


def test_characters_to_keep_are_not_escaped() -> None:
    assert (
        escape("é\u00a0\u200b\x1b[2J\r\n\ud800\U000e0041", keep="\n") == "é\u00a0\\u200b\\x1b[2J\\r\n\\ud800\\U000e0041"
    )


def test_all_of_unicode_is_safe() -> None:
    characters = {chr(code) for code in range(0x10000)} | {chr(code) for code in range(0x10000, sys.maxunicode, 7)}
    shown = set(escape("".join(characters)))
    assert {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()
    assert len(shown) > 50_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Miete für März 日本語 🎉", "Miete für März 日本語 🎉"),
        ("a\x1b[31m\r\n", "a�[31m��"),
        ("turned \u202earound, zero\u200bwidth", "turned around, zerowidth"),
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
