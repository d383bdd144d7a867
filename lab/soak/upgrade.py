"""R12: two servers are replaced by those of a newer release, one by one, behind HAProxy."""

import asyncio
from collections.abc import Iterator

from lab.soak.rolling_upgrade import upgrade_under_load, use_previous_release
from lab.soak.rows import Context, Figure, Row, at_least
from tests.support.deploy import servers_behind_proxy
from tests.support.postgres import PostgresServer


def run(context: Context) -> Iterator[Figure]:
    min_calls = context.scale(10_000, 2_000)
    context.progress(0, f"{min_calls:,} calls")
    with PostgresServer() as server:
        replicas = servers_behind_proxy(context.folder, server)
        use_previous_release(replicas, context.folder / "previous")
        with replicas:
            callers = asyncio.run(upgrade_under_load(context.folder, replicas, min_calls))
    yield at_least("calls, all with a result", callers.sent, min_calls)


ROW = Row(
    "R12",
    "Rolling upgrade",
    "10,000 calls through HAProxy while two servers of the previous release are replaced one by one: no call fails",
    run,
    minutes=1,
    quick_minutes=0.3,
    stores=("postgres",),
)
