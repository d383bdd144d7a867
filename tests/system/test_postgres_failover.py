"""A synchronous standby is lost, returns and replaces its primary while callers write: no confirmed write is lost.

`make soak` runs failovers of a Patroni cluster.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from lab.soak.write_load import WriteLoad
from tests.support.postgres import PostgresServer, synchronous_standby
from tests.support.program import SHORT_TIMEOUTS, wait_until
from tests.support.proxy import Proxy
from tests.support.replicas import Replicas

_CONNECTIONS = 2
_PAUSE_SECONDS = 0.1


def _leading_to(*ports: int) -> Callable[[str], str]:
    """Return a URL with several hosts, one of which accepts writes."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)

    def url_of(url: str) -> str:
        user, _, place = url.partition("@")
        return f"{user}@{hosts}/{place.partition('/')[2]}?target_session_attrs=read-write&sslmode=disable"

    return url_of


async def test_standby_returns_and_then_replaces_the_unreachable_primary(
    tmp_path: Path, own_postgres: PostgresServer
) -> None:
    limit = {"TICKOVER_DATABASE_CONNECTIONS": str(_CONNECTIONS)}
    with (
        synchronous_standby(own_postgres, "standby") as standby,
        Proxy(own_postgres.port) as proxy,
        Replicas(
            tmp_path, own_postgres, 2, _leading_to(proxy.port, standby.port), script=SHORT_TIMEOUTS, **limit
        ) as replicas,
    ):
        load = WriteLoad(replicas, _PAUSE_SECONDS)
        # A replica without calls must reconnect too.
        idle = load.running.pop()
        async with load.of(8, 2):
            await load.succeed(30)

            # Commits without the standby are not confirmed, and waiting calls don't accumulate.
            standby.stop()
            await load.until_readiness_is(503)
            await load.be_rejected(5)
            await asyncio.to_thread(wait_until, lambda: len(replicas.sessions()) <= 4 * _CONNECTIONS)
            await asyncio.to_thread(standby.start)
            await load.until_readiness_is(200)
            await load.succeed(30)

            proxy.hold()
            standby.promote()
            idle_is_ready = asyncio.to_thread(wait_until, lambda: idle.request("GET", "/readyz").status == 200)
            await asyncio.gather(idle_is_ready, load.succeed(30))
            replicas.server = standby
