"""The log of the real program: start, rejected calls and stop."""

import json
from pathlib import Path
from typing import Any

import tickover
from tests.support.program import Program, code_params, verify_params


def log_of(program: Program) -> list[dict[str, Any]]:
    """Return the lines of the log, without the banner and printed emails."""
    return [json.loads(line) for line in program.output.splitlines() if line.startswith("{")]


def without_time(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "timestamp"}


def test_start_rejected_calls_and_stop_are_logged_in_order(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in()
        code = program.send_code("ben@example.test")
        wrong = "000000" if code != "000000" else "000001"
        for _ in range(3):
            program.call("loginByEmailVerification", verify_params("ben@example.test", wrong))
        program.batch("getTestClock", [{"id": "clock_x"}] * 2)
        program.call("sendLoginCodeEmail", code_params("ben@example.test"))
        program.call("getTestClock", {"id": "clock_x"}, token)
        assert program.stop() == 0
    started, stopping, refused, stopped = log_of(program)
    schema = len(list((Path(tickover.__file__).parent / "server" / "storage" / "schema" / "sqlite").iterdir()))
    assert without_time(started) == {
        "event": "started",
        "level": "info",
        "version": tickover.__version__,
        "address": program.url,
        "database": "sqlite:///.tickover/tickover.db",
        "schema_version": schema,
    }
    assert without_time(stopping) == {"event": "stopping", "level": "info"}
    assert without_time(refused) == {
        "event": "calls rejected",
        "level": "info",
        "login_refused": 3,
        "unauthenticated": 2,
        "resend_too_soon": 1,
    }
    assert without_time(stopped) == {"event": "stopped", "level": "info"}
