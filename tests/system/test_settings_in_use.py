"""Settings have an effect: a test fails if a value is ignored."""

import asyncio
import json
import re
import select
import socket
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from email.utils import parseaddr
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import asyncpg
import pytest

from tests.support.log_capture import LogCapture
from tests.support.program import Program, code_params, link_params, verify_params, wait_until
from tickover.api.limits import MAX_BODY
from tickover.server.app import TickoverServer
from tickover.server.settings import read_settings

_KEY = "a key of 16 characters or more"
_ORIGIN = "https://app.example.test"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The real program, with values that are not the defaults."""
    folder = tmp_path_factory.mktemp("settings")
    with socket.create_server(("127.0.0.5", 0)) as taken:
        port = taken.getsockname()[1]
    settings = {
        "TICKOVER_HOST": "127.0.0.5",
        "TICKOVER_PORT": str(port),
        "TICKOVER_DATA_DIR": "elsewhere",
        "TICKOVER_DATABASE_URL": f"sqlite:///{folder}/other/place.db",
        "TICKOVER_MAIL_URL": "outbox:",
        "TICKOVER_MAIL_FROM": "Settings <settings@example.test>",
        "TICKOVER_PUBLIC_URL": "https://public.example.test/below",
        "TICKOVER_SECRET_KEY": _KEY,
        "TICKOVER_LOG_LEVEL": "debug",
        "TICKOVER_LOG_FORMAT": "text",
        "TICKOVER_ACCESS_LOG": "on",
        "TICKOVER_ALLOWED_HOSTS": "allowed.example.test",
        "TICKOVER_TRUSTED_PROXIES": "127.0.0.0/8",
        "TICKOVER_CORS_ORIGINS": _ORIGIN,
        "TICKOVER_CLIENT_BURST": "3",
        "TICKOVER_CLIENT_REFILL": "0.001",
        "TICKOVER_RESEND_SECONDS": "7",
        "TICKOVER_ALLOWED_EMAILS": "@example.test, @app.test",
        "TICKOVER_TEST_CODES": "app.test=271828",
        "TICKOVER_METRICS_PORT": "0",
        "TICKOVER_METRICS_HOST": "127.0.0.6",
        "TICKOVER_MAX_CLOCKS_PER_USER": "7",
        "TICKOVER_MAX_BYTES_PER_USER": "5000",
        "TICKOVER_MAX_CONNECTIONS": "70",
        "TICKOVER_MAX_IN_FLIGHT": "1",
        "TICKOVER_KEEP_ALIVE_SECONDS": "2",
    }
    with Program(folder, **settings) as started:
        yield started


def call_from(program: Program, client: str, method: str, params: dict[str, Any]) -> Any:
    """Call as this client of the proxy. Each test uses its own client, because the rate limits are low."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"Content-Type": "application/json", "X-Forwarded-For": client}
    return program.request("POST", "/rpc", body, headers).json


def test_host_and_port_are_used(program: Program) -> None:
    assert program.url == f"http://127.0.0.5:{program.environment['TICKOVER_PORT']}"
    assert program.request("GET", "/healthz").status == 200
    assert program.request("GET", "/metrics").status == 404
    assert "http://127.0.0.6:" in program.output
    assert "tickover_database_up 1\n" in _metrics(program)


def test_data_folder_and_database_url_are_used(program: Program) -> None:
    assert stat.S_IMODE((program.folder / "other" / "place.db").stat().st_mode) == 0o600
    assert [path.name for path in (program.folder / "elsewhere").iterdir()] == ["outbox"]
    assert not (program.folder / ".tickover").exists()


def test_mail_settings_are_used(program: Program) -> None:
    sent = call_from(program, "198.51.100.1", "sendLoginCodeEmail", link_params("ana@example.test"))
    assert sent["result"]["loginUrl"].startswith("https://public.example.test/below/login#")
    assert parseaddr(program.last_email()["From"]) == ("Settings", "settings@example.test")
    refused = call_from(program, "198.51.100.1", "sendLoginCodeEmail", code_params("ana@example.test"))
    assert 1 <= refused["error"]["data"]["retryAfterSeconds"] <= 7
    assert program.request("GET", "/site.json").json == {"mailbox": True, "resendSeconds": 7}


