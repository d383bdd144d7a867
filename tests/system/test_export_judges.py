"""hledger and bean-check accept exported journals of random clocks, and hledger reads the same values."""

import csv
import io
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

from tests.support.debian_packages import require_program
from tests.support.program import Program
from tests.support.random_snapshots import random_opening, random_snapshot, snapshot_with_accounts
from tickover.scenarios.bank_files import build_registers, export


def test_hledger_checks_the_journals(tmp_path: Path) -> None:
    files = []
    for seed in range(6):
        random = Random(seed)
        journal = export(random_snapshot(random), "hledger", opening=random_opening(random), pending=seed % 2 == 0)
        files.append(tmp_path / f"{seed}.journal")
        files[-1].write_text(journal)
    files.append(tmp_path / "accounts.journal")
    files[-1].write_text(export(snapshot_with_accounts(), "hledger"))
    # The assertions of a file ignore the other files.
    assert _check(*files) == (0, "")

    wrong = journal.replace(" 0 = EUR ", " 0 = EUR 1").replace(" 0 = USD ", " 0 = USD 1").replace(" = JPY ", " = JPY 1")
    files[-2].write_text(wrong)
    assert _check(*files)[0] == 1


def test_hledger_reads_the_values_of_the_transactions(tmp_path: Path) -> None:
    file = tmp_path / "a.journal"
    for seed in range(6):
        clock = random_snapshot(Random(seed))
        file.write_text(export(clock, "hledger", pending=True))
        command = [require_program("hledger"), f"--file={file}", "register", "Assets:Tickover", "--output-format=csv"]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [row for row in csv.DictReader(io.StringIO(ran.stdout)) if row["code"]]
        entries = [entry for one in build_registers(clock, {}, pending=True) for entry in one.entries]
        found = {row["code"]: (row["date"], row["description"], Decimal(row["amount"].split()[1])) for row in rows}
        # A semicolon starts a comment in a journal, so a comma replaces it.
        assert found == {
            entry.id: (f"{entry.at:%Y-%m-%d}", entry.name.replace(";", ","), entry.amount) for entry in entries
        }


def _check(*files: Path) -> tuple[int, str]:
    """Return the exit code and the errors of hledger."""
    command = [require_program("hledger"), *(f"--file={file}" for file in files), "check", "--strict"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr


def _bean_check(file: Path, text: str) -> tuple[int, str]:
    """Return the exit code and the output of bean-check."""
    file.write_text(text)
    command = [str(Path(sys.executable).with_name("bean-check")), str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def test_programs_agree_with_the_balance_of_each_account_at_each_months_end(program: Program, tmp_path: Path) -> None:
    token = program.sign_in("household@example.test")
    params = {"scenario": "household", "start": "2027-01-01T00:00:00Z"}
    id = program.result("createTestClockFromScenario", params, token)["clock"]["id"]
    hledger, beancount = (
        program.result("exportTestClock", {"id": id, "format": format, "pending": True}, token)["text"]
        for format in ("hledger", "beancount")
    )
    for month in range(2, 7):
        # The export is in UTC, and has the days of transactions.
        last, first = date(2027, month, 1) - timedelta(days=1), date(2027, month, 1)
        at = {"id": id, "at": f"{last}T23:59:59.999999Z"}
        for account in program.result("getTestClockBalances", at, token)["accounts"]:
            name, balance = f"Assets:Tickover:{account['account'].capitalize()}", f"{account['balance']:.2f}"
            hledger += f"{last} * Month end\n    {name}  EUR 0 = EUR {balance}\n\n"
            beancount += f"{first} balance {name}  {balance} EUR\n"
    file = tmp_path / "a.journal"
    file.write_text(hledger)
    assert _check(file) == (0, "")
    assert _bean_check(tmp_path / "a.beancount", beancount) == (0, "")
    # A balance that is wrong by a cent is found.
    file.write_text(hledger.replace(f" = EUR {balance}", f" = EUR {balance[:-1]}{(int(balance[-1]) + 1) % 10}"))
    assert _check(file)[0] == 1
