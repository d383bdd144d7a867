"""The examples in docs/scenarios.md run, and its tables are complete."""

import contextlib
import io
import re
from datetime import date, datetime
from itertools import islice

import pytest

from tests.support.repository import ROOT
from tickover.api.plans import PlannedTransaction, PlannedTransfer
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.phrases import parse

PAGE = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
NEW_YEAR = datetime.fromisoformat("2027-01-01T00:00:00Z")
CODE_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)\n```$)?", PAGE, re.DOTALL | re.MULTILINE)


def rows(header: str) -> list[list[str]]:
    """Return the rows of all tables with this header."""
    tables = re.findall(rf"^\| {re.escape(header)} \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", PAGE, re.MULTILINE)
    assert tables, f"no table has the header {header!r}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for table in tables for row in table.splitlines()]


def code_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(("phrase", "days"), rows("`every` | First days"))
def test_recurrences_happen_on_the_listed_days(phrase: str, days: str) -> None:
    first = NEW_YEAR.date()
    recurrence = parse(phrase.strip("`")).with_default_day(first)
    found = islice(recurrence.ordinals(first.toordinal(), date(2100, 1, 1).toordinal()), 3)
    assert days == ", ".join(
        f"{day.day} {day:%b}" + (f" {day.year}" if day.year > first.year else "")
        for day in map(date.fromordinal, found)
    )


@pytest.mark.parametrize(("ambiguous", "readings"), rows("Ambiguous | Write instead"))
def test_ambiguous_phrases_have_clear_alternatives(ambiguous: str, readings: str) -> None:
    with pytest.raises(ValueError, match=r"^is ambiguous"):
        parse(code_in(ambiguous)[0])
    clear = [parse(reading) for reading in code_in(readings)]
    assert len(set(clear)) == len(clear) >= 1


@pytest.mark.parametrize(("text", "error"), [block[1:] for block in CODE_BLOCKS if block[0] == "toml"])
def test_examples_are_valid_or_fail_as_documented(text: str, error: str) -> None:
    if not error:
        scenario = read(text)
        assert scenario.plan(scenario.start or NEW_YEAR).transactions
        return
    with pytest.raises(ScenarioError) as caught:
        read(text, "rent.toml").plan()
    assert str(caught.value) == error


DATES = re.findall(r"^```toml\n((?:(?!^```).)*?)^```\n\n```dates\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def format_dates(occurrences: list[tuple[PlannedTransaction | PlannedTransfer, datetime]]) -> str:
    width = max(len(item.name) for item, _ in occurrences)
    return "".join(
        f"{item.at:%Y-%m-%d %H:%M}  {item.name:{width}}  {item.amount}"
        + (f"  due {nominal:%Y-%m-%d}\n" if nominal.date() != item.at.date() and "Reversal" not in item.name else "\n")
        for item, nominal in occurrences
    )


@pytest.mark.parametrize(("text", "dates"), DATES)
def test_examples_happen_on_the_listed_dates(text: str, dates: str) -> None:
    assert format_dates(read(text).occurrences()) == dates


def first_code_in(cell: str) -> str:
    return code_in(cell)[0]


@pytest.mark.parametrize("cell", [row[0] for row in rows("Key | Description") if " = " in row[0]])
def test_every_documented_key_with_a_value_is_valid(cell: str) -> None:
    keys = {"name": '"a"', "amount": "1", "type": '"income"', "currency": '"EUR"', "every": '"month on the 25th"'}
    key, _, value = first_code_in(cell).partition(" = ")
    lines = [f"{name} = {written}" for name, written in {**keys, key: value}.items()]
    text = "start = 2027-01-01\n[[transactions]]\n" + "\n".join(lines)
    assert read(text).plan().transactions or key == "chance"


def test_the_python_example_prints_the_documented_output() -> None:
    ((_, code, _),) = [block for block in CODE_BLOCKS if block[0] == "python"]
    expected = re.findall(r"^> (?!```)(.*)$", PAGE, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(code, {})
    assert output.getvalue().splitlines() == expected
