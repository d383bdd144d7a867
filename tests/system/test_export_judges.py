"""hledger and bean-check accept exported journals of random clocks."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.support.debian_packages import require_program
from tests.support.random_statements import random_opening, random_snapshot
from tickover.statements import export


@pytest.mark.parametrize("seed", range(6))
def test_hledger_checks_the_journal(seed: int) -> None:
    random = Random(seed)
    journal = export(random_snapshot(random), "hledger", opening=random_opening(random), pending=seed % 2 == 0)
    command = [require_program("hledger"), "-f", "-", "check"]
    ran = subprocess.run(command, input=journal, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    wrong = journal.replace(" 0 = EUR ", " 0 = EUR 1").replace(" 0 = USD ", " 0 = USD 1").replace(" = JPY ", " = JPY 1")
    assert subprocess.run(command, input=wrong, capture_output=True, text=True, check=False).returncode == 1


def test_bean_check_accepts_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.beancount"
    file.write_text(export(random_snapshot(Random(3)), "beancount", opening={"EUR": 5}))
    command = [str(Path(sys.executable).with_name("bean-check")), str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
