"""The process of the private server: start, stop and failures."""

import os
import sys
from pathlib import Path

import pytest

from tickover.pytest_plugin.process import run_server


def program(*lines: str) -> tuple[str, ...]:
    """Return the command of a Python program that replaces the server."""
    return (sys.executable, "-c", "\n".join(lines))


READY = 'print(\'{"url": "http://127.0.0.1:1"}\', flush=True)'


def test_the_server_is_ready_when_it_prints_its_url_and_stops_when_its_input_closes(tmp_path: Path) -> None:
    command = program(READY, "import sys", "sys.stdin.read()", "open('ended', 'w').close()")
    with run_server(tmp_path, command) as process:
        assert process.exit_message() == ""
        assert process.url == "http://127.0.0.1:1"
        assert not (tmp_path / "ended").exists()
    assert (tmp_path / "ended").exists()


def test_environment_settings_do_not_reach_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKOVER_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("TICKOVER_DATABASE_URL", "postgresql://somewhere")
    monkeypatch.setenv("TICKOVER_RESEND_SECONDS", "60")
    with run_server(tmp_path, program("import os", "open('env', 'w').write(repr(dict(os.environ)))", READY, "input()")):
        environment = (tmp_path / "env").read_text()
    assert "TICKOVER_URL" not in environment
    assert "postgresql" not in environment
    assert "'TICKOVER_RESEND_SECONDS': '1'" in environment


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("import sys", "sys.exit('Full.')"), ": it exited with code 1.\nLast output:\nFull."),
        (("print('[1]')",), ": it exited with code 0.\nLast output:\n[1]"),
        (("pass",), ": it exited with code 0.\nIt printed nothing."),
        (("print('hello', flush=True)", "input()"), ".\nLast output:\nhello"),
    ],
)
def test_a_server_that_does_not_start_is_reported_with_its_output(
    lines: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(pytest.fail.Exception) as caught, run_server(tmp_path, program(*lines)):
        pass
    assert str(caught.value) == f"The Tickover server didn't start{message}"


@pytest.mark.parametrize("beginning", ["", "print('{', end='', flush=True)"])
def test_a_server_that_is_not_ready_in_time_is_stopped(tmp_path: Path, beginning: str) -> None:
    command = program("import os, sys", "open('pid', 'w').write(str(os.getpid()))", beginning, "sys.stdin.read()")
    with (
        pytest.raises(pytest.fail.Exception, match=r"not ready within 0\.5 seconds"),
        run_server(tmp_path, command, 0.5),
    ):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_server_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    command = program("import os, time", "open('pid', 'w').write(str(os.getpid()))", READY, "time.sleep(60)")
    with run_server(tmp_path, command, stop_seconds=0.1):
        pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_ctrl_c_does_not_reach_the_server(tmp_path: Path) -> None:
    """Ctrl-C signals the terminal's foreground process group."""
    command = program("import os", "open('group', 'w').write(str(os.getpgrp()))", READY, "input()")
    with run_server(tmp_path, command):
        assert int((tmp_path / "group").read_text()) != os.getpgrp()
