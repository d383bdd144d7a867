"""Errors name the line of the key or of the table."""

import tomllib
from typing import Any

import pytest

from tests.support.repository import ROOT
from tickover.scenarios import ScenarioError, names, read
from tickover.scenarios.line_numbers import Path, find_lines

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
    assert find_lines(TEXT)[path] == line


def missing_paths(value: Any, lines: dict[Path, int], path: Path = ()) -> list[Path]:
    """Return the paths of values without a line. A list of `[[tables]]` has none."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    missing = [(*path, key) for key, inner in pairs if (*path, key) not in lines and not isinstance(inner, list)]
    for key, inner in pairs:
        missing += missing_paths(inner, lines, (*path, key))
    return missing


@pytest.mark.parametrize("name", names())
def test_every_value_of_an_included_scenario_has_a_line(name: str) -> None:
    text = (ROOT / "src" / "tickover" / "scenarios" / "shipped" / f"{name}.toml").read_text("utf-8")
    values = tomllib.loads(text)
    assert missing_paths(values, find_lines(text)) == []


def test_an_error_about_the_table_of_a_dotted_header_names_its_line() -> None:
    with pytest.raises(ScenarioError, match=r'^f, line 2: unknown key "a"') as caught:
        read("title = 'a'\n[a.b]", "f")
    assert caught.value.line == 2
