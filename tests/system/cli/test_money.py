"""Tests of `tickover clock balance`, `tickover clock events` and `tickover clock check`."""

import json
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.system.shells import Shell

YEAR = datetime.now(UTC).year + 1


def item(day: str, name: str, amount: float, type: str = "EXPENSE") -> dict[str, Any]:
    return {"at": f"{YEAR}-{day}T08:00:00Z", "name": name, "amount": amount, "currency": "EUR", "type": type}


PARAMS = {
    "frozenTime": f"{YEAR}-01-01T00:00:00Z",
    "transactions": [
        item("01-03", '=HYPERLINK("x")', 50),
        item("01-12", "Rent", 68.05),
        item("01-25", "Salary", 1000, "INCOME"),
    ],
    "goals": [{"name": "Bike", "targetAmount": 20, "contributions": [{"at": f"{YEAR}-02-01T08:00:00Z", "amount": 20}]}],
}


@pytest.fixture
def clock(shell: Shell) -> str:
    """A clock that falls below zero before its income. It is the default of later commands."""
    return str(shell("clock", "create", "--params", "-", "--json", input=json.dumps(PARAMS).encode()).json["id"])


def test_events_show_balances_and_reached_goals(shell: Shell, clock: str) -> None:
    assert shell("clock", "events").out == "No events in this period.\n"
    shell("clock", "advance", "--to", f"{YEAR}-01-25")
    result = shell("clock", "events", "--after", f"{YEAR}-01-03T08:00:00Z", "--until", f"{YEAR}-03-01")
    assert result.out.splitlines() == [
        f"  ● {YEAR}-01-12  Rent               −68.05  −118.05 EUR",
        f"  ○ {YEAR}-01-25  Salary          +1 000.00   881.95 EUR",
        f"  ○ {YEAR}-02-01  Bike               +20.00    20.00",
        f"  ○ {YEAR}-02-01  ✓ Bike reached",
    ]


def test_follow_prints_new_events(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--next")
    with shell.start("clock", "events", "--follow", "--json") as following:
        assert json.loads(following.stdout.readline())["transaction"]["name"].startswith("=HYPERLINK")
        shell("clock", "advance", clock, "--next")
        assert json.loads(following.stdout.readline())["balance"] == -118.05
        # An amendment at the clock's own time doesn't move the clock.
        shell("clock", "add", "--clock", clock, "--expense", "Coffee", "3.50", "EUR")
        assert json.loads(following.stdout.readline())["transaction"]["name"] == "Coffee"
        following.send_signal(signal.SIGINT)
        assert following.end().code == 130


def test_violation_names_the_item_and_exits_with_9(shell: Shell, clock: str) -> None:
    options = ["--never-below", "EUR=-60", "--goal-reached", f"Bike={YEAR}-03-01", "--posted", f"Rent={YEAR}-02-01"]
    result = shell("clock", "check", *options)
    assert (result.code, result.err) == (9, "tickover: 1 expectation violated.\n")
    assert result.out.splitlines() == [
        f"  clock_…{clock[-8:]}  checked until {YEAR + 10}-01-01: 2 of 3 expectations hold",
        "  ✗ The EUR balance is never below -60.",
        f"    Below -60.00 EUR from 12 Jan until 25 Jan {YEAR}, because of Rent (-68.05): ",
        "    -50.00 -> -118.05. Worst: -118.05 on 12 Jan.",
        f"    ○ {YEAR}-01-12 08:00  Rent  −68.05 EUR",
        f'  ✓ Goal "Bike" is reached by {YEAR}-03-01T00:00:00Z.',
        f'  ✓ "Rent" is posted by {YEAR}-02-01T00:00:00Z.',
    ]
    as_json = shell("clock", "check", *options, "--json")
    assert (as_json.code, as_json.json["ok"], as_json.error["reason"]) == (9, False, "VIOLATED")
    assert shell("clock", "check", *options, "--opening", "EUR=100").code == 0
    assert shell("clock", "check", *options, "--until", f"{YEAR}-01-11").code == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "--never-below", "EUR=0", "--never-above", "USD=0"], "--never-above USD: currency must be"),
        (["check", "--goal-reached", f"Bikes={YEAR}-02-01"], '(Bike); did you mean "Bike"?'),
        (["check", "--never-below", "visa=0"], "--never-below visa: account must be the key of an account"),
        (["check", "--never-below", "EUR=0", "--until", f"{YEAR + 90}-01-01"], "--until must be"),
        (["balance", "--opening", "EUR=999999999999999"], "--opening: EUR must be"),
        (["events", "--after", f"{YEAR}-02-01"], "--after without --until TIME must be between "),
    ],
)
def test_rejections_name_what_the_user_typed(shell: Shell, clock: str, arguments: list[str], message: str) -> None:
    result = shell("clock", *arguments)
    assert (result.code, result.out) == (4, "")
    assert message in result.err


def test_expectations_of_a_scenario_are_stored_and_checked(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    text = f'start = {YEAR}-01-01\n[[goals]]\nname = "Bike"\ntarget = 1\n'
    contributions = '[[goals.contributions]]\namount = 1\nat = "+20 days"\n'
    expect = '[[expect]]\ngoal_reached = "Bike"\nby = "+{} days"\n'
    for days, code, summary in ((30, 0, "✓ the expectation holds"), (10, 9, "✗ the expectation doesn't hold")):
        file.write_text(text + contributions + expect.format(days))
        assert summary in shell("clock", "create", str(file)).out
        assert summary in shell("clock", "show").out
        assert summary[0] in shell("clock", "list").out.splitlines()[1]
        assert shell("clock", "check").code == code
    file.write_text(text)
    shell("clock", "create", str(file))
    result = shell("clock", "check")
    assert (result.code, result.err.splitlines()[0]) == (2, "tickover: This clock has no expectations of its own.")


def test_json_of_a_clock_has_empty_opening_balances_only_if_they_were_given(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for params, expected in (("{}", None), ('{"openingBalances": {}}', {})):
        file.write_text(params)
        created = shell("clock", "create", "--params", str(file), "--json").json
        assert created.get("openingBalances") == expected
        assert shell("clock", "show", "--json").json.get("openingBalances") == expected


def test_export_writes_statements(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--to", f"{YEAR}-01-13")
    lines = shell("clock", "export", "--opening", "EUR=10").out.splitlines()
    assert lines[0] == "type,id,at,name,category,amount,currency,balance,pending"
    assert [line.split(",")[0] for line in lines[1:]] == ["opening", "transaction", "transaction", "closing"]
    assert lines[2].split(",")[3] == '"\'=HYPERLINK(""x"")"'
    assert lines[-1].split(",")[-2] == "-108.05"
    assert len(shell("clock", "export", "--pending").out.splitlines()) == 6
    assert shell("clock", "export", "--json").json["statements"][0]["closing"] == -118.05
    assert "<FITID>" in shell("clock", "export", "--format", "ofx").out
    assert shell("clock", "export", "--format", "ofx", "--json").code == 2
