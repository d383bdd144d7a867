"""Tests of `tickover scenarios` and `tickover scenarios show`."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.system.shells import Shell


@pytest.mark.parametrize("name", ["salary-and-rent", "limits"])
def test_show_json_can_create_a_clock(shell: Shell, name: str) -> None:
    start = datetime(datetime.now(UTC).year + 1, 1, 1, tzinfo=UTC)
    params = shell("scenarios", "show", name, "--from", f"{start:%Y-%m-%d}", "--json")
    assert params.json["frozenTime"] == f"{start:%Y-%m-%d}T00:00:00Z"
    created = shell("clock", "create", "--params", "-", "--json", input=params.out.encode()).json
    same = shell("clock", "create", name, "--from", f"{start:%Y-%m-%d}", "--json").json
    assert [one["name"] for one in created["pendingTransactions"]] == [
        one["name"] for one in same["pendingTransactions"]
    ]
    assert len(created["goals"]) == len(same["goals"])


def test_show_checks_a_scenario_file(offline_shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(offline_shell("scenarios", "show", "trip").out)
    assert offline_shell("scenarios", "show", str(file)).out == file.read_text()
    file.write_text("nonsense")
    result = offline_shell("scenarios", "show", str(file))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("tickover: ")
    assert result.err.count("\n") == 1


def test_show_dates_lists_nominal_dates(offline_shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    item = (
        'name = "Pay"\namount = 9\ntype = "income"\ncurrency = "EUR"\nevery = "month on the 31st"\nweekend = "before"'
    )
    file.write_text(f'start = 2027-01-01\nlength = "3 months"\n[[transactions]]\n{item}')
    assert offline_shell("scenarios", "show", str(file), "--dates").out.splitlines() == [
        "  2027-01-29 08:00  Pay  +9.00 EUR  due 2027-01-31",
        "  2027-02-26 08:00  Pay  +9.00 EUR  due 2027-02-28",
        "  2027-03-31 08:00  Pay  +9.00 EUR",
    ]


def test_a_bank_statement_becomes_a_clock_in_two_commands(shell: Shell, tmp_path: Path) -> None:
    year = datetime.now(UTC).year + 1
    rows = "".join(f"{year}-{month:02}-05,Landlord,-900.50,EUR\n" for month in range(1, 7))
    bank_file = tmp_path / "bank.csv"
    bank_file.write_text(f"Date,Description,Amount,Currency\n{rows}{year}-03-09,Shop,-12,EUR\n")
    preview = shell("scenarios", "from", str(bank_file), "--preview")
    assert preview.out.splitlines()[0] == f"  {year}-01-05  −900.50 EUR  Landlord"
    scenario = shell("scenarios", "from", str(bank_file))
    assert scenario.code == 0
    assert scenario.err == "Read 7 payments on this machine. Nothing was sent.\n"
    assert scenario.out.count('every = "month on the 5th"') == 1
    (tmp_path / "mine.toml").write_text(scenario.out)
    created = shell("clock", "create", str(tmp_path / "mine.toml"), "--json").json
    assert len(created["pendingTransactions"]) == 7
    again = shell("scenarios", "from", created["id"]).out
    assert again.count('every = "month on the 5th"') == 1
    missing = shell("scenarios", "from", "no-such.csv")
    assert (missing.code, missing.err.splitlines()[0]) == (2, "tickover: No file is named 'no-such.csv'.")
    assert "which starts with clock_" in missing.err
    assert shell("scenarios", "from", str(bank_file), "--columns", "day=x").code == 2


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("When,What\n", "--columns date=HEADER,amount=HEADER"),
        ("date,amount\n2027-01-03,1\n", "--columns name=HEADER"),
        ("date,amount,name\n2027-01-03,1,Rent\n", "--currency EUR"),
        ("date,amount,name,currency\n03/04/2027,1,Rent,EUR\n", "--day-first or --month-first"),
    ],
)
def test_error_in_a_file_names_the_option_that_helps(shell: Shell, tmp_path: Path, text: str, option: str) -> None:
    file = tmp_path / "bank.csv"
    file.write_text(text)
    result = shell("scenarios", "from", str(file))
    assert result.code == 2
    assert option in result.err


def test_files_of_accounts_become_a_clock_with_transfers(shell: Shell, tmp_path: Path) -> None:
    rows = {"checking": ["2027-01-04,To savings,-200,EUR", "2027-01-05,Rent,-700,EUR"], "savings": []}
    rows["savings"] = ["2027-01-05,From checking,200,EUR"]
    options = []
    for key, lines in rows.items():
        file = tmp_path / f"{key}.csv"
        file.write_text("\n".join(["date,name,amount,currency", *lines]))
        options.append(f"--account={key}{':credit-card' if key == 'savings' else ''}={file}")
    preview = shell("scenarios", "from", *options, "--preview")
    assert "  2027-01-04  200.00 EUR  To savings  checking → savings" in preview.out.splitlines()
    written = tmp_path / "mine.toml"
    written.write_text(shell("scenarios", "from", *options).out)
    clock = shell("clock", "create", str(written), "--json").json
    types = [(account["key"], account["type"]) for account in clock["accounts"]]
    assert types == [("checking", "CHECKING"), ("savings", "CREDIT_CARD")]
    summary = shell("clock", "show", "--at", "2027-01-05").out
    assert "200.00 EUR  checking → savings" in summary
    balances = shell("clock", "balance", "--at", "2027-01-06").out.splitlines()
    assert [" ".join(line.split()[:4]) for line in balances[-2:]] == [
        "checking 0.00 700.00 −200.00",
        "savings 0.00 0.00 +200.00",
    ]
    exported = shell("clock", "export", "--account", "savings", "--pending").out.splitlines()[1:]
    assert {line.rpartition(",")[2] for line in exported} == {"savings"}
    result = shell("clock", "export", "--account", "visa")
    assert result.code == 4
    assert "--account must be the key of an account of this clock (checking, savings)" in result.err
    # The clock itself can become a scenario again.
    assert "[[transfers]]" in shell("scenarios", "from", clock["id"]).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Use either FILE, CLOCK or --account."),
        (["--account", "Giro=b.csv"], "'Giro=b.csv' isn't an account with a file."),
        (["--account", "a:visa=b.csv"], "'visa' isn't a type of account. Use checking,"),
        (["--account", "a:cash=no.csv", "--account", "a=no.csv"], "Several files have the same account."),
    ],
)
def test_wrong_files_of_accounts_are_explained(shell: Shell, arguments: list[str], message: str) -> None:
    result = shell("scenarios", "from", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
