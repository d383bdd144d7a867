"""The log of the real program: start, stop, rejected calls, sweep and outages of the database."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import pytest

import tickover
from tests.support.program import Program, code_params, verify_params, wait_until
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


def test_sweep_of_every_kind_of_row_is_logged(tmp_path: Path) -> None:
    database = tmp_path / ".tickover" / "tickover.db"
    with Program(tmp_path) as program:
        body = b'{"jsonrpc":"2.0","id":1,"method":"createTestClock","params":{}}'
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {program.sign_in()}"}
        assert program.request("POST", "/rpc", body, {**headers, "Idempotency-Key": "one"}).status == 200
        program.stop()
        planted = _make_everything_expire(database)
        program.start()
        wait_until(lambda: "swept" in events_of(program))
        program.stop()
        [rows] = [line["rows"] for line in log_of(program) if line["event"] == "swept"]
    assert planted == 5
    assert rows == planted
    assert _expiring_rows(apsw.Connection(str(database))) == 0


@pytest.mark.parametrize("noticed_by", ["call", "readiness"])
def test_lost_database_is_logged_and_so_is_its_return(tmp_path: Path, postgres_url: str, noticed_by: str) -> None:
    port = urlsplit(postgres_url).port
    assert port
    with Proxy(port) as proxy, Program(tmp_path, TICKOVER_DATABASE_URL=proxy.lead(postgres_url)) as program:
        token = program.sign_in()
        proxy.hold()
        if noticed_by == "call":
            assert program.call("createTestClock", {}, token)["error"]["data"]["reason"] == "UNAVAILABLE"
        else:
            assert program.request("GET", "/readyz").status == 503
        wait_until(lambda: "database lost" in events_of(program))
        proxy.let_go()
        wait_until(lambda: "database back" in events_of(program))
        assert program.request("GET", "/readyz").status == 200
        states = [event for event in events_of(program) if event.startswith("database ")]
        assert states == ["database lost", "database back"]
