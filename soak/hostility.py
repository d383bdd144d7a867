"""R10: the latency of an honest client beside a hostile one, and the memory of the server."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvloop

from bench.bodies import largest
from soak.hostile_client import ATTACKS
from soak.memory import cpu_share, resident_mib
from soak.mixed_requests import MixedRequests
from soak.open_loop import OpenLoop, percentile
from soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import Program, wait_until

_RATE = 50
_CONNECTIONS = 4
_MAX_TIMES = 10
_MAX_MIB = 300
_IDLE_SHARE = 0.05
_DEFAULTS = {"TICKOVER_CLIENT_BURST": "300"}
"""Programs of tests have no limit by default."""


def run(context: Context) -> Iterator[Figure]:
    with context.database() as settings, Program(context.folder, **_DEFAULTS, **settings) as program:
        honest = Honest(program)
        hostile_token = program.sign_in("hostile@example.test")
        clock = program.result("createTestClock", largest(), hostile_token)["clock"]["id"]
        seconds = context.scale(30, 4)
        for number in context.rounds(len(ATTACKS), "attack"):
            name = list(ATTACKS)[number]
            wait_until(lambda: cpu_share(program.process.pid) < _IDLE_SHARE)
            quiet = honest.p99(seconds)
            with _attack(program.url, name, hostile_token, clock) as hostile:
                beside = honest.p99(seconds)
                assert hostile.poll() is None, "the hostile client ended"
            yield Figure(f"p99, quiet, before {name}", f"{quiet * 1000:.1f} ms")
            yield at_most(f"p99 beside {name}", round(beside / quiet, 1), _MAX_TIMES, " times the quiet p99")
        yield at_least("requests of the honest client", honest.sent, 1)
        yield at_most("its errors", len(honest.mix.errors), 0)
        if honest.mix.errors:
            yield Figure("first error", honest.mix.errors[0])
        yield at_most("highest memory", round(honest.highest_mib, 1), _MAX_MIB, " MiB")
        assert "Traceback" not in program.output


class Honest:
    """Sends mixed requests at a fixed rate, and watches the memory of the server."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.mix = MixedRequests([program.sign_in("honest@example.test")])
        self.sent = 0
        self.highest_mib = 0.0

    def p99(self, seconds: int) -> float:
        """Return the p99 of the latency in seconds."""
        load = OpenLoop(self._program.url, self.mix.next_request, _CONNECTIONS)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            measured = runner.run(load.run(_RATE, seconds, self._watch))
        self.sent += measured.sent
        return percentile(measured.latencies, 0.99)

    def _watch(self, _second: int) -> None:
        self.highest_mib = max(self.highest_mib, resident_mib(self._program.process.pid))


@contextmanager
def _attack(url: str, name: str, token: str, clock: str) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "soak.hostile_client", url, name, token, clock]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.terminate()


ROW = Row(
    "R10",
    "Cost of hostility",
    "beside one hostile client at 10 Mbit/s, the p99 of another client stays below 10 times its quiet p99, and memory "
    "below 300 MiB",
    run,
    minutes=6.5,
    quick_minutes=0.9,
)
