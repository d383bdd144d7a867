"""Signals to the real program: drain, and the end of its terminal."""

import os
import pty
import signal
from pathlib import Path

import pytest

from tests.support.forked_programs import ForkedProcess
from tests.support.log_capture import LogCapture
from tests.support.program import LAST_BANNER_LINE, Program, wait_until
from tickover.server.app import _GRACE_SECONDS, TickoverServer
from tickover.server.gate import Gate
from tickover.server.settings import read_settings
from tickover.server.sign_in.mail.mailer import MAIL_TIMEOUT_SECONDS


def test_draining_server_serves_and_is_not_ready(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_DRAIN_SECONDS="600") as program:
        token = program.sign_in()
        assert program.request("GET", "/readyz").status == 200
        program.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "draining" in program.output)
        assert program.request("GET", "/readyz").status == 503
        assert program.request("GET", "/healthz").status == 200
        assert program.result("createTestClock", {}, token)["clock"]["status"] == "READY"
        # A second SIGTERM doesn't end the drain. Supervisors may signal a whole process group.
        program.process.send_signal(signal.SIGTERM)
        assert program.request("GET", "/readyz").status == 503
        assert program.stop(signal.SIGINT) == 0
        assert program.output.endswith("Tickover has stopped.\n")


async def test_stopping_server_starts_calls_only_while_an_email_can_still_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds: list[float] = []
    monkeypatch.setattr(Gate, "stop", lambda _, limit: seconds.append(limit))
    settings = read_settings({}, {"data_dir": str(tmp_path), "port": "0"})
    server = await TickoverServer.open(settings, LogCapture().log)
    await server.run(when_ready=server.stop)
    await server.close()
    [limit] = seconds
    assert 0 < limit < _GRACE_SECONDS - MAIL_TIMEOUT_SECONDS


def test_server_stops_with_its_terminal(tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    process = ForkedProcess(("serve", "--port", "0"), tmp_path, {**os.environ}, (end, end, end), has_terminal=True)
    os.close(end)
    try:
        shown = b""
        while LAST_BANNER_LINE.encode() not in shown:
            # Raises OSError if the server ends first.
            shown += os.read(terminal, 4096)
        os.close(terminal)
        process.wait(120)
    finally:
        process.kill()
        process.wait(120)
