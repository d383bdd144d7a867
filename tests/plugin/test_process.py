"""The private server's process: when it is ready, when it is not, and that it ends."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tickover.pytest_plugin.process import running


def program(*lines: str) -> tuple[str, ...]:
    """What stands in for a server that behaves badly."""
    return (sys.executable, "-c", "\n".join(lines))


READY = 'print(\'{"url": "http://127.0.0.1:1"}\', flush=True)'


def test_it_is_ready_once_it_has_told_its_url_and_ends_with_its_input(tmp_path: Path) -> None:
    command = program(READY, "import sys", "sys.stdin.read()", "open('ended', 'w').close()")
    with running(tmp_path, command) as process:
        assert process.ending() == ""
        assert process.url == "http://127.0.0.1:1"
        assert not (tmp_path / "ended").exists()
    assert (tmp_path / "ended").exists()


def test_settings_of_the_user_do_not_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKOVER_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("TICKOVER_DATABASE_URL", "postgresql://somewhere")
    monkeypatch.setenv("TICKOVER_RESEND_SECONDS", "60")
    with running(tmp_path, program("import os", "open('env', 'w').write(repr(dict(os.environ)))", READY, "input()")):
        environment = (tmp_path / "env").read_text()
    assert "TICKOVER_URL" not in environment
    assert "postgresql" not in environment
    assert "'TICKOVER_RESEND_SECONDS': '1'" in environment


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("import sys", "sys.exit('Full.')"), ", but ended with exit code 1.\nIts last output:\nFull."),
        (("print('Usage')", "raise SystemExit(2)"), ", but ended with exit code 2.\nIts last output:\nUsage"),
        (("print('[1]')",), ", but ended with exit code 0.\nIts last output:\n[1]"),
        (("pass",), ", but ended with exit code 0.\nIt has printed nothing."),
        (("print('hello', flush=True)", "input()"), ".\nIts last output:\nhello"),
    ],
    ids=["tells why", "tells on stdout", "tells other JSON", "tells nothing", "tells something else and lives"],
)
def test_a_server_that_does_not_start_is_told_of_with_its_output(
    lines: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    with pytest.raises(pytest.fail.Exception) as problem, running(tmp_path, program(*lines)):
        pass
    assert str(problem.value) == f"The Tickover server did not start{told}"


def test_a_server_that_is_not_ready_in_time_is_ended(tmp_path: Path) -> None:
    command = program("import os, sys", "open('pid', 'w').write(str(os.getpid()))", "sys.stdin.read()")
    with pytest.raises(pytest.fail.Exception, match=r"not ready within 0\.5 seconds"), running(tmp_path, command, 0.5):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_server_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    command = program("import os, time", "open('pid', 'w').write(str(os.getpid()))", READY, "time.sleep(60)")
    with running(tmp_path, command, stop_seconds=0.1):
        pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_server_that_was_killed_is_told_of_with_its_last_output(tmp_path: Path) -> None:
    command = program("import os, sys", "print('x' * 9000, os.getpid(), file=sys.stderr, flush=True)", READY, "input()")
    with running(tmp_path, command) as process:
        pid = int((tmp_path / "output.txt").read_text().split()[-1])
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        told = process.ending()
    assert re.search(rf"has ended with exit code -9.\nIts last output:\nx+ {pid}$", told)
    assert len(told) < 5000


def test_an_interrupt_in_the_terminal_is_not_for_the_server(tmp_path: Path) -> None:
    """A Ctrl-C goes to all processes of the terminal's foreground group."""
    command = program("import os", "open('group', 'w').write(str(os.getpgrp()))", READY, "input()")
    with running(tmp_path, command):
        assert int((tmp_path / "group").read_text()) != os.getpgrp()
