"""Measures the CPU time that metrics add to a call.

`python -m lab.bench.studies.metrics_cost` compares Tickover's numbers in shared memory with prometheus-client. With
`--multiprocess`, prometheus-client shares its values between processes too.
"""

import os
import sys
import tempfile
import timeit
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import uvloop

from lab.bench import bodies
from lab.bench.studies.stages import ADVANCE, ROOT, Bench, _connect_to_tickover, _microseconds
from tests.support.world import open_world
from tickover.api.errors import Rejection
from tickover.server.metrics.numbers import BUCKETS, SharedNumbers
from tickover.server.rpc.dispatch import Observe

ROUNDS = 10
OBSERVATIONS = 20_000


def _observe_with_client() -> Observe:
    """Return an observer that uses prometheus-client, in multiprocess mode if PROMETHEUS_MULTIPROC_DIR is set."""
    # It reads the variable when it is imported.
    from prometheus_client import CollectorRegistry, Counter, Histogram  # noqa: PLC0415

    registry = CollectorRegistry()
    calls = Counter("calls", "Calls", ["method", "outcome"], registry=registry)
    durations = Histogram("seconds", "Durations", ["method"], buckets=BUCKETS, registry=registry)
    counters: dict[tuple[str, str], Any] = {}
    histograms: dict[str, Any] = {}

    def observe(method: str, rejection: Rejection | None, seconds: float) -> None:
        # The children are cached, because `labels` takes longer than the rest.
        key = (method, rejection.reason if rejection else "OK")
        if key not in counters:
            counters[key], histograms[method] = calls.labels(*key), durations.labels(method)
        counters[key].inc()
        histograms[method].observe(seconds)

    return observe


def observer_microseconds(observe: Observe) -> float:
    """Return the CPU time of counting one call: the lowest of several runs, because other programs only add to it."""
    runs = timeit.repeat(lambda: observe(ADVANCE, None, 0.003), timer=process_time, number=OBSERVATIONS, repeat=ROUNDS)
    return min(runs) / OBSERVATIONS * 1e6


async def call_microseconds(method: str) -> float:
    """Return the CPU time of a call without metrics."""
    parent = ROOT / ".bench"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        async with open_world(Path(folder), max_clocks_per_user=0) as world:
            token = await world.sign_in()
            clocks = [(await world.create(token, **bodies.typical()))["id"] for _ in range(1000)]
            bench = Bench(world, token, clocks, b"", b"")
            with patch.object(world.rpc, "_observe", lambda *_: None):
                return min([await _microseconds(bench, _connect_to_tickover, method) for _ in range(ROUNDS)])


def main(library: str) -> None:
    call = uvloop.run(call_microseconds(ADVANCE))
    print(f"an advance without metrics: {call:.1f} µs of CPU")
    for name, observe in {
        "Tickover": SharedNumbers(3).recorder(1).record_call,
        library: _observe_with_client(),
    }.items():
        added = observer_microseconds(observe)
        print(f"{name}: {added:.2f} µs, {added / call:.1%}")


if __name__ == "__main__":
    if "--multiprocess" in sys.argv:
        with tempfile.TemporaryDirectory() as shared:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
            main("prometheus-client, multiprocess")
    else:
        main("prometheus-client")
