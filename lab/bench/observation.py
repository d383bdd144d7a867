"""The block of metrics and traces: the CPU time that they add to an advance.

Recording a call takes one or two microseconds, which is less than the differences between slots. So it's measured
alone, and compared with the CPU time of an advance in the same round.
"""

import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from lab.bench import bodies
from lab.bench.load import HttpLoad
from lab.bench.plan import MAX_CONNECTIONS, OBSERVATION, OBSERVATION_ROUNDS
from lab.bench.rounds import Run
from lab.bench.sides import Side, tickover
from lab.bench.sqlite_block import prepare
from tickover.server.metrics.numbers import SharedNumbers

RECORDING: Final = "µs of recording a call"
TRACES: Final = "with traces"
_RECORDED_CALLS: Final = 10_000


def micros_of(side: str) -> str:
    """Return the name of a figure."""
    return f"µs of CPU of an advance, {side}"


def measure_observation(run: Run) -> None:
    """The sides take turns slot by slot. Each round starts with another one."""
    run.progress.show_step(f"{OBSERVATION}: starting the sides")
    enter = run.stack.enter_context
    collector = enter(_collector())
    sides = [enter(tickover(run.folder / "metrics")), enter(_with_traces(run, collector))]
    loads = {side.name: _advancing(run, side) for side in sides}
    for load in loads.values():
        load.run(MAX_CONNECTIONS, run.plan.warm_up_seconds)
    for number in range(OBSERVATION_ROUNDS):
        run.results.figure(RECORDING, measure_recording())
        first = number % len(sides)
        for side in sides[first:] + sides[:first]:
            run.progress.show_step(f"{OBSERVATION}: {side.name}, round {number + 1} of {OBSERVATION_ROUNDS}")
            began = _cpu_seconds(side.process.pid)
            slot = loads[side.name].run(MAX_CONNECTIONS, run.plan.slot_seconds)
            spent = _cpu_seconds(side.process.pid) - began
            run.results.figure(micros_of(side.name), spent / slot.requests * 1e6)


def measure_recording() -> float:
    """Return the microseconds of recording one call."""
    record = SharedNumbers().recorder().record_call
    return min(timeit.repeat(lambda: record("advanceTestClock", None, 0.001), number=_RECORDED_CALLS)) / (
        _RECORDED_CALLS / 1e6
    )


def _with_traces(run: Run, collector: str) -> Side:
    settings = {"TICKOVER_TRACING": "on", "OTEL_EXPORTER_OTLP_ENDPOINT": collector}
    return tickover(run.folder / "traces", TRACES, **settings)


def _advancing(run: Run, side: Side) -> HttpLoad:
    tokens = [user.token for user in side.sign_in(run.plan.users)]
    return side.loads(prepare(OBSERVATION, side, tokens, bodies.typical(), run.plan.clocks))["advance"]


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process, from the clock that Linux has for it."""
    return time.clock_gettime((~pid << 3) | 2)


class _Collector(BaseHTTPRequestHandler):
    """Accepts traces, and ignores them."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _collector() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Collector) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
