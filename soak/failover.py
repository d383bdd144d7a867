"""R11: the primary of a Patroni cluster is switched over, killed, frozen and cut off under load."""

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.failovers import run_failovers
from tests.support.patroni import Node

_MAX_SECONDS = 5


class _Failure(NamedTuple):
    name: str
    begin: Callable[[Node], object]
    end: Callable[[Node], object] | None


_FAILURES = (
    _Failure("kill", Node.kill, Node.start),
    _Failure("switchover", Node.switch_over, None),
    _Failure("freeze", Node.freeze, Node.resume),
    _Failure("cut off from the network", Node.cut_off, Node.reconnect),
)


def run(context: Context) -> Iterator[Figure]:
    count = context.scale(5 * len(_FAILURES), 1)
    done = 0
    with run_failovers(context.folder) as failovers:
        for number in context.rounds(count, "failover"):
            failure = _FAILURES[number % len(_FAILURES)]
            outage = asyncio.run(failovers.run(failure.begin, failure.end))
            done += 1
            seconds = round(outage.seconds_after_promotion, 2)
            name = f"{failure.name}: nothing lost, calls succeed after the promotion in"
            yield at_most(name, seconds, _MAX_SECONDS, " s")
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
    quick_minutes=1,
    stores=("postgres",),
)
