"""`tickover clock follow`: a program under libfaketime is at the clock's time."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.debian_packages import require
from tests.support.program import Program, wait_until
from tests.system.shells import Shell


def libfaketime() -> str | None:
    return next((str(file) for file in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


@pytest.fixture
def library() -> str:
    return require(libfaketime, "libfaketime")


def test_time_of_a_program_moves_with_the_clock(program: Program, tmp_path: Path, library: str) -> None:
    token = program.sign_in("follow@example.test")
    id = program.result("createTestClock", {"frozenTime": "2027-01-31T22:30:00Z"}, token)["clock"]["id"]
    command = [sys.executable, "-m", "tickover", "clock", "follow", id, "--faketime", str(tmp_path / "my time")]
    environment = Shell(tmp_path, program.url).environment(TICKOVER_TOKEN=token)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        export, *variables = shlex.split(process.stdout.readline())
        assert export == "export"
        settings = dict(variable.split("=", 1) for variable in variables)

        def date(zone: str = "UTC") -> str:
            faked = {**os.environ, **settings, "LD_PRELOAD": library, "TZ": zone}
            return subprocess.run(["date", "+%F %T"], env=faked, capture_output=True, text=True, check=True).stdout

        assert date() == "2027-01-31 22:30:00\n"
        assert date("Europe/Berlin") == "2027-01-31 23:30:00\n"
        program.result("advanceTestClock", {"id": id, "frozenTime": "2027-03-01T00:00:00Z"}, token)
        wait_until(lambda: date() == "2027-03-01 00:00:00\n")
        process.terminate()
    assert [file.name for file in tmp_path.iterdir() if "time" in file.name] == ["my time"]


def test_file_that_cannot_be_written_is_an_error(shell: Shell) -> None:
    shell("clock", "create", "salary-and-rent", "--from", "2027-01-01")
    result = shell("clock", "follow", "--faketime", "/nowhere/time")
    assert (result.code, result.out) == (2, "")
    assert "Can't write '/nowhere/time': No such file or directory." in result.err
