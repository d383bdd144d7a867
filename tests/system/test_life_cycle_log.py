"""The log of the real program: start, stop, rejected calls, sweep and outages of the database."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import tickover
from tests.support.program import SHORT_TIMEOUTS, Program, code_params, verify_params, wait_until
from tests.support.proxy import Proxy


def log_of(program: Program) -> list[dict[str, Any]]:
    """Return the lines of the log, without the banner and printed emails."""
    return [json.loads(line) for line in program.output.splitlines() if line.startswith("{")]


def events_of(program: Program) -> list[str]:
    return [line["event"] for line in log_of(program)]


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


def test_lost_database_is_logged_and_so_is_its_return(tmp_path: Path, postgres_url: str) -> None:
    port = urlsplit(postgres_url).port
    assert port
    with Proxy(port) as proxy, _impatient_program(tmp_path, proxy.url_of(postgres_url)) as program:
        program.sign_in()
        [metrics] = {line["metrics"] for line in log_of(program) if line["event"] == "started"}
        assert b"tickover_database_up 1" in _read(metrics)
        for noticed_by in ("readiness", "metrics"):
            proxy.hold()
            if noticed_by == "readiness":
                wait_until(lambda: program.request("GET", "/readyz").status == 503)
            else:
                # Prometheus reads the metrics again and again. A read within a second of a write doesn't notice.
                wait_until(lambda: _read(metrics) and _database_states(program)[-1:] == ["database lost"])
            wait_until(lambda: _database_states(program)[-1:] == ["database lost"])
            proxy.release()
            wait_until(lambda: _database_states(program)[-1:] == ["database back"])
            assert program.request("GET", "/readyz").status == 200
        assert _database_states(program) == ["database lost", "database back"] * 2


def _read(url: str) -> bytes:
    with urlopen(url) as response:
        content: bytes = response.read()
    return content


def _impatient_program(folder: Path, url: str) -> Program:
    program = Program(folder, TICKOVER_DATABASE_URL=url, TICKOVER_METRICS_PORT="0")
    program.script = SHORT_TIMEOUTS
    return program


def _database_states(program: Program) -> list[str]:
    return [event for event in events_of(program) if event.startswith("database ")]
