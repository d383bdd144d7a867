"""Tests of closed and full standard output. Neither may print a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pytest

from tests.support.forked_programs import ForkedProcess, open_dev_null
from tests.system.shells import Result, Shell

FULL = Path("/dev/full")


@pytest.fixture
def clock(shell: Shell) -> str:
    return str(shell("clock", "create", "--json").json["id"])


def run_in_sh(shell: Shell, command: str, **variables: str) -> Result:
    """Run a command with redirections in sh, in a new Python."""
    result = subprocess.run(
        ["sh", "-c", f'"$0" -m tickover {command}', sys.executable],
        env=shell.environment(**variables), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return Result(result.returncode, result.stdout, result.stderr)


def run_with(shell: Shell, command: str, streams: dict[int, IO[bytes] | None], **variables: str) -> Result:
    """Run a command with other standard streams. None is a closed one."""
    with open_dev_null() as dev_null, TemporaryFile() as out, TemporaryFile() as err:
        opened = [{0: dev_null, 1: out, 2: err, **streams}[number] for number in range(3)]
        numbers = [None if stream is None else stream.fileno() for stream in opened]
        code = ForkedProcess(command.split(), Path.cwd(), shell.environment(**variables), numbers).wait(60)
        out.seek(0)
        err.seek(0)
        return Result(code, out.read().decode(), err.read().decode())


@pytest.mark.parametrize("command", ["clock delete --yes", "--help"])
def test_closed_stdout_is_ignored(shell: Shell, clock: str, command: str) -> None:
    assert run_with(shell, command, {1: None}) == (0, "", "")
    assert (shell.clock == "") == command.startswith("clock delete")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_full_disk_is_reported(shell: Shell, clock: str) -> None:
    message = f"Can't write to standard output: {os.strerror(errno.ENOSPC)}."
    with FULL.open("wb", buffering=0) as full:
        assert run_with(shell, "clock list", {1: full}) == (1, "", f"tickover: {message}\n")
        result = run_with(shell, "clock show --json", {1: full})
    assert (result.code, result.error["message"], result.error["reason"]) == (1, message, "UNEXPECTED")
    unbuffered = run_in_sh(shell, f"--help > {FULL}", PYTHONUNBUFFERED="1")
    assert unbuffered == (1, "", f"tickover: {message}\n")
