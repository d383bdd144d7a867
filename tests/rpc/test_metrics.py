"""Metrics: what is counted, in a form that Prometheus reads, without data of callers."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import apsw
import asyncpg
import pytest

from tests.rpc.bank_client import connect_plaid, connect_simplefin
from tests.rpc.builders import FailingMailer, transaction
from tests.support.emails import make_email
from tests.support.log_capture import LogCapture
from tests.support.metrics import Metrics, parse_metrics, total, value
from tests.support.raw import Client, request, wait_for
from tests.support.world import NOW, World
from tickover.server.app import TickoverServer
from tickover.server.http1.http_server import HttpServer
from tickover.server.metrics import metrics_server
from tickover.server.metrics.measured_mailer import MeasuredMailer
from tickover.server.metrics.metrics_server import DatabaseFacts
from tickover.server.metrics.numbers import SharedNumbers, render
from tickover.server.settings import SettingError, read_settings
from tickover.server.sign_in.mail.mailer import MailOutcomeUnknown, MailRejected
from tickover.server.storage.admin.statistics import Statistics
from tickover.server.storage.postgres import database
from tickover.server.storage.sqlite import writer
from tickover.server.storage.store import Cause, Load, overloaded


def metrics_of(numbers: SharedNumbers) -> Metrics:
    return parse_metrics(render(numbers.read()).decode())


async def test_calls_are_counted_by_method_and_outcome(world: World, token: str) -> None:
    clock = await world.create(token)
    await world.advance(token, clock["id"], clock["frozenTime"])
    await world.error("advanceTestClock", {"id": clock["id"], "frozenTime": "2020-01-01T00:00:00Z"}, token)
    await world.error("createTestClock", {}, "wrong token")
    await world.error("noSuchMethod", {})
    notification = {"jsonrpc": "2.0", "method": "createTestClock", "params": {}}
    await world.post([notification, notification], token)
    found = metrics_of(world.numbers)
    assert value(found, "calls_total", method="createTestClock", outcome="OK") == 3
    assert value(found, "calls_total", method="createTestClock", outcome="UNAUTHENTICATED") == 1
    assert value(found, "calls_total", method="advanceTestClock", outcome="OK") == 1
    assert value(found, "calls_total", method="advanceTestClock", outcome="TIME_BEFORE_CURRENT") == 1
    assert value(found, "calls_total", method="unknown", outcome="METHOD_NOT_FOUND") == 1
    assert value(found, "calls_total", method="deleteTestClock", outcome="OK") == 0
    assert value(found, "call_duration_seconds_count", method="createTestClock") == 4
    assert value(found, "call_duration_seconds_bucket", method="createTestClock", le="+Inf") == 4


async def test_calls_of_bank_clients_are_counted(world: World, token: str) -> None:
    clock = await world.create(token, transactions=[transaction()])
    fault = {"kind": "INTERNAL_ERROR", "from": "2027-01-01T00:00:00Z", "until": "2028-01-01T00:00:00Z"}
    item = await connect_plaid(world, token, clock["id"])
    await item.call("/transactions/sync")
    await item.error("/transactions/sync", cursor="wrong")
    faulty = await connect_plaid(world, token, clock["id"], faults=[fault])
    assert (await faulty.send("/transactions/get", start_date="2027-01-01", end_date="2027-02-01")).status == 500
    simplefin = await connect_simplefin(world, token, clock["id"])
    await simplefin.accounts()
    await simplefin.get(credentials="conn:wrong")
    await item.send("/no/such/path")
    found = metrics_of(world.numbers)
    assert value(found, "calls_total", method="plaid /transactions/sync", outcome="OK") == 1
    assert value(found, "calls_total", method="plaid /transactions/sync", outcome="INVALID_REQUEST") == 1
    assert value(found, "calls_total", method="plaid /transactions/get", outcome="OK") == 1, "the bank simulates it"
    assert value(found, "calls_total", method="simplefin /claim", outcome="OK") == 1
    assert value(found, "calls_total", method="simplefin /accounts", outcome="OK") == 1
    assert value(found, "calls_total", method="simplefin /accounts", outcome="UNAUTHENTICATED") == 1
    assert value(found, "calls_total", method="unknown", outcome="INVALID_REQUEST") == 1
    assert value(found, "call_duration_seconds_count", method="plaid /transactions/sync") == 2


def test_durations_are_counted_in_cumulative_buckets() -> None:
    numbers = SharedNumbers()
    for seconds in (0, 0.0005, 0.00051, 10, 10.001):
        numbers.recorder().record_call("logout", None, seconds)
    found = metrics_of(numbers)
    bounds = ("0.0005", "0.001", "5", "10", "+Inf")
    counts = [value(found, "call_duration_seconds_bucket", method="logout", le=bound) for bound in bounds]
    assert counts == [2, 3, 3, 4, 5]
    assert value(found, "call_duration_seconds_sum", method="logout") == pytest.approx(20.00201)


def test_numbers_of_all_processes_are_summed() -> None:
    numbers = SharedNumbers(3)
    for process in range(3):
        recorder = numbers.recorder(process)
        recorder.record_call("logout", None, 0.5)
        recorder.set("calls_in_flight", value=process)
        recorder.set("sweep_last_success_timestamp_seconds", value=100 + process)
    found = metrics_of(numbers)
    assert value(found, "calls_total", method="logout", outcome="OK") == 3
    assert value(found, "call_duration_seconds_sum", method="logout") == 1.5
    assert value(found, "calls_in_flight") == 0 + 1 + 2
    assert value(found, "sweep_last_success_timestamp_seconds") == 102
    numbers.recorder(2).clear_gauges()
    assert value(metrics_of(numbers), "calls_in_flight") == 1
    # A process that replaces another continues its counts.
    numbers.recorder(2).record_call("logout", None, 0.5)
    assert value(metrics_of(numbers), "calls_total", method="logout", outcome="OK") == 4


async def test_every_gauge_of_a_server_has_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings({}, {"data_dir": str(tmp_path), "port": "0"})
    numbers = SharedNumbers()
    opened = await TickoverServer.open(settings, LogCapture().log, numbers.recorder())
    try:
        monkeypatch.setattr(opened._store, "load", lambda: Load(1, 2, 3))
        monkeypatch.setattr(opened._gate, "in_flight", 4)
        monkeypatch.setattr(HttpServer, "connection_count", 5)
        await opened._publish_gauges()
        opened._on_swept(6)
        opened._on_swept(7)
        opened._gate.count_refusal()
    finally:
        await opened.close()
    found = metrics_of(numbers)
    assert value(found, "database_calls_waiting") == 1
    assert value(found, "database_connections", state="open") == 2
    assert value(found, "database_connections", state="busy") == 3
    assert value(found, "calls_in_flight") == 4
    assert value(found, "http_connections") == 5
    assert value(found, "swept_rows_total") == 13
    assert value(found, "sweep_last_success_timestamp_seconds") > 0
    assert value(found, "requests_rejected_total") == 1


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (apsw.FullError(), "disk_full"),
        (asyncpg.DiskFullError(), "disk_full"),
        (asyncpg.QueryCanceledError(), "timeout"),
        (asyncpg.TooManyConnectionsError(), "too_many_connections"),
        (ConnectionRefusedError(), "connection"),
        (asyncpg.InvalidPasswordError(), "access"),
        (ZeroDivisionError(), "other"),
    ],
)
def test_failure_of_the_database_has_a_cause(failure: BaseException, cause: str) -> None:
    driver = writer if isinstance(failure, apsw.Error) else database
    assert driver.cause_of(failure) == cause
    assert cause in get_args(Cause)


def test_failed_call_counts_the_cause() -> None:
    numbers = SharedNumbers()
    numbers.recorder().record_call("logout", overloaded(), 3.0)
    found = metrics_of(numbers)
    assert value(found, "database_failures_total", cause="overloaded") == 1
    assert total(found, "database_failures_total") == 1
    assert value(found, "calls_total", method="logout", outcome="UNAVAILABLE") == 1


async def test_emails_are_counted_by_outcome() -> None:
    numbers, mailer = SharedNumbers(), FailingMailer()
    measured = MeasuredMailer(mailer, numbers.recorder())
    for mailer.error in (None, MailRejected, MailRejected, MailOutcomeUnknown):
        await asyncio.gather(measured.deliver(make_email()), return_exceptions=True)
    found = metrics_of(numbers)
    assert [value(found, "emails_total", outcome=outcome) for outcome in ("sent", "rejected", "unknown")] == [1, 2, 1]
    assert value(found, "email_duration_seconds_count") == 4


@asynccontextmanager
async def run_metrics_server(published: list[None], facts: DatabaseFacts) -> AsyncIterator[int]:
    """Serve metrics, and yield their port."""
    listener = socket.create_server(("127.0.0.1", 0))

    async def publish() -> None:
        published.append(None)

    async with metrics_server.serve_metrics(listener, SharedNumbers(), publish, facts, LogCapture().log):
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/metrics", 200), ("HEAD", "/metrics", 200), ("POST", "/metrics", 405), ("GET", "/", 404)],
)
async def test_metrics_are_served_at_one_path(
    facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch, method: str, path: str, status: int
) -> None:
    monkeypatch.setattr(facts, "find_statistics", lambda: asyncio.sleep(0))
    async with run_metrics_server([], facts) as port, Client.connect(port) as client:
        await client.send(request(method, path, "Connection: close"))
        head, _, body = (await client.read_to_end()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert (b"tickover_database_up 1\n" in body) is (status == 200 and method == "GET")
    assert (body == b"") is (method == "HEAD")


@pytest.mark.parametrize(("host", "status"), [("localhost", 200), ("[::1]:9100", 200), ("rebound.example", 400)])
async def test_metrics_of_this_machine_need_its_name(
    facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch, host: str, status: int
) -> None:
    monkeypatch.setattr(facts, "find_statistics", lambda: asyncio.sleep(0))
    async with run_metrics_server([], facts) as port, Client.connect(port) as client:
        await client.send(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert (await client.read_to_end()).startswith(b"HTTP/1.1 %d " % status)


async def test_gauges_are_current_when_prometheus_asks(facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "find_statistics", lambda: asyncio.sleep(0))
    monkeypatch.setattr(metrics_server, "_GAUGE_SECONDS", 3600)
    published: list[None] = []
    async with run_metrics_server(published, facts) as port, Client.connect(port) as client:
        await wait_for(lambda: published)
        assert (await client.request(request("GET", "/metrics"))).status == 200
        assert len(published) == 2


async def test_gauges_are_published_for_other_workers(facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prometheus may ask another worker. Until it asks this one, the statistics of the database aren't read."""
    monkeypatch.setattr(metrics_server, "_GAUGE_SECONDS", 0)
    reads: list[object] = []
    monkeypatch.setattr(metrics_server, "read_statistics", lambda *_: reads.append(None))
    published: list[None] = []
    async with run_metrics_server(published, facts):
        await wait_for(lambda: len(published) > 2)
    assert reads == []


