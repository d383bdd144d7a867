"""What the commands of the Makefile install in a new checkout."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repository import ROOT

_READ = (
    "Makefile",
    "pyproject.toml",
    *(f"requirements/{name}.txt" for name in ("run", "dev", "schemas", "node", "tools")),
)
_LOCKS = ("tools/package-lock.json", "clients/typescript/package-lock.json")


@pytest.mark.parametrize(
    ("command", "python_pins", "npm_folders"),
    [
        ("run", ["run"], []),
        ("npm", ["node"], ["clients/typescript"]),
        ("test", ["run", "dev", "schemas", "node"], []),
        ("check", ["run", "dev", "schemas", "node"], [".node", "clients/typescript"]),
        ("docs", ["tools"], []),
    ],
)
def test_command_installs_only_what_it_needs(
    tmp_path: Path, command: str, python_pins: list[str], npm_folders: list[str]
) -> None:
    for name in (*_READ, *_LOCKS):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    steps = subprocess.check_output(["make", "--dry-run", command], cwd=tmp_path, text=True)
    assert re.findall(r"-r requirements/([a-z]+)[.]txt", steps) == python_pins
    assert re.findall(r"npm ci .*--prefix (\S+)", steps) == npm_folders
