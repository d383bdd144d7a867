"""R2: kill -9 while 16 to 64 clients write, 500 times on each store."""

import asyncio
from collections.abc import Iterator

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.server_kills import Kills, kill_with_postgres, kill_with_sqlite
from tests.support.postgres import PostgresServer


def run(context: Context) -> Iterator[Figure]:
    count = context.scale(500, 8)
    kills = _kill(context, count)
    yield at_least("kills", kills.count, count)
    yield Figure("calls with a result, all stored", f"{kills.results:,}")
    yield Figure("calls without a response at a kill, stored completely or not at all", f"{kills.pending:,}")
    # CI makes a quick run on a machine that others use too.
    yield at_most("slowest restart until ready", round(max(kills.start_seconds), 2), context.scale(2, 10), " s")


def _kill(context: Context, count: int) -> Kills:
    rounds = context.rounds(count, "kill")
    if context.store == "sqlite":
        return kill_with_sqlite(context.folder, rounds)
    with PostgresServer() as server:
        return asyncio.run(kill_with_postgres(context.folder, server, rounds))


ROW = Row(
    "R2",
    "Kill -9 under load",
    "1,000 kills over both stores under 16 to 64 clients, nothing lost, ready again within 2 s",
    run,
    minutes=11,
    quick_minutes=0.4,
)
