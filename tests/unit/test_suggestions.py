"""Suggestions for misspelled names."""

import pytest

from tickover.api.suggestions import MAX_LENGTH, closest_match


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("evry", "every"),
        ("every", "every"),
        ("untill", "until"),
        ("", None),
        ("xyz", None),
    ],
)
def test_closest_match(name: str, expected: str | None) -> None:
    assert closest_match(name, ["from", "every", "until"]) == expected


def test_no_candidates() -> None:
    assert closest_match("every", []) is None


def test_names_over_the_maximum_length_get_no_suggestion() -> None:
    longest = "x" * MAX_LENGTH
    assert closest_match(longest, [longest]) == longest
    assert closest_match(longest + "x", [longest]) is None
