"""R11: the primary of a Patroni cluster is switched over, killed, frozen and cut off under load."""

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lab.soak.failovers import run_failovers
from lab.soak.patroni import Node, patroni_version
from lab.soak.rows import Context, Figure, Row, at_least, at_most

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
