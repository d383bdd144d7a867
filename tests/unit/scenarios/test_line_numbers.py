"""Errors name the line of the key or of the table."""

import tomllib

import pytest

from tickover.scenarios import ScenarioError, read
from tickover.scenarios.line_numbers import Path, find_line

TEXT = '''\
title = "A [[strange]] title # not a comment"  # [[goals]]
about = """
[[transactions]]
several lines"""
currency = "EUR"
opening = { EUR = 5, USD = "x" }

[[transactions]]
name = 'Rent = [1, 2]'
amount = 840
type = "expense"
every = "month"

[[transactions]]
"name" = "Gym"
amount = [
  10,
  20,
]
type = "expense"
at = ["+1 day", "+2 days"]

[[goals]]
name = "Trip"
target = 3
contributions = [
  { amount = 1, at = "start" },
  { amount = 2, at = [
    "end" ] },
]



[[goals]]
name = "Roof"
target = 3

[[goals.contributions]]
amount = 1
at = "start"

[[ goals . contributions ]]
amount = 1
at = "start"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("about",), 2),
        (("transactions", 0), 8),
        (("transactions", 0, "name"), 9),
        (("transactions", 1, "name"), 15),
        (("transactions", 1, "amount", 1), 18),
        (("goals", 0, "contributions", 0, "at"), 27),
        (("goals", 0, "contributions", 1, "at", 0), 29),
        (("goals", 1, "contributions", 0), 38),
        (("goals", 1, "contributions", 1, "amount"), 43),
    ],
)
def test_lines_in_toml(path: Path, line: int) -> None:
    tomllib.loads(TEXT)
    assert find_line(TEXT, path) == line


def test_an_error_about_the_table_of_a_dotted_header_names_its_line() -> None:
    with pytest.raises(ScenarioError, match=r'^f, line 2: unknown key "a"') as caught:
        read("title = 'a'\n[a.b]", "f")
    assert caught.value.line == 2
