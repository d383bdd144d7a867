"""Tests of closed and full standard streams. None of them may print a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shells import Result, Shell

FULL = Path("/dev/full")


@pytest.fixture
def clock(shell: Shell) -> str:
    return str(shell("clock", "create", "--json").json["id"])


def run_in_sh(shell: Shell, command: str, **variables: str) -> Result:
    """Run a command with redirections in sh."""
    result = subprocess.run(
        ["sh", "-c", f'"$0" -m tickover {command}', sys.executable],
        env=shell.environment(**variables), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return Result(result.returncode, result.stdout, result.stderr)


@pytest.mark.parametrize("command", ["clock list --json", "clock delete --yes", "--help"])
def test_closed_stdout_is_ignored(shell: Shell, clock: str, command: str) -> None:
    assert run_in_sh(shell, f"{command} >&-") == (0, "", "")
    assert (shell.clock == "") == command.startswith("clock delete")


def test_closed_stdin_is_empty(shell: Shell, clock: str) -> None:
    result = run_in_sh(shell, "clock create --params - <&-")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("tickover: The parameters aren't valid JSON")
    assert run_in_sh(shell, "clock delete --yes <&-") == (0, f"✓ Deleted {clock}\n", "")


def test_unreadable_stdin_is_reported(shell: Shell) -> None:
    result = run_in_sh(shell, "clock create --params - 0> /dev/null")
    assert result == (2, "", "tickover: Can't read the parameters: Bad file descriptor.\n")


@pytest.mark.parametrize("streams", ["2>&-", "<&- >&- 2>&-"])
def test_closed_stderr_keeps_the_exit_code(shell: Shell, clock: str, streams: str) -> None:
    assert run_in_sh(shell, f"clock show zzzz {streams}") == (5, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "unbuffered"), [("clock list", ""), ("clock list", "1"), ("clock show --json", ""), ("--help", "1")]
)
def test_full_disk_is_reported(shell: Shell, clock: str, command: str, unbuffered: str) -> None:
    result = run_in_sh(shell, f"{command} > {FULL}", PYTHONUNBUFFERED=unbuffered)
    message = f"Can't write to standard output: {os.strerror(errno.ENOSPC)}."
    if "--json" in command:
        assert (result.code, result.error["message"], result.error["reason"]) == (1, message, "UNEXPECTED")
    else:
        assert result == (1, "", f"tickover: {message}\n")


def test_read_only_stdout_is_reported(shell: Shell) -> None:
    message = f"tickover: Can't write to standard output: {os.strerror(errno.EBADF)}.\n"
    assert run_in_sh(shell, "scenarios 1< /dev/null") == (1, "", message)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_full_stderr_keeps_the_exit_code(shell: Shell, clock: str, tmp_path: Path) -> None:
    assert run_in_sh(shell, f"clock show zzzz 2> {FULL}") == (5, "", "")
    # A note that can't be written doesn't fail the command.
    (tmp_path / "file").touch()
    elsewhere = {"TICKOVER_TOKEN": shell.token, "XDG_CONFIG_HOME": str(tmp_path / "file")}
    assert run_in_sh(shell, "clock create", **elsewhere).err.startswith("Can't save this clock as the default. ")
    result = run_in_sh(shell, f"clock create 2> {FULL}", **elsewhere)
    assert (result.code, result.out.startswith("  ✓ Created clock_")) == (0, True)
