"""Failures of PostgreSQL while callers write: no confirmed write is lost, and no restart is needed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.support.books import is_refused
from tests.support.connections import open_connections
from tests.support.load import Load, until
from tests.support.postgres import PostgresServer
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_WRITERS = 16
_VISITORS = 4
# Lock only the parent, because locking partitions one by one could deadlock with callers.
_LOCK = "lock table only clocks in access exclusive mode"
_WAITING = "select pid from pg_locks where not granted"
_END_SESSIONS = """
    select pg_stat_clear_snapshot();
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tickover'"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server for this module, because tests stop and reconfigure it."""
    with PostgresServer() as started:
        yield started


async def test_database_crash_and_restart(tmp_path: Path, server: PostgresServer) -> None:
    with Replicas(tmp_path, server, 2) as replicas:
        load = Load(replicas)
        async with load.of(_WRITERS, _VISITORS):
            for _ in range(3):
                await load.succeed(50)
                server.stop("immediate")
                await load.be_refused(20)
                await load.until_readiness_is(503)
                await asyncio.to_thread(server.start)
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


async def test_terminated_connections(tmp_path: Path, server: PostgresServer) -> None:
    with Replicas(tmp_path, server, 2) as replicas:
        load = Load(replicas)
        async with _somebody(replicas) as somebody, load.of(_WRITERS, _VISITORS):
            for _ in range(15):
                await load.succeed(5)
                await somebody.execute(_END_SESSIONS)
                await load.succeed(5)
                async with somebody.transaction():
                    await somebody.execute(_LOCK)
                    await until(lambda: somebody.fetch(_WAITING))
                    await somebody.execute(_END_SESSIONS)
            await load.until_readiness_is(200)
            await load.succeed(50)
        assert load.books.refusals > 15


async def test_exhausted_connection_pool(tmp_path: Path, server: PostgresServer) -> None:
    with Replicas(tmp_path, server, 1, TICKOVER_DATABASE_CONNECTIONS="2") as replicas:
        load = Load(replicas)
        async with _somebody(replicas) as somebody, load.of(_WRITERS, _VISITORS):
            await load.succeed(50)
            async with somebody.transaction():
                await somebody.execute(_LOCK)
                await load.until_readiness_is(503)
                await load.be_refused(_WRITERS)
            await load.until_readiness_is(200)
            await load.succeed(50)


async def test_network_without_packets(tmp_path: Path, server: PostgresServer) -> None:
    with Proxy(server.port) as proxy, Replicas(tmp_path, server, 1, proxy.lead) as replicas:
        load = Load(replicas)
        async with load.of(_WRITERS, _VISITORS):
            await load.succeed(50)
            proxy.hold()
            await load.until_readiness_is(503)
            await load.be_refused(_WRITERS)
            proxy.let_go()
            await load.until_readiness_is(200)
            await load.succeed(50)


async def test_read_only_database(tmp_path: Path, server: PostgresServer) -> None:
    with Replicas(tmp_path, server, 1) as replicas:
        load = Load(replicas)
        async with load.of(_WRITERS, _VISITORS):
            await load.succeed(50)
            server.configure(default_transaction_read_only="on")
            await load.be_refused(20)
            await load.until_readiness_is(503)
            server.configure(default_transaction_read_only="off")
            await load.until_readiness_is(200)
            await load.succeed(50)


async def test_pending_calls_get_a_response_at_the_stop_if_the_database_is_silent(
    tmp_path: Path, server: PostgresServer
) -> None:
    with Proxy(server.port) as proxy, Replicas(tmp_path, server, 1, proxy.lead) as replicas:
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
            answers = await asyncio.gather(*(connection.receive() for connection in connections))
        assert [is_refused(answer) for answer in answers] == [True] * _WRITERS
        assert program.process.wait(30) == 0
        assert "Traceback" not in program.output
