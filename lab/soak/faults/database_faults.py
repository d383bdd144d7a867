"""Faults of PostgreSQL and of the network to it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import asyncpg

from lab.processes import children_of
from lab.soak.faults.fault import fault
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad
from tests.support.postgres import synchronous_standby
from tests.support.program import until
from tests.support.proxy import Cut, Proxy

_REPETITIONS = 10
_REJECTIONS = 8
_LOCK = "lock table clocks in access exclusive mode"
_SESSIONS = "from pg_stat_activity where datname = current_database() and application_name = 'tickover'"
_TERMINATE = f"select pg_terminate_backend(pid) {_SESSIONS}"
_CANCEL = f"select pg_cancel_backend(pid) {_SESSIONS} and state = 'active'"


@asynccontextmanager
async def _superuser(servers: Servers) -> AsyncIterator[asyncpg.Connection]:
    session = await asyncpg.connect(servers.postgres.url(servers.database, "postgres"))
    try:
        yield session
    finally:
        await session.close()


@fault("database crash", "postgres")
async def crash(servers: Servers, load: WriteLoad) -> None:
    servers.postgres.stop("immediate")
    await load.be_rejected(_REJECTIONS)
    await asyncio.to_thread(servers.postgres.start)


@fault("database restart", "postgres")
async def restart(servers: Servers, load: WriteLoad) -> None:
    await asyncio.to_thread(servers.postgres.stop, "fast")
    await load.be_rejected(_REJECTIONS)
    await asyncio.to_thread(servers.postgres.start)


@fault("frozen database", "postgres")
async def freeze(servers: Servers, load: WriteLoad) -> None:
    """Stop all processes of the database, as a paused virtual machine does."""
    first = int((servers.postgres.data / "postmaster.pid").read_text().splitlines()[0])
    processes = [first, *children_of(first)]
    _signal_all(processes, signal.SIGSTOP)
    try:
        await load.be_rejected(_REJECTIONS)
    finally:
        _signal_all(processes, signal.SIGCONT)


def _signal_all(processes: list[int], number: int) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


@fault("terminated sessions", "postgres")
async def terminate_sessions(servers: Servers, load: WriteLoad) -> None:
    async with _superuser(servers) as session:
        for _ in range(_REPETITIONS):
            await load.succeed(5)
            await session.execute(_TERMINATE)


@fault("cancelled statements", "postgres")
async def cancel_statements(servers: Servers, load: WriteLoad) -> None:
    async with _superuser(servers) as session:
        for _ in range(_REPETITIONS):
            await load.succeed(5)
            await until(lambda: session.fetch(_CANCEL))


@fault("locked table", "postgres")
async def lock_table(servers: Servers, load: WriteLoad) -> None:
    async with _superuser(servers) as session, session.transaction():
        await session.execute(_LOCK)
        await load.be_rejected(_REJECTIONS)


@fault("silent network", "postgres")
async def silence(servers: Servers, load: WriteLoad) -> None:
    assert servers.proxy is not None
    servers.proxy.hold()
    try:
        await load.be_rejected(_REJECTIONS)
    finally:
        servers.proxy.release()


@fault("connections cut before statements", "postgres")
async def cut_before_statements(servers: Servers, load: WriteLoad) -> None:
    await _cut(servers, load, "before")


@fault("connections cut after commits", "postgres")
async def cut_after_commits(servers: Servers, load: WriteLoad) -> None:
    await _cut(servers, load, "after")


@fault("silence after commits", "postgres")
async def silence_after_commits(servers: Servers, load: WriteLoad) -> None:
    await _cut(servers, load, "silent")


async def _cut(servers: Servers, load: WriteLoad, how: Cut) -> None:
    proxy = servers.proxy
    assert proxy is not None
    for number in range(proxy.cuts + 1, proxy.cuts + 1 + _REPETITIONS):
        proxy.cut("", how)
        await until(partial(_has_cut, proxy, number))
        await load.succeed(1)


def _has_cut(proxy: Proxy, number: int) -> bool:
    return proxy.cuts >= number


@fault("read-only database", "postgres")
async def read_only(servers: Servers, load: WriteLoad) -> None:
    servers.postgres.configure(default_transaction_read_only="on")
    try:
        await load.be_rejected(_REJECTIONS)
    finally:
        servers.postgres.configure(default_transaction_read_only="off")


@fault("lost standby", "postgres")
async def lose_standby(servers: Servers, load: WriteLoad) -> None:
    """Commits that no standby confirms must not be confirmed to callers."""
    with synchronous_standby(servers.postgres, "returning") as standby:
        await load.succeed(20)
        await asyncio.to_thread(standby.stop)
        await load.be_rejected(_REJECTIONS)
        await asyncio.to_thread(standby.start)
        await load.succeed(20)


@fault("no database connections left", "postgres")
async def no_connections_left(servers: Servers, load: WriteLoad) -> None:
    await _reject_connections(servers, load, "connection limit 0", "connection limit -1")


@fault("changed database password", "postgres")
async def changed_password(servers: Servers, load: WriteLoad) -> None:
    right = f"password '{servers.postgres.password}'"
    await _reject_connections(servers, load, "password 'changed'", right)


async def _reject_connections(servers: Servers, load: WriteLoad, wrong: str, right: str) -> None:
    async with _superuser(servers) as session:
        await session.execute(f"alter role tickover {wrong}")
        try:
            await session.execute(_TERMINATE)
            await load.be_rejected(_REJECTIONS)
        finally:
            await session.execute(f"alter role tickover {right}")
