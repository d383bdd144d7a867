"""R11: the primary of a Patroni cluster is switched over, killed, frozen and cut off under load."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.soak.patroni import Node, PatroniCluster, patroni_version
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.write_load import WriteLoad
from tests.support.deploy import run_haproxy, servers_behind_proxy
from tests.support.program import until
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
        load = await asyncio.to_thread(WriteLoad, self._replicas, _PAUSE_SECONDS, False)
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
        self.results += load.results
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


_MAX_SECONDS = 5
_MAX_QUICK_SECONDS = 20
"""CI makes a quick run on a machine that others use too."""


class _Failure(NamedTuple):
    name: str
    begin: Callable[[Node], object]
    end: Callable[[Node], object] | None
    min_patroni: tuple[int, ...] = (3,)


_FAILURES = (
    _Failure("kill", Node.kill, Node.start),
    _Failure("switchover", Node.switch_over, None),
    _Failure("freeze", Node.freeze, Node.resume, min_patroni=(4,)),
    _Failure("cut off from the network", Node.cut_off, Node.reconnect),
)


def run(context: Context) -> Iterator[Figure]:
    version = patroni_version()
    failures = [failure for failure in _FAILURES if version >= failure.min_patroni]
    yield Figure("version of Patroni", ".".join(map(str, version)))
    for failure in _FAILURES:
        if failure not in failures:
            yield Figure(failure.name, "not run: Patroni 3 lets a resumed primary replace the new one")
    count = context.scale(5 * len(failures), 1)
    done = 0
    with run_failovers(context.folder) as failovers:
        for number in context.rounds(count, "failover"):
            failure = failures[number % len(failures)]

            def begin(primary: Node, failure: _Failure = failure) -> None:
                failure.begin(primary)
                # A quick run doesn't wait until the lease of the killed primary expires.
                if context.is_quick:
                    failovers.cluster.expire_leadership()

            outage = asyncio.run(failovers.run(begin, failure.end))
            done += 1
            seconds = round(outage.seconds_after_promotion, 2)
            name = f"{failure.name}: nothing lost, calls succeed after the promotion in"
            yield at_most(name, seconds, context.scale(_MAX_SECONDS, _MAX_QUICK_SECONDS), " s")
            yield Figure(f"{failure.name}: from the failure until calls succeed", f"{outage.seconds:.1f} s")
        yield Figure("calls with a result, all stored", f"{failovers.results:,}")
    yield at_least("failovers", done, count)


ROW = Row(
    "R11",
    "Failover",
    "Patroni with three PostgreSQL nodes: switchover, kill, freeze and isolation of the primary under load, nothing "
    "lost, calls succeed within 5 s of the new primary",
    run,
    minutes=15,
    quick_minutes=0.8,
    stores=("postgres",),
)
