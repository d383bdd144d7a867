"""The block of sign-ins: the CPU time that a sign-in by emailed code costs the server.

A sign-in requests a code, receives the email, sends the code and gets a session. Tickover is compared with two popular
products, better-auth and django-allauth.

The measure is the CPU time, user and system, of the server's whole process tree. Emails go to a separate process. Eight
clients with persistent connections sign in, each time with a new address. All sides alternate within each round.

Conditions:

- All use SQLite in WAL mode. Tickover and Python's driver, which Django uses, sync at every commit.
  better-sqlite3 doesn't in this mode (`synchronous=NORMAL`), which is cheaper and may lose the last sign-ins.
- Tickover and better-auth (with nodemailer's pool) keep their SMTP connections. Django opens one for each email, which
  is its default.
- A first sign-in creates the user. allauth lets only existing accounts sign in by code, so it doesn't create users.
- Limits by client address are off, because all load comes from one. Passwords are not used.
- allauth uses its API for apps, on gunicorn with one process and one thread, which was cheaper than more threads and
  than uvicorn. Its database connection persists between requests.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPException
from itertools import count

from lab.bench.calls import Sink
from lab.bench.plan import ROUNDS, SIGN_INS
from lab.bench.rounds import Run
from lab.bench.signin_sides import ADDRESS, SIDES, Http, NotMeasured, ServerConfig, Side
from tests.support.ports import free_port

_CLIENTS = 8
_WARM_UP_AGAIN = 16
"""Sign-ins before each later count, after the other sides had their turns."""


def name_of(side: str) -> str:
    return f"CPU ms of a sign-in, {side}"


class _Client:
    """A client, with its connections to the server and to the mail server."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._http = Http(side.port)
        self._sink = side.sink.connect()

    def sign_in(self, numbers: Sequence[int]) -> list[str]:
        """Sign in with this many addresses, one after the other, and return the sessions."""
        return [self._sign_in(ADDRESS.format(number)) for number in numbers]

    def _sign_in(self, email: str) -> str:
        pending = self._side.send(self._http, email)
        return self._side.verify(self._http, email, self._sink.read_code(email), pending)

    def check(self, sessions: Sequence[str]) -> None:
        """Check that the last session is valid and that an invented one is not."""
        if not self._side.accepts(self._http, sessions[-1]):
            raise NotMeasured("a valid session is rejected")
        if self._side.accepts(self._http, sessions[-1][::-1]):
            raise NotMeasured("an invalid session is accepted")

    def close(self) -> None:
        self._http.close()
        self._sink.close()


class _Measurement:
    """One side in all rounds."""

    def __init__(self, side: Side, warm_up: int) -> None:
        self.side = side
        self._warm_up = warm_up
        self._numbers = count()

    def turn(self, sign_ins: int) -> float:
        """Return the CPU milliseconds of a sign-in, after some uncounted ones."""
        with ExitStack() as stack:
            clients = [stack.enter_context(closing(_Client(self.side))) for _ in range(_CLIENTS)]
            pool = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
            self._sign_in_all(pool, clients, self._warm_up)
            self._warm_up = _WARM_UP_AGAIN
            before = self.side.process.cpu_seconds()
            sessions = self._sign_in_all(pool, clients, sign_ins)
            cpu = self.side.process.cpu_seconds() - before
            for client, own_sessions in zip(clients, sessions, strict=True):
                client.check(own_sessions)
        if len({session for own_sessions in sessions for session in own_sessions}) != sign_ins:
            raise NotMeasured("two sign-ins got the same session")
        return cpu / sign_ins * 1000

    def _sign_in_all(self, pool: ThreadPoolExecutor, clients: list[_Client], sign_ins: int) -> list[list[str]]:
        numbers = [next(self._numbers) for _ in range(sign_ins)]
        shares = [numbers[first::_CLIENTS] for first in range(_CLIENTS)]
        return list(pool.map(_Client.sign_in, clients, shares))


def measure_sign_ins(run: Run) -> None:
    """Measure each side in each round, or note why a side could not be measured."""
    sink = run.stack.enter_context(Sink())
    warm_up, sign_ins = run.plan.sign_ins_to_warm_up, run.plan.sign_ins
    users = warm_up + ROUNDS * (sign_ins + _WARM_UP_AGAIN)
    measured = []
    for kind in SIDES:
        run.progress.show_step(f"{SIGN_INS}: starting {kind.name}")
        folder = run.folder / "sign-ins" / kind.name
        folder.mkdir(parents=True)
        try:
            side = kind(ServerConfig(folder, free_port(), sink, users))
            run.stack.callback(side.process.stop)
            side.start()
        except (NotMeasured, AssertionError, OSError) as error:
            run.results.notes[name_of(kind.name)] = str(error)
        else:
            measured.append(_Measurement(side, warm_up))
    for number in range(ROUNDS):
        first = number % max(1, len(measured))
        for one in measured[first:] + measured[:first]:
            step = f"{SIGN_INS}: {one.side.name}, round {number + 1} of {ROUNDS}"
            run.progress.show_step(step)
            try:
                run.results.figure(name_of(one.side.name), one.turn(sign_ins))
            except (NotMeasured, OSError, HTTPException) as error:
                run.results.notes[name_of(one.side.name)] = str(error) or type(error).__name__
                measured.remove(one)