def test_log_settings_are_used(program: Program) -> None:
    program.call("rpc.discover", {})
    assert re.search(r"^\S+ \[debug +\] call ", re.sub(r"\x1b\[[0-9;]*m", "", program.output), re.MULTILINE)
    request_id = program.request("GET", "/healthz?code=123456").headers["x-request-id"]
    [line] = [line for line in program.output.splitlines() if request_id in line]
    assert "/healthz" in line
    assert "123456" not in line


def test_hosts_and_origins_are_used(program: Program) -> None:
    statuses = [
        program.request("GET", "/site.json", headers={"Host": name}).status
        for name in ("allowed.example.test", "other.example.test")
    ]
    assert statuses == [200, 400]
    allowed = program.request("GET", "/rpc", headers={"Origin": _ORIGIN}).headers
    assert allowed["access-control-allow-origin"] == _ORIGIN


def test_trusted_proxies_and_rates_of_clients_are_used(program: Program) -> None:
    for client in ("198.51.100.2", "198.51.100.3"):
        errors = [call_from(program, client, "loginByEmailLink", {"token": "none"})["error"] for _ in range(4)]
        assert [error["data"]["reason"] for error in errors] == ["LOGIN_REFUSED"] * 3 + ["RATE_LIMITED"]
        # One call in a thousand seconds.
        assert 500 < errors[-1]["data"]["retryAfterSeconds"] <= 1000


async def test_database_connections_is_used(tmp_path: Path, postgres_url: str) -> None:
    given = {"data_dir": str(tmp_path), "database_url": postgres_url, "port": "0", "database_connections": "3"}
    server = await TickoverServer.open(read_settings({}, given), LogCapture().log)
    try:
        store: Any = server._store
        assert store._database._pool.get_max_size() == 3
    finally:
        await server.close()


def test_test_codes_are_used_and_not_logged(program: Program) -> None:
    call_from(program, "198.51.100.4", "sendLoginCodeEmail", code_params("ana@app.test"))
    signed_in = call_from(program, "198.51.100.4", "loginByEmailVerification", verify_params("ana@app.test", "271828"))
    assert "token" in signed_in["result"]
    assert "app.test" in program.output
    assert "271828" not in program.output


# Limits


def _sign_in(program: Program, client: str, email: str) -> str:
    call_from(program, client, "sendLoginCodeEmail", code_params(email))
    code = str(program.last_email()["Subject"]).split()[0]
    token: str = call_from(program, client, "loginByEmailVerification", verify_params(email, code))["result"]["token"]
    return token


def _reason(response: Any) -> str:
    reason: str = response["error"]["data"]["reason"] if "error" in response else "OK"
    return reason


@pytest.mark.parametrize(
    ("limit", "client", "item_count", "accepted"),
    [("limit of live clocks (7)", "198.51.100.11", 0, 7), ("limit of 5000 bytes", "198.51.100.12", 100, 1)],
)
def test_limits_of_clocks_and_bytes_are_used(
    program: Program, limit: str, client: str, item_count: int, accepted: int
) -> None:
    token = _sign_in(program, client, f"{client}@example.test")
    item = {"at": "2027-01-02T00:00:00Z", "name": "Rent", "amount": 1, "currency": "EUR", "type": "EXPENSE"}
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [item] * item_count}
    *responses, refused = [program.call("createTestClock", params, token) for _ in range(accepted + 1)]
    assert [_reason(response) for response in responses] == ["OK"] * accepted
    assert limit in refused["error"]["message"]


def test_limit_of_the_body_is_used(program: Program) -> None:
    token = _sign_in(program, "198.51.100.14", "body@example.test")
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "listTestClocks", "params": {}}).encode()
    assert [program.post(call.ljust(size), token).status for size in (MAX_BODY, MAX_BODY + 1)] == [200, 413]


def test_limit_of_connections_is_used(program: Program) -> None:
    place = urlsplit(program.url)
    with ExitStack() as stack:
        connections = (
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=20)) for _ in range(71)
        )
        connected = list(islice(connections, 70))
        assert select.select(connected, [], [], 0)[0] == []
        next(connections)
        assert connected[0].recv(1) == b""
        assert select.select(connected[1:], [], [], 0)[0] == []


