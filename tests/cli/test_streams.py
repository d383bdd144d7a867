"""Standard streams that are closed or full: nobody is shown a traceback for it."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shells import Ran, Shell

FULL = Path("/dev/full")


@pytest.fixture
def clock(shell: Shell) -> str:
    return str(shell("clock", "create", "--json").json["id"])


def in_sh(shell: Shell, command: str, **variables: str) -> Ran:
    """What a command of the shell itself says, with its redirections."""
    ran = subprocess.run(
        ["sh", "-c", f'"$0" -m tickover {command}', sys.executable],
        env=shell.environment(**variables), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("command", ["clock list", "clock list --json", "clock delete --yes", "--help"])
def test_without_standard_output_all_is_done_and_nothing_said(shell: Shell, clock: str, command: str) -> None:
    assert in_sh(shell, f"{command} >&-") == (0, "", "")
    assert (shell.clock == "") == command.startswith("clock delete")


def test_without_standard_input_nobody_is_asked(shell: Shell, clock: str) -> None:
    ran = in_sh(shell, "clock create --params - <&-")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tickover: The parameters are no JSON")
    assert in_sh(shell, "clock delete <&-") == (0, f"✓ Deleted {clock}\n", "")


def test_standard_input_that_cannot_be_read_is_said(shell: Shell) -> None:
    ran = in_sh(shell, "clock create --params - 0> /dev/null")
    assert ran == (2, "", "tickover: The parameters cannot be read: Bad file descriptor.\n")


@pytest.mark.parametrize("streams", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_without_standard_error_the_exit_code_says_it(shell: Shell, clock: str, streams: str) -> None:
    assert in_sh(shell, f"clock show zzzz {streams}") == (5, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no file that is always full")
@pytest.mark.parametrize("command", ["clock list", "clock show --json", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(shell: Shell, clock: str, command: str, unbuffered: str) -> None:
    ran = in_sh(shell, f"{command} > {FULL}", PYTHONUNBUFFERED=unbuffered)
    said = f"Standard output cannot be written: {os.strerror(errno.ENOSPC)}."
    if "--json" in command:
        assert (ran.code, ran.error["message"], ran.error["reason"]) == (1, said, "UNEXPECTED")
    else:
        assert ran == (1, "", f"tickover: {said}\n")


def test_standard_output_that_can_only_be_read_is_one_sentence(shell: Shell) -> None:
    said = f"tickover: Standard output cannot be written: {os.strerror(errno.EBADF)}.\n"
    assert in_sh(shell, "scenarios 1< /dev/null") == (1, "", said)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no file that is always full")
def test_where_nothing_can_be_said_the_exit_code_stays(shell: Shell, clock: str, tmp_path: Path) -> None:
    assert in_sh(shell, f"clock show zzzz 2> {FULL}") == (5, "", "")
    # Remarks are beside what is asked for, which is done all the same.
    (tmp_path / "file").touch()
    elsewhere = {"TICKOVER_TOKEN": shell.token, "XDG_CONFIG_HOME": str(tmp_path / "file")}
    assert in_sh(shell, "clock create", **elsewhere).err.startswith("The clock is not remembered: ")
    ran = in_sh(shell, f"clock create 2> {FULL}", **elsewhere)
    assert (ran.code, ran.out.startswith("  ✓ Created clock_")) == (0, True)
