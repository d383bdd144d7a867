"""Failover from a primary to a synchronous standby while callers write: no confirmed write is lost."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.clock_writer import PAUSE_SECONDS
from tests.support.load import Load
from tests.support.postgres import PostgresServer, synchronous_standby
from tests.support.program import SHORT_TIMEOUTS, wait_until
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_NUMBERS = count()


@pytest.fixture
def standby(own_postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A synchronous standby. Each test starts with a primary and a standby."""
    with synchronous_standby(own_postgres, f"standby{next(_NUMBERS)}") as started:
        yield started


def _leading_to(*ports: int) -> Callable[[str], str]:
    """Return a URL with several hosts, one of which accepts writes."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)

    def lead(url: str) -> str:
        user, _, place = url.partition("@")
        return f"{user}@{hosts}/{place.partition('/')[2]}?target_session_attrs=read-write&sslmode=disable"

    return lead


async def test_replicas_follow_after_the_primary_dies(
    tmp_path: Path, own_postgres: PostgresServer, standby: PostgresServer
) -> None:
    """The standby is the first host. In the next test, the primary is the first one."""
    lead = _leading_to(standby.port, own_postgres.port)
    with Replicas(tmp_path, own_postgres, 1, lead, script=SHORT_TIMEOUTS) as replicas:
        load = Load(replicas, PAUSE_SECONDS)
        async with load.of(8, 2):
            await load.succeed(50)
            own_postgres.stop("immediate")
            await load.be_rejected(20)
            await load.until_readiness_is(503)
            standby.promote()
            await load.until_readiness_is(200)
            await load.succeed(50)
            replicas.server = standby


async def test_replicas_follow_after_the_primary_is_unreachable(
    tmp_path: Path, own_postgres: PostgresServer, standby: PostgresServer
) -> None:
    with (
        Proxy(own_postgres.port) as proxy,
        Replicas(tmp_path, own_postgres, 2, _leading_to(proxy.port, standby.port)) as replicas,
    ):
        load = Load(replicas, PAUSE_SECONDS)
        # A replica without calls must reconnect too.
        idle = load.running.pop()
        async with load.of(8, 2):
            await load.succeed(50)
            proxy.hold()
            standby.promote()
            await load.until_readiness_is(200)
            await load.succeed(50)
            async with load.at_rest():
                await asyncio.to_thread(wait_until, lambda: idle.request("GET", "/readyz").status == 200)
            replicas.server = standby
