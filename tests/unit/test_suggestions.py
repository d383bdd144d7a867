"""Suggestions for misspelled names."""

import pytest

from tickover.api.suggestions import MAX_LENGTH, closest_match


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("evry", "every"),
        ("every", "every"),
        ("EVERY", "every"),
        ("", None),
        ("xyz", None),
        ("unt", "until"),
        ("u", None),
    ],
)
def test_closest_match(name: str, expected: str | None) -> None:
    assert closest_match(name, ["from", "every", "until"]) == expected


@pytest.mark.parametrize("typo", ["hosuing", "ousing", "housings", "Hoosing", "HOUSING"])
def test_closest_of_many_candidates_is_found(typo: str) -> None:
    others = [f"{first}{last}" for first in ("hou", "us", "sing", "ing", "x") for last in ("", "se", "in", "gs", "oo")]
    assert closest_match(typo, [*others, "Housing", *map(str.upper, others)]) == "Housing"


def test_names_over_the_maximum_length_get_no_suggestion() -> None:
    longest = "x" * MAX_LENGTH
    assert closest_match(longest, [longest]) == longest
    assert closest_match(longest + "x", [longest]) is None
