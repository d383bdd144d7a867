"""S7, S7b and S8: advances on PostgreSQL, against pgbench, behind a slow network, and with two workers."""

import asyncio
import re
import statistics
import time
from collections.abc import Sequence

import asyncpg

from lab.bench import bodies
from lab.bench.cpu_limits import LimitsUnavailable, limit_cpu
from lab.bench.harness import Bench, Load, Slot, rates
from lab.bench.wrk import STEP_SECONDS, advancing
from lab.links import Link
from lab.processes import children_of
from tests.support.postgres import PostgresServer
from tests.support.program import Program

_CONNECTIONS = 64
_SHARE = 0.25
_DELAY_SECONDS = 0.001
_SELECTS = 100
_PGBENCH_RATE = 2_000
"""Roughly the transactions a second, because pgbench accepts only their number or whole seconds."""

# pgbench can't compute text, so keys and tokens are arrays in the statement, which is planned once.
_ADVANCE = """\
\\set moves :moves + 1
\\set number random(1, {count})
update clocks set frozen_time = greatest(frozen_time, least(max_time, start_time + :moves * {step}))\
 where key = ('{keys}'::uuid[])[:number]\
 and owner = (select user_key from tokens where digest = ('{digests}'::bytea[])[:number])\
 returning key, start_time, frozen_time, max_time;
"""


def measure_postgres_speed(bench: Bench) -> None:
    server = bench.stack.enter_context(
        PostgresServer(
            fsync="on", full_page_writes="on", synchronous_commit="on", shared_buffers="512MB", max_wal_size="16GB",
            checkpoint_timeout="1h",
        )
    )  # fmt: skip
    bench.facts["PostgreSQL"] = server.execute("show server_version")
    url = server.create_database("tickover")
    settings = {"TICKOVER_DATABASE_URL": url, "TICKOVER_SECRET_KEY": "one key for all servers"}
    one = bench.serve("one", TICKOVER_WORKERS="1", **settings)
    two = bench.serve("two", TICKOVER_WORKERS="2", **settings)
    far_url = url.replace(f":{server.port}/", f":{bench.stack.enter_context(Link(server.port, _DELAY_SECONDS)).port}/")
    far = bench.serve("far", TICKOVER_WORKERS="1", **{**settings, "TICKOVER_DATABASE_URL": far_url})
    # Each load has its own clocks, so that no advance goes back because another load was faster.
    loads = {program: advancing(bench.folder, program.url, _fill(bench, one)) for program in (one, two, far)}

    if server.bin("pgbench").exists():
        pgbench = _pgbench(server, url, _fill(bench, one))
        slots = bench.alternate({"one worker": loads[one].on(_CONNECTIONS), "pgbench": pgbench})
        values, why_not = rates(slots["one worker"], slots["pgbench"]), ""
    else:
        values, why_not = [], "this PostgreSQL has no pgbench; install Debian's package postgresql"
    bench.row("S7", "advance on PostgreSQL, against pgbench", "ratio", ("≥", 0.9), values, why_not)

    slots = bench.alternate({
        "near": loads[one].on(1), "far": loads[far].on(1), "select": _selecting(url), "far select": _selecting(far_url),
    })  # fmt: skip
    trips = [
        (far.latency - near.latency) / (far_select.latency - select.latency)
        for near, far, select, far_select in zip(*slots.values(), strict=True)
    ]
    what = "round trips of an advance, PostgreSQL behind 1 ms of latency"
    bench.row("S7b", what, "ratio", ("≤", 1.3), trips)

    workers = [one.process.pid, *children_of(two.process.pid)]
    assert len(workers) == 3, f"Expected three workers: {workers}"
    values, why_not = [], ""
    try:
        with limit_cpu(_SHARE, workers):
            both = {"one worker": loads[one].on(_CONNECTIONS), "two workers": loads[two].on(_CONNECTIONS)}
            slots = bench.alternate(both, bench.plan.limited_seconds)
            values = rates(slots["two workers"], slots["one worker"])
    except LimitsUnavailable as why:
        why_not = str(why)
    what = f"PostgreSQL, two workers against one, each with {_SHARE:.0%} of a core"
    bench.row("S8", what, "times", ("≥", 1.8), values, why_not)


def _fill(bench: Bench, program: Program) -> list[tuple[str, str]]:
    return bench.fill(program, bodies.typical(), bench.plan.clocks)


def _pgbench(server: PostgresServer, url: str, clocks: Sequence[tuple[str, str]]) -> Load:
    """Return a load that advances these clocks with one plain statement: the speed of the database alone."""
    keys = ",".join(f"'{id.removeprefix('clock_')}'" for id, _ in clocks)
    found = server.execute(
        f"""select array_agg(key), array_agg(digest)
            from (select distinct on (key) key, digest from clocks join tokens on user_key = owner
                  where key in ({keys})) as owned""",
        "tickover",
    )
    keys, digests = found.split("|")
    script = server.folder / "advance.sql"
    values = {"count": len(clocks), "step": STEP_SECONDS * 1_000_000, "keys": keys, "digests": digests}
    script.write_text(_ADVANCE.format(**values))
    moves = 0

    def run(seconds: float) -> Slot:
        nonlocal moves
        each = max(10, int(seconds * _PGBENCH_RATE) // _CONNECTIONS)
        output = server.run(
            "pgbench", "--no-vacuum", "--protocol=prepared", f"--client={_CONNECTIONS}", "--jobs=1",
            f"--transactions={each}", f"--define=moves={moves}", f"--file={script}", url,
        )  # fmt: skip
        moves += each
        rate = re.search(r"^tps = ([\d.]+) \(without initial connection time\)", output, re.MULTILINE)
        assert rate is not None, output
        assert "failed transactions: 0 " in output, output
        return Slot(float(rate[1]), _CONNECTIONS / float(rate[1]))

    return run


def _selecting(url: str) -> Load:
    """Return a load of prepared `select 1`, which are one round trip each."""

    async def select() -> Slot:
        connection = await asyncpg.connect(url)
        try:
            statement = await connection.prepare("select 1")
            seconds = []
            for _ in range(_SELECTS):
                started = time.perf_counter()
                await statement.fetchval()
                seconds.append(time.perf_counter() - started)
        finally:
            await connection.close()
        return Slot(_SELECTS / sum(seconds), statistics.median(seconds))

    return lambda _seconds: asyncio.run(select())
