"""R10: the latency of an honest client beside a hostile one, and the memory of the server."""

import asyncio
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from urllib.parse import urlsplit

import uvloop

from lab.bench.bodies import START
from lab.processes import cpu_seconds, resident_mib
from lab.soak.hostile_client import ATTACKS
from lab.soak.mixed_requests import MixedRequests
from lab.soak.open_loop import OpenLoop, Request, percentile
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import Program, wait_until

_RATE = 50
_CONNECTIONS = 4
_MAX_TIMES = 10
_MAX_MIB = 300
_IDLE_SHARE = 0.05
_FORKS = 16
_GROWN_TRANSACTIONS = 1_900
"""The grown clocks have room for amendments."""
_CURRENCIES = 100
_REQUESTS_PER_HEALTH_CHECK = 10
_DEFAULTS = {"TICKOVER_CLIENT_BURST": "300"}
"""Programs of tests have no limit by default."""


def run(context: Context) -> Iterator[Figure]:
    with context.database() as settings, Program(context.folder, **_DEFAULTS, **settings) as program:
        honest = Honest(program)
        hostile_token = program.sign_in("hostile@example.test")
        read_only = {"name": "hostile", "readOnly": True}
        read_only_token = program.result("createAccessToken", read_only, hostile_token)["token"]
        clocks = _grow_clocks(program, hostile_token)
        credentials = [_connect(program, hostile_token, id) for id in clocks]
        seconds = context.scale(30, 4)
        for number in context.rounds(len(ATTACKS), "attack"):
            name, attack = list(ATTACKS.items())[number]
            wait_until(lambda: _cpu_share(program.process.pid) < _IDLE_SHARE)
            quiet = honest.p99(seconds)
            token = read_only_token if attack.has_read_only_token else hostile_token
            with _attack(program.url, name, token, credentials if attack.is_bank_reader else clocks) as hostile:
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


def _cpu_share(pid: int, seconds: float = 0.5) -> float:
    """Return the share of a core that a process uses during some seconds."""
    before = cpu_seconds(pid)
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / seconds


def _grow_clocks(program: Program, token: str) -> list[str]:
    """Create a clock with the longest names and the most currencies, and forks of it. Return their IDs."""
    items = [
        {
            "at": START,
            "name": "\u0001" * 120,
            "amount": 3.5,
            "currency": f"A{chr(65 + number % _CURRENCIES // 26)}{chr(65 + number % _CURRENCIES % 26)}",
            "type": "EXPENSE",
            "category": "\u0001" * 80,
        }
        for number in range(_GROWN_TRANSACTIONS)
    ]
    clock = program.result("createTestClock", {"frozenTime": START}, token)["clock"]["id"]
    for start in range(0, len(items), 100):
        params = {"id": clock, "add": {"transactions": items[start : start + 100]}}
        program.result("amendTestClock", params, token)
    forks = [program.result("forkTestClock", {"id": clock}, token)["clock"]["id"] for _ in range(_FORKS - 1)]
    return [clock, *forks]


def _connect(program: Program, token: str, id: str) -> str:
    """Connect a program to a clock with SimpleFIN. Return its user and password."""
    connected = program.result("connectTestClock", {"id": id, "protocol": "SIMPLEFIN"}, token)
    claim_path = urlsplit(b64decode(connected["setupToken"]).decode()).path
    claimed = program.request("POST", claim_path)
    assert claimed.status == 200, claimed
    access_url = urlsplit(claimed.body.decode())
    return f"{access_url.username}:{access_url.password}"


class Honest:
    """Sends mixed requests and health checks at a fixed rate, and watches the memory of the server."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.mix = MixedRequests([program.sign_in("honest@example.test")])
        self._numbers = count()
        self.sent = 0
        self.highest_mib = 0.0

    def p99(self, seconds: int) -> float:
        """Return the p99 of the latency in seconds."""
        load = OpenLoop(self._program.url, self._next_request, _CONNECTIONS)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            measured = runner.run(load.run(_RATE, seconds, self._watch))
        self.sent += measured.sent
        return percentile(measured.latencies, 0.99)

    def _next_request(self) -> Request:
        if next(self._numbers) % _REQUESTS_PER_HEALTH_CHECK:
            return self.mix.next_request()
        return Request(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", self._check_health)

    def _check_health(self, status: int, body: bytes) -> None:
        if status != 200:
            self.mix.errors.append(f"/healthz: {status} {body[:300]!r}")

    def _watch(self, _second: int) -> None:
        self.highest_mib = max(self.highest_mib, resident_mib(self._program.process.pid))


@contextmanager
def _attack(url: str, name: str, token: str, targets: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "lab.soak.hostile_client", url, name, token, *targets]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.terminate()


ROW = Row(
    "R10",
    "Cost of hostility",
    "beside one hostile client at 10 Mbit/s, the p99 of another client, health checks included, stays below 10 times "
    "its quiet p99, and memory below 300 MiB",
    run,
    minutes=9.5,
    quick_minutes=1.5,
)
