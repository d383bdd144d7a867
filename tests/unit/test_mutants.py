"""The planted bugs in tests/mutants stay usable: their patches apply, and the tests that they name exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.mutants.mutant import ROOT, Mutant, load_mutants, read_mutant
from tests.mutants.workspace import Run

MUTANTS = load_mutants()
POSTGRES_SCHEMA = ROOT / "src" / "tickover" / "server" / "storage" / "schema" / "postgres"
_FUNCTION = r"^create (?:or replace )?function (\w+?)(?:_v(\d+))?\("
_POSTGRES_HUNK = r"^\+\+\+ b/src/tickover/server/storage/schema/postgres/(\S+)\n@@ -(\d+)"


def test_every_mutant_has_its_own_number() -> None:
    numbers = [mutant.name.partition("-")[0] for mutant in MUTANTS]
    assert all(number.isdecimal() for number in numbers)
    assert len(numbers) == len(set(numbers))


@pytest.mark.skipif(shutil.which("git") is None, reason="Needs git to check the patches.")
def test_every_patch_applies_to_the_source() -> None:
    def applies(mutant: Mutant) -> bool:
        command = ["git", "apply", "--check", str(mutant.patch)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0

    assert [mutant.name for mutant in MUTANTS if not applies(mutant)] == []


def test_every_patch_changes_only_the_source() -> None:
    changed = {path for mutant in MUTANTS for path in re.findall(r"\n\+\+\+ b/(.*)", mutant.patch.read_text())}
    assert [path for path in sorted(changed) if not path.startswith(("src/", "clients/typescript/src/"))] == []


def test_every_patch_of_a_postgres_function_changes_its_newest_version() -> None:
    """Servers don't call older versions, so a bug in one of them would be harmless."""
    newest: dict[str, tuple[int, str]] = {}
    for file in sorted(POSTGRES_SCHEMA.glob("*.sql")):
        for name, version in re.findall(_FUNCTION, file.read_text(), re.MULTILINE):
            newest[name] = max(newest.get(name, (0, "")), (int(version or 1), file.name))
    changed = {
        (mutant.name, function, found)
        for mutant in MUTANTS
        for file, line in re.findall(_POSTGRES_HUNK, mutant.patch.read_text(), re.MULTILINE)
        for function, found in [_function_at(file, int(line))]
    }
    assert len(changed) > 5
    assert [name for name, function, found in sorted(changed) if newest[function] != found] == []


def _function_at(file: str, line: int) -> tuple[str, tuple[int, str]]:
    """Return the function at this line of a migration, its version and the migration."""
    # A hunk starts with two lines of context.
    text = "".join((POSTGRES_SCHEMA / file).read_text().splitlines(keepends=True)[: line + 2])
    name, version = re.findall(_FUNCTION, text, re.MULTILINE)[-1]
    return name, (int(version or 1), file)


def test_every_named_test_exists() -> None:
    def exists(test: str) -> bool:
        path, _, name = test.partition("::")
        file = ROOT / path
        return file.is_file() and (not name or f"def {name.partition('[')[0]}(" in file.read_text())

    missing = {mutant.name: test for mutant in MUTANTS for test in mutant.tests if not exists(test)}
    assert missing == {}


def test_header_without_a_bug_is_rejected(tmp_path: Path) -> None:
    patch = tmp_path / "01-name.patch"
    patch.write_text("Area: client\nTests: tests/unit/test_mutants.py\n\n--- a/src/file.py\n")
    with pytest.raises(ValueError, match="must start with one line 'Bug: …'"):
        read_mutant(patch)


def test_failed_tests_are_read_from_the_output_of_pytest() -> None:
    output = """
E   AssertionError: assert 1 == 2
E    +  where 1 = one()
FAILED tests/unit/test_a.py::test_one[two words] - AssertionError: assert 1 == 2
ERROR tests/unit/test_b.py::test_two
ERROR tests/unit/test_c.py - ImportError: no module
"""
    run = Run(1, output)
    assert run.failed_tests == ["tests/unit/test_a.py::test_one[two words]", "tests/unit/test_b.py::test_two"]
    assert run.error == "AssertionError: assert 1 == 2"
