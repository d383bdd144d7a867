"""Tests of `tickover clock reconcile`."""

import json
from pathlib import Path

import pytest

from tests.system.shells import Shell

BOOKS = "date,amount,name\n2027-01-03,-1150,Rent\n2027-01-25,2800,Salary\n"


@pytest.fixture
def clock(shell: Shell) -> str:
    """A clock whose rent and salary have been posted."""
    items = ["--expense", "Rent", "1150", "EUR", "--at", "2027-01-03T23:30:00Z"]
    id: str = shell("clock", "create", "--from", "2027-01-01", "--json").json["id"]
    assert shell("clock", "add", *items).code == 0
    assert shell("clock", "add", "--income", "Salary", "2800", "EUR", "--at", "2027-01-25").code == 0
    assert shell("clock", "advance", "--to", "2027-02-01").code == 0
    return id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "books.csv"
    file.write_text(BOOKS)
    return file


@pytest.mark.usefixtures("clock")
def test_complete_books(shell: Shell, file: Path) -> None:
    result = shell("clock", "reconcile", str(file), "--balance", "1650")
    assert (result.code, result.out) == (0, "The books are complete. 2 rows compared.\n")
    file.write_text(BOOKS.splitlines()[0] + "\n")
    assert shell("clock", "reconcile", str(file), "--at", "2027-01-03", "--json").json["ok"]


@pytest.mark.usefixtures("clock")
def test_unknown_columns_are_named_once(shell: Shell, file: Path) -> None:
    header, *rows = BOOKS.splitlines()
    file.write_text("\n".join([f"{header},nmae,cents", *(f"{row},x,1" for row in rows)]))
    result = shell("clock", "reconcile", str(file), "--balance", "1650")
    assert (result.code, result.out) == (0, "The books are complete. 2 rows compared.\n")
    assert result.err == (
        "Ignored the unknown columns 'nmae', 'cents'; columns: at or date, amount, and optionally name and id.\n"
    )


def test_first_difference_is_shown_in_the_timeline(shell: Shell, clock: str, file: Path) -> None:
    file.write_text(BOOKS.replace("01-03", "01-04"))
    result = shell("clock", "reconcile", str(file), "--balance", "1.5", "--clock", clock)
    assert (result.code, result.err) == (9, "tickover: The books differ from those of the bank.\n")
    assert result.out.splitlines() == [
        f"The app has no row for Rent, -1150. 3 differences between the books and {clock}.",
        "  2027-01-03T23:30:00Z  The app has no row for Rent, -1150.",
        "  2027-01-04T00:00:00Z  Row 1 isn't at the bank: Rent, -1150.",
        "  2027-02-01T00:00:00Z  The balance is 1.50 instead of 1650.",
        "",
        "  ● 2027-01-03T23:30:00Z  -1150 EUR  = -1150 EUR  Rent",
        "  ✗ 2027-01-03T23:30:00Z  The app has no row for Rent, -1150.",
        "  ● 2027-01-25T00:00:00Z  +2800 EUR   = 1650 EUR  Salary",
    ]
    as_json = shell("clock", "reconcile", str(file), "--json")
    assert (as_json.code, as_json.json["firstDivergence"]["kind"], as_json.error["reason"]) == (
        9,
        "missing",
        "VIOLATED",
    )
    assert shell("clock", "reconcile", str(file), "--tolerance-days", "1").code == 0


@pytest.mark.parametrize(
    ("currency", "code", "message"),
    [
        ("EUR", 9, "accounts checking, savings. Compare each by itself: pass an account."),
        ("USD", 4, "several currencies (EUR, USD)"),
    ],
)
def test_accounts_are_named_if_none_is_selected(
    shell: Shell, file: Path, currency: str, code: int, message: str
) -> None:
    accounts = [
        {"key": "checking", "name": "Checking", "currency": "EUR"},
        {"key": "savings", "name": "Savings", "currency": currency},
    ]
    params = json.dumps({"frozenTime": "2027-01-01T00:00:00Z", "accounts": accounts})
    assert shell("clock", "create", "--params", "-", input=params.encode()).code == 0
    unselected = shell("clock", "reconcile", str(file))
    assert (unselected.code, message in unselected.out + unselected.err) == (code, True)
    for option in (["--account", "savings"], ["--currency", "EUR"]):
        selected = shell("clock", "reconcile", str(file), *option)
        assert (selected.code, "Compare each" in selected.out) == (9, False)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        ("date,amuont\n", [], 2, "books.csv: No column for the amount; columns: at or date, amount"),
        ("date,amount\n2027-01-03,-1.150,00\n", [], 2, "books.csv: Row 1: a cell without a column"),
        ("date,amount\n2027-01-03,9e99\n", [], 4, "row 1: amount must be"),
        (BOOKS, ["--currency", "USD"], 4, "--currency must be"),
        (BOOKS, ["--at", "2026-01-01"], 4, "--at must be"),
    ],
)
def test_errors_name_what_the_user_typed(
    shell: Shell, file: Path, text: str, options: list[str], code: int, message: str
) -> None:
    file.write_text(text)
    result = shell("clock", "reconcile", str(file), *options)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
