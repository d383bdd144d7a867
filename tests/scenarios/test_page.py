"""docs/scenarios.md says what is: its examples are run, and its tables are complete."""

import contextlib
import io
import re
from datetime import date, datetime
from itertools import islice

import pytest

from tests.transcripts import ROOT
from tickover.core import limits
from tickover.scenarios import ScenarioError, load, names, read, reading
from tickover.scenarios.files import LARGEST
from tickover.scenarios.phrases import parse
from tickover.scenarios.timings import Window, read_point, read_time

PAGE = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
NEW_YEAR = datetime.fromisoformat("2027-01-01T00:00:00Z")
FENCES = re.findall(r"^```(\w+)\n(.*?)^```$(?:\n\n```text\n(.*?)\n```$)?", PAGE, re.DOTALL | re.MULTILINE)


def rows(heads: str) -> list[list[str]]:
    """The rows of all tables with these heads."""
    tables = re.findall(rf"^\| {re.escape(heads)} \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", PAGE, re.MULTILINE)
    assert tables, f"there is no table of {heads!r}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for table in tables for row in table.splitlines()]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(("phrase", "days"), rows("`every` | Happens on"))
@pytest.mark.parametrize("lead", ["", "every ", "EVERY "])
def test_every_recurrence_happens_on_the_days_that_are_told(lead: str, phrase: str, days: str) -> None:
    first = NEW_YEAR.date()
    recurrence = parse(lead + phrase.strip("`")).settled(first)
    found = islice(recurrence.ordinals(first.toordinal(), date(2100, 1, 1).toordinal()), 3)
    assert days == ", ".join(f"{day.day} {day:%b %Y}" for day in map(date.fromordinal, found))


@pytest.mark.parametrize(("refused", "readings"), rows("Refused | Because it may mean"))
def test_what_is_refused_may_be_said_clearly(refused: str, readings: str) -> None:
    with pytest.raises(ValueError, match=r"^must say which is meant"):
        parse(quoted(refused)[0])
    clear = [parse(reading) for reading in quoted(readings)]
    assert len(set(clear)) == len(clear) >= 1


@pytest.mark.parametrize(("kind", "text", "told"), [fence for fence in FENCES if fence[0] in ("toml", "json")])
def test_every_example_is_planned_or_refused_as_is_told(kind: str, text: str, told: str) -> None:
    if not told:
        scenario = read(text, kind)
        assert scenario.plan(scenario.start or NEW_YEAR).transactions
        return
    with pytest.raises(ScenarioError) as refused:
        read(text, kind, "rent.toml").plan()
    assert str(refused.value) == told


def test_the_first_example_does_what_its_lines_say() -> None:
    plan = read(FENCES[0][1], "toml").plan(NEW_YEAR)
    assert [f"{item.at:%m-%d %H:%M} {item.name} {item.amount} {item.currency}" for item in plan.transactions[:6]] == [
        "01-04 06:00 Rent 840.50 EUR",
        "01-11 08:00 Invoice 480 USD",
        "01-25 08:00 Salary 2350 EUR",
        "02-01 06:00 Rent 840.50 EUR",
        "02-05 08:00 Swimming 32 EUR",
        "02-19 08:00 Swimming 32 EUR",
    ]
    assert [f"{item.at:%m-%d %H:%M}" for item in plan.goals[0].contributions] == [
        "01-26 08:00", "02-26 08:00", "03-26 08:00", "04-26 08:00", "07-01 00:00",
    ]  # fmt: skip


def test_the_python_prints_what_is_told() -> None:
    ((_, code, _),) = [fence for fence in FENCES if fence[0] == "python"]
    told = re.findall(r"^> (?!```)(.*)$", PAGE, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue().splitlines() == told


def test_every_fence_is_of_a_kind_that_is_run() -> None:
    assert {kind for kind, _, _ in FENCES} == {"toml", "json", "python"}
    assert sum(bool(told) for _, _, told in FENCES) >= 3


def test_the_list_of_scenarios_is_whole() -> None:
    assert [quoted(name)[0] for name, _ in rows("Name | What it is")] == names()
    for name, about in rows("Name | What it is"):
        assert about
        assert load(quoted(name)[0])


def test_the_tables_have_every_key() -> None:
    told = {
        quoted(row[0])[0]
        for heads in ("Key | Type | Default | What it is", "Key | Type | Required | What it is", "Key | What it is")
        for row in rows(heads)
    }
    keys = (reading._SCENARIO_KEYS, reading._TRANSACTION_KEYS, reading._GOAL_KEYS, reading._CONTRIBUTION_KEYS)
    assert told == {key for known in keys for key in known}


def test_every_form_of_a_point_in_time_is_taken() -> None:
    window = Window(NEW_YEAR, NEW_YEAR.replace(year=2029))
    forms = [form.strip('"') for written, _ in rows("Written | Means") for form in quoted(written)]
    assert len(forms) >= 10
    for form in forms:
        assert window.start <= read_point(form).instant(read_time("08:00"), window) <= window.end


def test_the_table_of_limits_is_the_limits() -> None:
    numbers = [int(re.sub(r"[^0-9]", "", value)) for _, value in rows("Limit | Value")]
    assert numbers == [
        limits.MAX_TRANSACTIONS, limits.MAX_GOALS, limits.MAX_CONTRIBUTIONS, limits.MAX_NAME, limits.MAX_CATEGORY,
        limits.MAX_AMOUNT, limits.SPAN_YEARS, LARGEST,
    ]  # fmt: skip
