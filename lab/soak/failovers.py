"""Failovers of a Patroni cluster while callers write through HAProxy to two servers."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.soak.patroni import Node, PatroniCluster
from tests.support.deploy import run_haproxy, servers_behind_proxy
from tests.support.load import Load, until
from tests.support.replicas import Replicas

_WRITERS = 8
_VISITORS = 2
_CALLS = 50
_PAUSE_SECONDS = 0.03


class Outage(NamedTuple):
    seconds: float
    """From the failure until a call succeeds on the new primary."""
    seconds_after_promotion: float


class Failovers:
    """Two servers behind HAProxy, on a cluster. Each failover checks that no confirmed write is lost."""

    def __init__(self, cluster: PatroniCluster, replicas: Replicas, url: str) -> None:
        self.cluster = cluster
        self._replicas = replicas
        self._url = url
        self.results = 0
        """Calls with a result, all of which are stored."""

    async def run(self, fail: Callable[[Node], object], repair: Callable[[Node], object] | None = None) -> Outage:
        """Let the primary fail under load until another node has replaced it. Then repair it."""
        # Without a synchronous standby, Patroni promotes no node.
        await asyncio.to_thread(self.cluster.wait_until_complete)
        old = self.cluster.primary
        others = [node for node in self.cluster.nodes if node is not old]
        load = await asyncio.to_thread(Load, self._replicas, _PAUSE_SECONDS, False)
        load.proxy_url = self._url
        async with load.of(_WRITERS, _VISITORS):
            await load.succeed(_CALLS)
            failed = time.monotonic()
            await asyncio.to_thread(fail, old)
            await until(lambda: asyncio.to_thread(_find_primary, others))
            promoted = time.monotonic()
            await load.succeed(1)
            outage = Outage(time.monotonic() - failed, time.monotonic() - promoted)
            await load.until_readiness_is(200)
            await load.succeed(_CALLS)
            if repair is not None:
                # The old primary must not accept writes, and must not confuse the servers.
                await asyncio.to_thread(repair, old)
                await asyncio.to_thread(self.cluster.wait_until_complete)
                await load.succeed(_CALLS)
            self._replicas.server = (await asyncio.to_thread(_find_primary, self.cluster.nodes))[0].server
        self.results += load.writer.results
        return outage


def _find_primary(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if node.has_role("primary")]


@contextmanager
def run_failovers(folder: Path) -> Iterator[Failovers]:
    """Start a cluster, two servers and HAProxy from the files in deploy/."""
    with (
        PatroniCluster() as cluster,
        servers_behind_proxy(folder, cluster.primary.server, cluster.url_of) as replicas,
        run_haproxy(replicas, folder) as url,
    ):
        yield Failovers(cluster, replicas, url)
