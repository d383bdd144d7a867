"""Runs the tests of the console's modules in Node.js: `*.test.js` beside each module."""

import os
import subprocess
from pathlib import Path

import pytest

import tickover

CONSOLE = Path(tickover.__file__).parent / "console"


@pytest.mark.parametrize("name", sorted(path.relative_to(CONSOLE).as_posix() for path in CONSOLE.rglob("*.test.js")))
def test_module(name: str) -> None:
    # Numbers have the format of the locale.
    environment = {**os.environ, "LC_ALL": "en_US.UTF-8"}
    ran = subprocess.run(
        ["node", "--test", "--test-isolation=none", "--test-reporter=spec", name],
        cwd=CONSOLE, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
