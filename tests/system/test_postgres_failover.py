"""Failover from a primary to a synchronous standby while callers write: no confirmed write is lost."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.load import Load
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_NUMBERS = count()
_IN_SYNC = "select pid from pg_stat_replication where sync_state = 'sync'"


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    with PostgresServer() as started:
        yield started


@pytest.fixture
def standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    """A synchronous standby. Each test starts with a primary and a standby."""
    name = f"standby{next(_NUMBERS)}"
    started = primary.standby(name)
    try:
        primary.configure(synchronous_standby_names=name)
        wait_until(lambda: primary.execute(_IN_SYNC))
        yield started
    finally:
        started.remove()
        primary.configure(synchronous_standby_names="")
        if not primary.is_running:
            primary.start()


def _leading_to(*ports: int) -> Callable[[str], str]:
    """Return a URL with several hosts, one of which accepts writes."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)

    def lead(url: str) -> str:
        user, _, place = url.partition("@")
        return f"{user}@{hosts}/{place.partition('/')[2]}?target_session_attrs=read-write&sslmode=disable"

    return lead


@pytest.mark.parametrize("first", ["primary", "standby"])
async def test_replicas_follow_after_the_primary_dies(
    tmp_path: Path, primary: PostgresServer, standby: PostgresServer, first: str
) -> None:
    """The order of the hosts does not matter."""
    ports = [primary.port, standby.port] if first == "primary" else [standby.port, primary.port]
    with Replicas(tmp_path, primary, 2, _leading_to(*ports)) as replicas:
        load = Load(replicas)
        async with load.of(16, 4):
            await load.succeed(100)
            primary.stop("immediate")
            await load.be_refused(20)
            await load.until_readiness_is(503)
            standby.promote()
            await load.until_readiness_is(200)
            await load.succeed(100)
            replicas.server = standby


async def test_replicas_follow_after_the_primary_is_unreachable(
    tmp_path: Path, primary: PostgresServer, standby: PostgresServer
) -> None:
    with (
        Proxy(primary.port) as proxy,
        Replicas(tmp_path, primary, 2, _leading_to(proxy.port, standby.port)) as replicas,
    ):
        load = Load(replicas)
        # A replica without calls must reconnect too.
        idle = load.running.pop()
        async with load.of(16, 4):
            await load.succeed(100)
            proxy.hold()
            standby.promote()
            await load.until_readiness_is(200)
            await load.succeed(100)
            async with load.at_rest():
                await asyncio.to_thread(wait_until, lambda: idle.request("GET", "/readyz").status == 200)
            replicas.server = standby


async def test_standby_returns_after_an_outage(
    tmp_path: Path, primary: PostgresServer, standby: PostgresServer
) -> None:
    """Commits without the standby are not confirmed, and waiting calls do not accumulate."""
    with Replicas(tmp_path, primary, 1, TICKOVER_DATABASE_CONNECTIONS="2") as replicas:
        load = Load(replicas)
        async with load.of(16, 4):
            await load.succeed(50)
            standby.stop()
            await load.until_readiness_is(503)
            await load.be_refused(20)
            await asyncio.to_thread(wait_until, lambda: len(replicas.sessions()) <= 4)
            await asyncio.to_thread(standby.start)
            await load.until_readiness_is(200)
            await load.succeed(50)
