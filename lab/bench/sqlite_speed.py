"""S1, S2, S5 and S6: advances and creations on SQLite, against the limit, a bare commit, and the largest clocks."""

import subprocess
import sys
from itertools import count
from pathlib import Path
from socket import socket

import apsw

from lab.bench import bodies
from lab.bench.harness import Bench, Load, rates, timed
from lab.bench.wrk import advancing, creating
from lab.processes import resident_mib
from tests.support.ports import reusable_port
from tests.support.program import wait_until
from tests.support.repository import ROOT

_CONNECTIONS = 64
_USERS_OF_LARGEST = 10
"""The largest requests are large, and all are in memory."""


def measure_sqlite_speed(bench: Bench) -> None:
    program, folder = bench.serve("sqlite"), bench.folder
    typical, largest = bodies.typical(), bodies.largest()
    clocks = bench.fill(program, typical, bench.plan.clocks)
    call = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": typical}
    limit = _serve_limit(bench, len(program.post(call, clocks[0][1]).body))
    advance, create = advancing(folder, program.url, clocks), creating(folder, program.url, clocks, typical)
    limit_advance, limit_create = advancing(folder, limit, clocks), creating(folder, limit, clocks, typical)
    slots = bench.alternate({
        "advance": advance.on(_CONNECTIONS),
        "advance, limit": limit_advance.on(_CONNECTIONS),
        "create": create.on(_CONNECTIONS),
        "create, limit": limit_create.on(_CONNECTIONS),
        "advance, one connection": advance.on(1),
        "advance, limit, one connection": limit_advance.on(1),
        "bare commit": _committing(folder / "bare.db"),
    })  # fmt: skip
    bench.row("S11", "memory, under load", "MiB", ("<", 70), [resident_mib(program.process.pid)])
    for number, operation, target in (("S1", "advance", 0.5), ("S2", "create", 0.333)):
        shares = rates(slots[operation], slots[f"{operation}, limit"])
        bench.row(number, f"{operation}, calls a second against the limit", "ratio", ("≥", target), shares)
    alone = zip(
        slots["advance, one connection"], slots["advance, limit, one connection"], slots["bare commit"], strict=True
    )
    latencies = [ours.latency / (limit.latency + commit.latency) for ours, limit, commit in alone]
    what = "advance on one connection, latency against the limit's and a commit's"
    bench.row("S6", what, "times", ("≤", 1.5), latencies)

    large_clocks = bench.fill(program, largest, bench.plan.largest_clocks)
    owners = large_clocks[:: max(1, len(large_clocks) // _USERS_OF_LARGEST)]
    slots = bench.alternate({
        "advance": advance.on(1),
        "advance, largest": advancing(folder, program.url, large_clocks).on(1),
        "create": create.on(1),
        "create, largest": creating(folder, program.url, owners, largest).on(1),
    })  # fmt: skip
    few, many = bodies.count_items(typical), bodies.count_items(largest)
    for operation in ("advance", "create"):
        ratios = rates(slots[operation], slots[f"{operation}, largest"])
        what = f"{operation} of {many:,} items, time for each, against one of {few}"
        bench.row("S5", what, "times", ("<", 0.2), [ratio * few / many for ratio in ratios])


def _serve_limit(bench: Bench, size: int) -> str:
    """Start the limit, and return its URL."""
    port = reusable_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "lab.bench.limit", str(port), str(size)]
    process = bench.stack.enter_context(subprocess.Popen(command, cwd=ROOT, start_new_session=True))  # noqa: S603
    bench.stack.callback(process.terminate)
    wait_until(lambda: _listens(port))
    return url


def _listens(port: int) -> bool:
    with socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def _committing(file: Path) -> Load:
    """Change one row after the other, each with a commit that is as durable as those of the server."""
    database = apsw.Connection(str(file))
    database.execute("pragma journal_mode = wal; pragma synchronous = full")
    database.execute("pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
    database.execute("create table clocks (key integer primary key, frozen_time integer not null)")
    database.executemany("insert into clocks values (?, 0)", [(key,) for key in range(1000)])
    numbers = count()

    def commit() -> None:
        number = next(numbers)
        database.execute("update clocks set frozen_time = ? where key = ?", (number, number % 1000))

    return timed(commit)
