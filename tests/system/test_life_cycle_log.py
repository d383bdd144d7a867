"""The log of the real program: start, stop, rejected calls, sweep and outages of the database."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import apsw
import pytest

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


@pytest.fixture(scope="module")
def stopped_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A program that has rejected a few calls and stopped."""
    with Program(tmp_path_factory.mktemp("log")) as program:
        token = program.sign_in()
        body = b'{"jsonrpc":"2.0","id":1,"method":"createTestClock","params":{}}'
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Idempotency-Key": "one"}
        assert program.request("POST", "/rpc", body, headers).status == 200
        code = program.send_code("ben@example.test")
        wrong = "000000" if code != "000000" else "000001"
        for _ in range(3):
            program.call("loginByEmailVerification", verify_params("ben@example.test", wrong))
        program.batch("getTestClock", [{"id": "clock_x"}] * 2)
        program.call("sendLoginCodeEmail", code_params("ben@example.test"))
        program.call("getTestClock", {"id": "clock_x"}, token)
        assert program.stop() == 0
        yield program


def test_start_rejected_calls_and_stop_are_logged_in_order(stopped_program: Program) -> None:
    started, stopping, refused, stopped = log_of(stopped_program)[:4]
    schema = len(list((Path(tickover.__file__).parent / "server" / "storage" / "schema" / "sqlite").iterdir()))
    assert without_time(started) == {
        "event": "started",
        "level": "info",
        "version": tickover.__version__,
        "address": stopped_program.url,
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


def _make_everything_expire(database: Path) -> int:
    connection = apsw.Connection(str(database))
    connection.execute(
        """update tokens set expires_at = 1;
           update login_sends set sent_at = 1 where email != '';
           update clocks set key = zeroblob(16);
           update schedules set clock_key = zeroblob(16);
           update creations set clock_key = zeroblob(16)"""
    )
    return _expiring_rows(connection)


def _expiring_rows(connection: apsw.Connection) -> int:
    counts = [f"select count(*) as rows from {table}" for table in ("tokens", "clocks", "schedules", "creations")] + [
        "select count(*) from login_sends where email != ''"
    ]
    try:
        return int(connection.execute(f"select sum(rows) from ({' union all '.join(counts)})").get)
    finally:
        connection.close()


def test_sweep_of_every_kind_of_row_is_logged(stopped_program: Program) -> None:
    database = stopped_program.data / "tickover.db"
    planted = _make_everything_expire(database)
    stopped_program.start()
    wait_until(lambda: "swept" in events_of(stopped_program))
    stopped_program.stop()
    [rows] = [line["rows"] for line in log_of(stopped_program) if line["event"] == "swept"]
    # A token, two emails, a clock, its schedule and its idempotency record.
    assert rows == planted == 6
    assert _expiring_rows(apsw.Connection(str(database))) == 0


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
