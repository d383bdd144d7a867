"""Failures of PostgreSQL while callers write: no confirmed write is lost, and no restart is needed."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import asyncpg

from lab.soak.raw_connections import open_connections
from lab.soak.write_load import WriteLoad, is_unavailable
from tests.support.postgres import PostgresServer
from tests.support.program import SHORT_TIMEOUTS, until
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_WRITERS = 8
_VISITORS = 2
_CONNECTIONS = 2
_PAUSE_SECONDS = 0.1
_LOCK = "lock table clocks in access exclusive mode"
_WAITING = "select pid from pg_locks where not granted"
_END_SESSIONS = """
    select pg_stat_clear_snapshot();
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tickover'"""


@asynccontextmanager
async def _superuser(replicas: Replicas) -> AsyncIterator[asyncpg.Connection]:
    session = await asyncpg.connect(replicas.server.url(replicas.database, "postgres"))
    try:
        yield session
    finally:
        await session.close()


async def test_faults_under_load_lose_no_confirmed_write(tmp_path: Path, own_postgres: PostgresServer) -> None:
    """One fault after the other. `make soak` checks the stored data after each of them."""
    limit = {"TICKOVER_DATABASE_CONNECTIONS": str(_CONNECTIONS)}
    with (
        Proxy(own_postgres.port) as proxy,
        Replicas(tmp_path, own_postgres, 1, proxy.url_of, script=SHORT_TIMEOUTS, **limit) as replicas,
    ):
        load = WriteLoad(replicas, _PAUSE_SECONDS)
        faults = (
            partial(_crash, own_postgres),
            partial(_silence, proxy),
            partial(_make_read_only, own_postgres),
            partial(_end_sessions, replicas),
            partial(_lock_clocks, replicas),
        )
        async with load.of(_WRITERS, _VISITORS):
            for inject in faults:
                await load.succeed(20)
                await inject(load)
                await load.until_readiness_is(200)
            await load.succeed(20)


async def _crash(postgres: PostgresServer, load: WriteLoad) -> None:
    postgres.stop("immediate")
    await load.be_rejected(20)
    await load.until_readiness_is(503)
    await asyncio.to_thread(postgres.start)


async def _silence(proxy: Proxy, load: WriteLoad) -> None:
    proxy.hold()
    await load.until_readiness_is(503)
    await load.be_rejected(_WRITERS)
    proxy.release()


async def _make_read_only(postgres: PostgresServer, load: WriteLoad) -> None:
    postgres.configure(default_transaction_read_only="on")
    await load.be_rejected(20)
    await load.until_readiness_is(503)
    postgres.configure(default_transaction_read_only="off")


async def _end_sessions(replicas: Replicas, load: WriteLoad) -> None:
    """Between calls, and while calls wait for a lock."""
    async with _superuser(replicas) as session:
        await session.execute(_END_SESSIONS)
        await load.succeed(5)
        async with session.transaction():
            await session.execute(_LOCK)
            await until(lambda: session.fetch(_WAITING))
            await session.execute(_END_SESSIONS)
        # Statements that are safe to repeat are repeated, so perhaps no call is rejected.
        await load.succeed(5)


async def _lock_clocks(replicas: Replicas, load: WriteLoad) -> None:
    """Calls that wait for the lock are rejected. They leave connections to other calls, so the server may be ready."""
    async with _superuser(replicas) as session, session.transaction():
        await session.execute(_LOCK)
        await load.be_rejected(_WRITERS)


async def test_pending_calls_get_a_response_at_the_stop_if_the_database_is_silent(
    tmp_path: Path, own_postgres: PostgresServer
) -> None:
    with (
        Proxy(own_postgres.port) as proxy,
        Replicas(tmp_path, own_postgres, 1, proxy.url_of, script=SHORT_TIMEOUTS) as replicas,
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
