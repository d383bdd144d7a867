"""Measures the CPU time that a sign-in by emailed code costs the server.

A sign-in requests a code, receives the email, sends the code and gets a session. Tickover is compared with two popular
products, better-auth and django-allauth, and with the FastAPI program in `bench.baselines`.

The measure is the CPU time, user and system, of the server's whole process tree. Emails go to `bench.sink`, a separate
process. Eight clients with persistent connections sign in, each time with a new address. All sides alternate within
each round.

Run it with `python -m lab.bench.signin` on an otherwise idle machine. It needs Linux, and
`make .venv-lab/bench/allauth .node-lab/bench/ready` first.

Conditions:

- All use SQLite in WAL mode. Tickover and Python's driver, which Django and FastAPI use, sync at every commit.
  better-sqlite3 doesn't in this mode (`synchronous=NORMAL`), which is cheaper and may lose the last sign-ins.
- Tickover and better-auth (with nodemailer's pool) keep their SMTP connections. Django opens one for each email, which
  is its default, and so does the FastAPI program.
- A first sign-in creates the user. allauth lets only existing accounts sign in by code, so it doesn't create users.
- Limits by client address are off, because all load comes from one. Passwords are not used.
- allauth uses its API for apps, on gunicorn with one process and one thread, which was cheaper than more threads and
  than uvicorn. Its database connection persists between requests.
"""

import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import NamedTuple

import click

from lab.bench.signin_sides import (
    ADDRESS,
    RESPONSE_SECONDS,
    ROOT,
    Allauth,
    BetterAuth,
    FastApi,
    Http,
    NotMeasured,
    ServerConfig,
    Side,
    Tickover,
)
from lab.bench.sink import HOST
from tests.support.ports import free_port

SIDES = (Tickover, FastApi, BetterAuth, Allauth)
TARGETS = {BetterAuth.name: 1 / 5, Allauth.name: 1 / 10}
"""The maximum cost of a sign-in for Tickover, as a fraction of the other side's cost."""
CLIENTS = 8
WARM_UP = 800
"""Sign-ins before the first count, because interpreters run code faster after a while, above all V8."""
WARM_UP_AGAIN = 16
"""The same before each later count, after the other sides had their turns."""


class Result(NamedTuple):
    side: str
    cpu_ms: list[float]
    """CPU milliseconds for each sign-in, one figure for each round."""
    per_second: list[float]
    """Sign-ins a second, one figure for each round. Clients and sink share the machine, so this is not a capacity."""
    not_measured: str = ""
    """The reason if there are no figures, or fewer than rounds."""


class Sink(NamedTuple):
    smtp_port: int
    code_port: int


class Client:
    """A client, with its connections to the server and to the sink."""

    def __init__(self, side: Side, sink: Sink) -> None:
        self._side = side
        self._http = Http(side.port)
        self._questions = socket.create_connection((HOST, sink.code_port), RESPONSE_SECONDS)
        self._codes = self._questions.makefile("r", encoding="ascii")

    def sign_in(self, numbers: Sequence[int]) -> list[str]:
        """Sign in with this many addresses, one after the other, and return the sessions."""
        return [self._sign_in(ADDRESS.format(number)) for number in numbers]

    def _sign_in(self, email: str) -> str:
        pending = self._side.send(self._http, email)
        self._questions.sendall(f"{email}\n".encode())
        code = self._codes.readline().strip()
        return self._side.verify(self._http, email, code, pending)

    def check(self, sessions: Sequence[str]) -> None:
        """Check that the last session is valid and that an invented one is not."""
        if not self._side.accepts(self._http, sessions[-1]):
            raise NotMeasured("a valid session is rejected")
        if self._side.accepts(self._http, sessions[-1][::-1]):
            raise NotMeasured("an invalid session is accepted")

    def close(self) -> None:
        self._http.close()
        self._codes.close()
        self._questions.close()