@pytest.fixture
def facts(tmp_path: Path) -> DatabaseFacts:
    async def ping() -> None:
        await asyncio.sleep(0)

    return DatabaseFacts("postgresql://127.0.0.1/t", tmp_path, ping, lambda: NOW)


async def read_facts(facts: DatabaseFacts) -> Metrics:
    return parse_metrics(render([fact async for fact in facts.read()]).decode())


async def test_failed_read_leaves_no_stale_statistics(facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[Statistics | None] = [Statistics(6, 1, {}), None, Statistics(6, 2, {})]

    async def read(*_: object) -> Statistics:
        if (found := results.pop(0)) is None:
            raise SettingError("remaining connection slots are reserved")
        return found

    monkeypatch.setattr(metrics_server, "read_statistics", read)
    monkeypatch.setattr(metrics_server, "_STATISTICS_SECONDS", 0)
    for size in (1, None, 2):
        assert (await read_facts(facts)).get(("tickover_database_bytes", frozenset())) == size


async def test_database_that_is_down_has_no_statistics(facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise overloaded()

    statistics = Statistics(6, 4096, {"users": 2}, -0.25)
    monkeypatch.setattr(facts, "find_statistics", lambda: asyncio.sleep(0, statistics))
    assert value(await read_facts(facts), "clock_skew_seconds") == -0.25
    monkeypatch.setattr(facts, "_ping", fail)
    found = await read_facts(facts)
    assert value(found, "database_up") == 0
    assert ("tickover_database_bytes", frozenset()) not in found


async def test_slow_statistics_are_read_once_and_the_previous_ones_served(
    facts: DatabaseFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = asyncio.Event()
    reads = []

    async def read(*_: object) -> Statistics:
        reads.append(1)
        if len(reads) > 1:
            await released.wait()
        return Statistics(6, len(reads), {})

    monkeypatch.setattr(metrics_server, "read_statistics", read)
    monkeypatch.setattr(metrics_server, "_STATISTICS_SECONDS", 0)
    first = await facts.find_statistics()
    assert first == Statistics(6, 1, {})
    monkeypatch.setattr(metrics_server, "_STATISTICS_WAIT_SECONDS", 0)
    assert [await facts.find_statistics() for _ in range(3)] == [first] * 3
    released.set()
    monkeypatch.setattr(metrics_server, "_STATISTICS_SECONDS", 60)
    monkeypatch.setattr(metrics_server, "_STATISTICS_WAIT_SECONDS", 5)
    assert [await facts.find_statistics() for _ in range(2)] == [Statistics(6, 2, {})] * 2
    assert len(reads) == 2
