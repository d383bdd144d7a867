"""Failures of PostgreSQL while callers write: no confirmed write is lost, and no restart is needed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.support.clock_writer import PAUSE_SECONDS, is_unavailable
from tests.support.connections import open_connections
from tests.support.load import Load, until
from tests.support.postgres import PostgresServer, synchronous_standby
from tests.support.program import SHORT_TIMEOUTS, wait_until
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_WRITERS = 8
_VISITORS = 2
_CONNECTIONS = 2
# Lock only the parent, because locking partitions one by one could deadlock with callers.
_LOCK = "lock table only clocks in access exclusive mode"
_WAITING = "select pid from pg_locks where not granted"
_END_SESSIONS = """
    select pg_stat_clear_snapshot();
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tickover'"""


@pytest.fixture(scope="module")
def proxy(own_postgres: PostgresServer) -> Iterator[Proxy]:
    with Proxy(own_postgres.port) as opened:
        yield opened


@pytest.fixture(scope="module")
def replicas(
    tmp_path_factory: pytest.TempPathFactory, own_postgres: PostgresServer, proxy: Proxy
) -> Iterator[Replicas]:
    """One server that survives all faults of this module."""
    folder = tmp_path_factory.mktemp("faults")
    limit = {"TICKOVER_DATABASE_CONNECTIONS": str(_CONNECTIONS)}
    with Replicas(folder, own_postgres, 1, proxy.lead, script=SHORT_TIMEOUTS, **limit) as started:
        yield started
        started.stop()


@pytest.fixture
def load(replicas: Replicas) -> Load:
    return Load(replicas, PAUSE_SECONDS, stops_replicas=False)


async def test_database_crash_and_restart(own_postgres: PostgresServer, load: Load) -> None:
    async with load.of(_WRITERS, _VISITORS):
        await load.succeed(50)
        own_postgres.stop("immediate")
        await load.be_rejected(20)
        await load.until_readiness_is(503)
        await asyncio.to_thread(own_postgres.start)
        await load.until_readiness_is(200)
        await load.succeed(50)


@asynccontextmanager
async def _somebody(replicas: Replicas) -> AsyncIterator[asyncpg.Connection]:
    """A session of a superuser."""
    session = await asyncpg.connect(replicas.server.url(replicas.database, "postgres"))
    try:
        yield session
    finally:
        await session.close()


async def test_terminated_connections(replicas: Replicas, load: Load) -> None:
    async with _somebody(replicas) as somebody, load.of(_WRITERS, _VISITORS):
        for _ in range(3):
            await load.succeed(5)
            await somebody.execute(_END_SESSIONS)
            await load.succeed(5)
            async with somebody.transaction():
                await somebody.execute(_LOCK)
                await until(lambda: somebody.fetch(_WAITING))
                await somebody.execute(_END_SESSIONS)
        await load.until_readiness_is(200)
        await load.succeed(50)
    assert load.writer.rejections >= 3


async def test_exhausted_connection_pool(replicas: Replicas, load: Load) -> None:
    # Calls that may wait for a lock, such as amendments, leave a connection to other calls.
    load.writer.amends = False
    async with _somebody(replicas) as somebody, load.of(_WRITERS, _VISITORS):
        await load.succeed(50)
        async with somebody.transaction():
            await somebody.execute(_LOCK)
            await load.until_readiness_is(503)
            await load.be_rejected(_WRITERS)
        await load.until_readiness_is(200)
        await load.succeed(50)


async def test_network_without_packets(proxy: Proxy, load: Load) -> None:
    async with load.of(_WRITERS, _VISITORS):
        await load.succeed(50)
        proxy.hold()
        await load.until_readiness_is(503)
        await load.be_rejected(_WRITERS)
        proxy.release()
        await load.until_readiness_is(200)
        await load.succeed(50)


async def test_read_only_database(own_postgres: PostgresServer, load: Load) -> None:
    async with load.of(_WRITERS, _VISITORS):
        await load.succeed(50)
        own_postgres.configure(default_transaction_read_only="on")
        await load.be_rejected(20)
        await load.until_readiness_is(503)
        own_postgres.configure(default_transaction_read_only="off")
        await load.until_readiness_is(200)
        await load.succeed(50)


async def test_standby_returns_after_an_outage(own_postgres: PostgresServer, replicas: Replicas, load: Load) -> None:
    """Commits without the standby are not confirmed, and waiting calls don't accumulate."""
    with synchronous_standby(own_postgres, "returning") as standby:
        async with load.of(_WRITERS, _VISITORS):
            await load.succeed(50)
            standby.stop()
            await load.until_readiness_is(503)
            await load.be_rejected(20)
            await asyncio.to_thread(wait_until, lambda: len(replicas.sessions()) <= 2 * _CONNECTIONS)
            await asyncio.to_thread(standby.start)
            await load.until_readiness_is(200)
            await load.succeed(50)


async def test_pending_calls_get_a_response_at_the_stop_if_the_database_is_silent(
    tmp_path: Path, own_postgres: PostgresServer
) -> None:
    with (
        Proxy(own_postgres.port) as proxy,
        Replicas(tmp_path, own_postgres, 1, proxy.lead, script=SHORT_TIMEOUTS) as replicas,
    ):
        program = replicas.programs[0]
        token = program.sign_in()
        clock = program.result("createTestClock", {}, token)["clock"]
        async with open_connections(program.url, _WRITERS, token) as connections:
            proxy.hold()
            # All calls use one clock, so that each waits for the previous one.
            for connection in connections:
                connection.send("advanceTestClock", {"id": clock["id"], "frozenTime": clock["frozenTime"]})
            # The server has read all earlier calls.
            assert program.request("GET", "/healthz").status == 200
            program.process.send_signal(signal.SIGTERM)
            responses = await asyncio.gather(*(connection.receive() for connection in connections))
        assert [is_unavailable(response) for response in responses] == [True] * _WRITERS
        assert program.process.wait(120) == 0
        assert "Traceback" not in program.output