def test_idle_connection_is_closed(program: Program) -> None:
    place = urlsplit(program.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {place.hostname}\r\n\r\n".encode())
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        # The default is longer than the timeout.
        assert connection.recv(1) == b""


def test_limit_of_calls_in_flight_is_used_for_rpc_and_the_bank(program: Program) -> None:
    token = _sign_in(program, "198.51.100.13", "busy@example.test")
    id = program.result("createTestClock", {}, token)["clock"]["id"]
    is_full = Event()

    def rename_until_full() -> None:
        while not is_full.is_set():
            program.call("updateTestClock", {"id": id, "name": "Plan"}, token)

    with (
        closing(sqlite3.connect(program.folder / "other" / "place.db", isolation_level=None)) as database,
        ThreadPoolExecutor(4) as threads,
    ):
        # The calls wait for the lock, for some seconds.
        database.execute("begin immediate")
        calls = [threads.submit(rename_until_full) for _ in range(4)]
        try:
            wait_until(lambda: _is_full(program.call("rpc.discover", {})))
            wait_until(lambda: program.request("GET", "/simplefin/info").status == 503)
        finally:
            is_full.set()
            database.execute("rollback")
        for call in calls:
            call.result()
    assert _reason(program.call("rpc.discover", {})) == "OK"
    assert program.request("GET", "/simplefin/info").status == 200


def _send_from_networks(program: Program, email: str) -> list[int]:
    """Send emails from one network after the other, until one can send none. Return how many each network sent."""
    counts: list[int] = []
    while not counts or counts[-1]:
        counts.append(0)
        client = f"203.0.{100 + len(counts)}.1"
        while _reason(call_from(program, client, "sendLoginCodeEmail", code_params(email))) == "OK":
            counts[-1] += 1
            assert counts[-1] < 100, "emails are not limited"
            # Make the email older than the resend interval.
            with closing(sqlite3.connect(program.data / "tickover.db", timeout=60)) as database, database:
                database.execute("update login_emails set sent_at = sent_at - 61000000 where email = ?", (email,))
    return counts


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [10, 10, 10, 0]),
        ({"TICKOVER_SENDS_PER_HOUR": "34", "TICKOVER_SENDS_PER_HOUR_PER_NETWORK": "11"}, [11, 11, 11, 1, 0]),
    ],
    ids=["defaults", "settings"],
)
def test_limits_of_emails_from_a_network_and_in_total_are_used(
    tmp_path: Path, settings: dict[str, str], expected: list[int]
) -> None:
    proxy = {"TICKOVER_TRUSTED_PROXIES": "127.0.0.0/8", "TICKOVER_MAIL_URL": "outbox:"}
    with Program(tmp_path, **proxy, **settings) as program:
        assert _send_from_networks(program, "ana@example.test") == expected


def test_call_does_not_wait_long_for_the_lock_of_another_process(tmp_path: Path) -> None:
    with Program(tmp_path) as program, ThreadPoolExecutor(1) as threads:
        token = program.sign_in()
        with closing(sqlite3.connect(program.data / "tickover.db", isolation_level=None)) as database:
            database.execute("begin immediate")
            call = threads.submit(program.call, "createTestClock", {}, token)
            # It waits for 5 seconds, and many clients for 15.
            refused = call.result(timeout=15)
        assert _reason(refused) == "UNAVAILABLE"
        assert "result" in program.call("createTestClock", {}, token)


async def test_lock_of_another_session_fails_the_statement_before_its_timeout(
    tmp_path: Path, postgres_url: str
) -> None:
    settings = {"TICKOVER_DATABASE_URL": postgres_url, "TICKOVER_METRICS_PORT": "0"}
    with Program(tmp_path, **settings) as program:
        token = program.sign_in()
        clock = program.result("createTestClock", {}, token)["clock"]
        params = {"id": clock["id"], "name": "Plan"}
        session = await asyncpg.connect(postgres_url)
        try:
            async with session.transaction():
                await session.execute("lock table clocks in access exclusive mode")
                refused = await asyncio.to_thread(program.call, "updateTestClock", params, token)
        finally:
            await session.close()
        assert _reason(refused) == "UNAVAILABLE"
        assert 'tickover_database_failures_total{cause="lock"} 1\n' in await asyncio.to_thread(_metrics, program)


def _metrics(program: Program) -> str:
    [url] = re.findall(r"http://[\d.]+:\d+/metrics", program.output)
    with urlopen(url) as response:
        return str(response.read(), "utf-8")


def _is_full(response: Any) -> bool:
    return "error" in response and "too many calls" in response["error"]["message"]
