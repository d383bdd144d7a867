"""The planted bugs in lab/mutants stay usable: their patches apply, and the tests that they name exist."""

import shutil
import subprocess

import pytest

from lab.mutants.mutant import ROOT, Mutant, load_mutants


@pytest.mark.skipif(shutil.which("git") is None, reason="Needs git to check the patches.")
def test_every_planted_bug_can_be_planted() -> None:
    def is_usable(mutant: Mutant) -> bool:
        command = ["git", "apply", "--check", str(mutant.patch)]
        applies = subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
        return applies and all(map(_exists, mutant.tests))

    assert [mutant.name for mutant in load_mutants() if not is_usable(mutant)] == []


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    file = ROOT / path
    return file.is_file() and (not name or f"def {name.partition('[')[0]}(" in file.read_text())
