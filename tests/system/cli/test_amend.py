"""Tests of `tickover clock add` and `tickover clock cancel`."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT
from tests.system.shells import Shell

AT = "2027-02-01T00:00:00Z"


def item(day: str, name: str, amount: float, type: str = "EXPENSE") -> dict[str, Any]:
    return {"at": f"2027-{day}T00:00:00Z", "name": name, "amount": amount, "currency": "EUR", "type": type}


PARAMS = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [item("01-03", "Rent", 50), item("02-03", "Rent", 50), item("01-25", "Salary", 120, "INCOME")],
    "goals": [{"name": "Bike", "targetAmount": 20, "contributions": [{"at": AT, "amount": 20}]}],
}


@pytest.fixture
def clock(shell: Shell) -> str:
    """A clock that is the default of later commands."""
    return str(shell("clock", "create", "--params", "-", "--json", input=json.dumps(PARAMS).encode()).json["id"])


def test_items_of_options_are_added_at_the_clocks_time(shell: Shell, clock: str) -> None:
    options = ["--expense", "Coffee", "3.50", "EUR", "--income", "Tip", "1", "EUR", "--contribution", "Bike", "5"]
    document = shell("clock", "add", *options, "--json").json
    assert [each["name"] for each in document["transactions"]] == ["Coffee", "Tip"]
    assert document["goals"][0]["currentAmount"] == 5
    result = shell("clock", "add", "--expense", "Late tea", "2", "EUR", "--at", "2027-03-01", "--clock", clock[-8:])
    assert result.out.startswith(f"  ✓ Added 1 item to {clock}\n")
    assert [each["name"] for each in shell("clock", "show", "--json").json["pendingTransactions"]][-1] == "Late tea"


def test_items_of_a_scenario_start_at_the_clocks_time(shell: Shell, clock: str, tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text(
        'title = "More"\nabout = "A gym."\ncurrency = "EUR"\nlength = "2 months"\nopening = {EUR = 7}\n'
        '[[transactions]]\nname = "Gym"\namount = 30\ntype = "expense"\nevery = "month on the 5th"\n'
    )
    document = shell("clock", "add", str(file), "--json").json
    assert [each["at"][:10] for each in document["pendingTransactions"] if each["name"] == "Gym"] == [
        "2027-01-05",
        "2027-02-05",
    ]
    assert document["transactions"] == []


def test_transfers_of_a_scenario_are_added_too(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "savings.toml"
    file.write_text(
        'title = "Savings"\ncurrency = "EUR"\nlength = "2 months"\n'
        '[[accounts]]\nkey = "checking"\nname = "Checking"\n[[accounts]]\nkey = "savings"\nname = "Savings"\n'
        '[[transfers]]\nname = "Save"\namount = 30\nevery = "month on the 5th"\n'
        'from_account = "checking"\nto_account = "savings"\n'
    )
    accounts = [{"key": key, "name": key, "type": "CHECKING", "currency": "EUR"} for key in ("checking", "savings")]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "accounts": accounts}
    shell("clock", "create", "--params", "-", input=json.dumps(params).encode())
    added = shell("clock", "add", str(file), "--json")
    assert added.code == 0, added.err
    assert [each["at"][:10] for each in added.json["pendingTransfers"]] == ["2027-01-05", "2027-02-05"]


def test_items_are_cancelled_by_name_and_by_id(shell: Shell, clock: str) -> None:
    several = shell("clock", "cancel", "Rent")
    assert (several.code, several.err.splitlines()[0]) == (2, "tickover: 2 pending items match 'Rent'.")
    amended = shell("clock", "cancel", "Rent", "--next", "--json").json
    assert [each["at"][:10] for each in amended["pendingTransactions"] if each["name"] == "Rent"] == ["2027-02-03"]
    [payment] = amended["goals"][0]["upcomingContributions"]
    assert shell("clock", "cancel", payment["id"], "--json").json["goals"][0]["upcomingContributions"] == []
    repeated = shell("clock", "cancel", payment["id"])
    assert (repeated.code, "Pending: Rent, Salary" in repeated.err) == (5, True)


@pytest.mark.parametrize("typed", ["Gym fee", "Gym\xad fee"])
def test_names_match_without_characters_that_are_not_shown(shell: Shell, clock: str, typed: str) -> None:
    shell("clock", "add", "--expense", "Gym\xad fee", "5", "EUR", "--at", AT)
    assert shell("clock", "cancel", typed).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["add"], 2, "Use FILE, --expense, --income, --transfer or --contribution."),
        (["add", "--expense", "Tea", "much", "EUR"], 2, "isn't an amount"),
        (["add", "--contribution", "Car", "5"], 2, "no goal with the name 'Car'"),
        (["add", "--expense", "Tea", "1", "EUR", "--at", "2026-01-01"], 4, "  --expense Tea: at must be between "),
        (["add", "--income", "Tip", "1", "EUR", "--expense", "Tea", "1", "euro"], 4, "  --expense Tea: currency must "),
        (["add", "--contribution", "Bike", "0"], 4, "  --contribution Bike: amount must be greater than 0"),
        (["cancel", "Rent", "--next", "--all"], 2, "Use either --next or --all."),
    ],
)
def test_wrong_amendments_are_explained(
    shell: Shell, clock: str, arguments: list[str], code: int, message: str
) -> None:
    result = shell("clock", *arguments)
    assert result.code == code, result.err
    assert message in result.err


def test_commands_of_the_page_work(shell: Shell) -> None:
    page = (ROOT / "docs" / "amend.md").read_text("utf-8")
    [commands] = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    results = [shell(*shlex.split(command)[1:]) for command in commands.splitlines()]
    assert [result.code for result in results] == [0] * len(results)
