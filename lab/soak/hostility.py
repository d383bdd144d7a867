"""R10: the latency of an honest client beside a hostile one, and the memory of the server."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from lab.open_loop import OpenLoop, Request, percentile, run_async
from lab.processes import cpu_seconds, resident_mib
from lab.soak.attacks import ATTACKS, Loot
from lab.soak.hostile_client import Plan
from lab.soak.mixed_requests import MixedRequests
from lab.soak.rows import STORES, Context, Figure, Row, at_least
from tests.support.program import Program

_RATE = 50
_CONNECTIONS = 4
_MAX_TIMES = 10
_MAX_HEALTH_SECONDS = 1
_MAX_MIB = 300
_IDLE_SHARE = 0.05
_MAX_BUSY_SECONDS = 60
_REQUESTS_PER_HEALTH_CHECK = 10
_DEFAULTS = {"TICKOVER_CLIENT_BURST": "300"}
"""Programs of tests have no limit by default."""


def run(context: Context) -> Iterator[Figure]:
    with context.database() as settings, Program(context.folder, **_DEFAULTS, **settings) as program:
        honest = Honest(program)
        loot = Loot.prepare(program)
        seconds = context.scale(30, 3)
        # A quick run tries each attack on one of the stores.
        attacks = ATTACKS[STORES.index(context.store) :: len(STORES)] if context.is_quick else ATTACKS
        for number in context.rounds(len(attacks), "attack"):
            attack = attacks[number]
            busy = _wait_until_idle(program.process.pid)
            quiet = honest.p99(seconds)
            honest.begin()
            with _attack(program.url, Plan(attack.behaviour, attack.contents(loot)), context.folder) as hostile:
                beside = honest.p99(seconds)
                assert hostile.poll() is None, "the hostile client ended"
            yield honest.figure(f"{attack.name} ({attack.by})", quiet, beside)
            if honest.mix.errors:
                yield Figure("first error", honest.mix.errors[0])
            yield Figure("quiet before", f"p99 {quiet * 1000:.1f} ms, idle after {busy:.0f} s")
        yield at_least("requests of the honest client", honest.sent, 1)
        assert "Traceback" not in program.output


def _wait_until_idle(pid: int, look_seconds: float = 0.5) -> float:
    """Wait until a process uses little of a core, and return the seconds. What it still does is quiet for the rest."""
    began = time.monotonic()
    while time.monotonic() - began < _MAX_BUSY_SECONDS:
        before = cpu_seconds(pid)
        time.sleep(look_seconds)
        if (cpu_seconds(pid) - before) / look_seconds < _IDLE_SHARE:
            break
    return time.monotonic() - began


class Honest:
    """Sends mixed requests and health checks at a fixed rate, and watches the memory of the server."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.mix = MixedRequests([program.sign_in("honest@example.test")])
        self._numbers = count()
        self.sent = 0
        self.begin()

    def begin(self) -> None:
        """Forget what was seen before."""
        self.highest_mib = 0.0
        self.slowest_health_check = 0.0
        self.mix.errors.clear()

    def figure(self, name: str, quiet: float, beside: float) -> Figure:
        """Compare the p99 with the quiet one, and return it with what was seen since `begin`."""
        times, errors = beside / quiet, len(self.mix.errors)
        health, mib = self.slowest_health_check, self.highest_mib
        return Figure(
            name,
            f"p99 {times:.1f} times the quiet one, /healthz {health:.2f} s, {mib:.0f} MiB, {errors} errors",
            f"{_MAX_TIMES} times, {_MAX_HEALTH_SECONDS} s, {_MAX_MIB} MiB, 0 errors",
            times < _MAX_TIMES and health <= _MAX_HEALTH_SECONDS and mib < _MAX_MIB and not errors,
        )

    def p99(self, seconds: int) -> float:
        """Return the p99 of the latency in seconds."""
        load = OpenLoop(self._program.url, self._next_request, _CONNECTIONS)
        measured = run_async(load.run(_RATE, seconds, self._watch))
        self.sent += measured.sent
        return percentile(measured.latencies, 0.99)

    def _next_request(self) -> Request:
        if next(self._numbers) % _REQUESTS_PER_HEALTH_CHECK:
            return self.mix.next_request()
        due = time.monotonic()
        return Request(
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            lambda status, body: self._check_health(status, body, time.monotonic() - due),
        )

    def _check_health(self, status: int, body: bytes, seconds: float) -> None:
        self.slowest_health_check = max(self.slowest_health_check, seconds)
        if status != 200:
            self.mix.errors.append(f"/healthz: {status} {body[:300]!r}")

    def _watch(self, _second: int) -> None:
        self.highest_mib = max(self.highest_mib, resident_mib(self._program.process.pid))


@contextmanager
def _attack(url: str, plan: Plan, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    file = folder / "plan.json"
    plan.write(file)
    with subprocess.Popen([sys.executable, "-m", "lab.soak.hostile_client", url, str(file)]) as process:
        try:
            yield process
        finally:
            process.terminate()


ROW = Row(
    "R10",
    "Cost of hostility",
    "beside one hostile client at 10 Mbit/s (no token, a read-only token, a signed-in user, a bank connection), the "
    "p99 of another one stays below 10 times its quiet p99, /healthz responds within 1 s, memory stays below 300 MiB",
    run,
    minutes=19,
    quick_minutes=1.1,
)