class Measurement:
    """One side in all rounds."""

    def __init__(self, side: Side, sink: Sink) -> None:
        self.result = Result(side.name, [], [])
        self._side = side
        self._sink = sink
        self._numbers = count()

    def start(self, folder: Path, users: int) -> None:
        folder.mkdir()
        try:
            self._side.start(ServerConfig(folder, free_port(), self._sink.smtp_port, users))
        except NotMeasured as reason:
            self.give_up(str(reason))

    def stop(self) -> None:
        self._side.stop()

    def give_up(self, reason: str) -> None:
        self.result = self.result._replace(not_measured=reason)

    def turn(self, sign_ins: int) -> None:
        """Count this many sign-ins, after some uncounted ones."""
        warm_up = WARM_UP_AGAIN if self.result.cpu_ms else WARM_UP
        with ExitStack() as stack:
            clients = [stack.enter_context(closing(Client(self._side, self._sink))) for _ in range(CLIENTS)]
            pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))
            self._sign_in_all(pool, clients, warm_up)
            cpu, clock = self._side.cpu_seconds(), time.perf_counter()
            sessions = self._sign_in_all(pool, clients, sign_ins)
            seconds, cpu = time.perf_counter() - clock, self._side.cpu_seconds() - cpu
            for client, own_sessions in zip(clients, sessions, strict=True):
                client.check(own_sessions)
        all_sessions = [session for own_sessions in sessions for session in own_sessions]
        if len(set(all_sessions)) != sign_ins:
            raise NotMeasured("two sign-ins got the same session")
        self.result.cpu_ms.append(cpu / sign_ins * 1000)
        self.result.per_second.append(sign_ins / seconds)

    def _sign_in_all(self, pool: ThreadPoolExecutor, clients: list[Client], sign_ins: int) -> list[list[str]]:
        numbers = [next(self._numbers) for _ in range(sign_ins)]
        shares = [numbers[first::CLIENTS] for first in range(CLIENTS)]
        return list(pool.map(Client.sign_in, clients, shares))


def _ignore(_: str) -> None:
    """The default callback for progress."""


def measure(
    rounds: int, sign_ins: int, sides: Sequence[type[Side]] = SIDES, on_progress: Callable[[str], None] = _ignore
) -> list[Result]:
    """Return the cost of a sign-in for each side in each round, or the reason why a side could not be measured."""
    if sign_ins < CLIENTS:
        raise ValueError(f"Use at least {CLIENTS} sign-ins, one for each client.")
    users = WARM_UP + rounds * (sign_ins + WARM_UP_AGAIN)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sink = stack.enter_context(_sink())
        measurements = [Measurement(side(), sink) for side in sides]
        for number, measurement in enumerate(measurements):
            on_progress(f"starting {measurement.result.side}")
            measurement.start(folder / str(number), users)
            if not measurement.result.not_measured:
                stack.callback(measurement.stop)
        for round in range(rounds):
            first = round % len(measurements)
            for measurement in measurements[first:] + measurements[:first]:
                if not measurement.result.not_measured:
                    on_progress(f"round {round + 1} of {rounds}: {measurement.result.side}")
                    _take_turn(measurement, sign_ins)
        return [measurement.result for measurement in measurements]


def _take_turn(measurement: Measurement, sign_ins: int) -> None:
    try:
        measurement.turn(sign_ins)
    except (NotMeasured, OSError, HTTPException) as error:
        measurement.give_up(f"{error}" or type(error).__name__)


@contextmanager
def _sink() -> Iterator[Sink]:
    command = [sys.executable, "-m", "lab.bench.sink"]
    with subprocess.Popen(  # noqa: S603 - constant arguments
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            smtp_port, code_port = map(int, process.stdout.readline().split())
            yield Sink(smtp_port, code_port)
        finally:
            with suppress(OSError):
                process.stdin.close()


def report(results: Sequence[Result]) -> None:
    click.echo(f"{'':16} {'CPU a sign-in':>14} {'lowest to highest':>22} {'sign-ins/s':>11}")
    for result in results:
        if result.cpu_ms:
            low, middle, high = min(result.cpu_ms), statistics.median(result.cpu_ms), max(result.cpu_ms)
            rate = statistics.median(result.per_second)
            click.echo(f"{result.side:16} {middle:>11.2f} ms {low:>11.2f} to {high:>5.2f} ms {rate:>11.0f}")
        if result.not_measured:
            click.echo(f"{result.side:16} not measured: {result.not_measured}")
    ours, *others = results
    for other in others:
        ratios = [one / its for one, its in zip(ours.cpu_ms, other.cpu_ms, strict=False)]
        if ratios:
            target = f", may be {TARGETS[other.side]:.2f}" if other.side in TARGETS else ""
            spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
            click.echo(f"{ours.side} / {other.side}: {statistics.median(ratios):.3f} ({spread}{target})")


@click.command()
@click.option("--rounds", default=5, show_default=True, help="The number of rounds.")
@click.option("--sign-ins", default=400, show_default=True, help="Sign-ins of each side in one round.")
def main(rounds: int, sign_ins: int) -> None:
    """Compare the cost of a sign-in by emailed code."""
    report(measure(rounds, sign_ins, on_progress=lambda step: click.echo(step, err=True)))


if __name__ == "__main__":
    main()
