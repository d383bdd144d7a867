"""R7: public corpora, requests to all operations and the bank, and email addresses are handled cheaply."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from lab.soak import corpora, hostile_addresses, hostile_requests
from lab.soak.hostile_addresses import check_addresses
from lab.soak.hostile_requests import HttpRequest, Seeds
from lab.soak.memory import reset_peak, resident_and_peak_mib
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import Program, verify_params
from tickover.api.limits import MAX_BATCH

_MAX_MILLISECONDS = 250
_MAX_MIB = 64
_REPEATS = 3
_CHUNK = 2_500
_SPELLINGS_EVERY = 10
_TIMEOUT_SECONDS = 60.0
# The OpenRPC document mentions the code, but not in an error.
_INTERNAL = b'"error":{"code":-32603'


class Cost(NamedTuple):
    milliseconds: float
    mib: float


class Sender:
    """Sends one request at a time, and records errors and the largest costs."""

    def __init__(self, program: Program) -> None:
        self._pid = program.process.pid
        self._connection = HTTPConnection(urlsplit(program.url).netloc, timeout=_TIMEOUT_SECONDS)
        self._resident, _ = resident_and_peak_mib(self._pid)
        self.sent = 0
        self.errors: list[str] = []
        self.slowest = 0.0
        self.slowest_request = ""
        self.largest = 0.0

    def send(self, request: HttpRequest) -> None:
        """Send a request. If it took long, repeat it, because the machine may have been busy."""
        cost = self._measure(request)
        for _ in range(_REPEATS):
            if cost.milliseconds <= _MAX_MILLISECONDS:
                break
            repeated = self._measure(request)
            cost = Cost(min(cost.milliseconds, repeated.milliseconds), max(cost.mib, repeated.mib))
        self.sent += 1
        if cost.milliseconds > self.slowest:
            self.slowest = cost.milliseconds
            self.slowest_request = f"{request.path[:100]} {request.body[:300]!r}"
        self.largest = max(self.largest, cost.mib)

    def _measure(self, request: HttpRequest) -> Cost:
        reset_peak(self._pid)
        started = time.perf_counter()
        status, response = self._exchange(request)
        milliseconds = 1000 * (time.perf_counter() - started)
        if status >= 500 or _INTERNAL in response:
            self.errors.append(f"{status} {response[:200]!r} for {request.path[:100]} {request.body[:200]!r}")
        before = self._resident
        self._resident, peak = resident_and_peak_mib(self._pid)
        return Cost(milliseconds, peak - before)

    def _exchange(self, request: HttpRequest) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Authorization": request.authorization}
        # The server may reject a request before its end.
        with suppress(ConnectionError):
            self._connection.request(request.method, request.path, request.body, headers)
        with self._connection.getresponse() as response:
            return response.status, response.read()

    def close(self) -> None:
        self._connection.close()


def run(context: Context) -> Iterator[Figure]:
    with (
        context.database() as settings,
        Program(
            context.folder, TICKOVER_MAX_CLOCKS_PER_USER="0", TICKOVER_MAX_BYTES_PER_USER="0", **settings
        ) as program,
    ):
        token = program.sign_in()
        yield from _send_corpora(context, program, token)
        count = context.scale(200_000, 2_500)
        generated = hostile_requests.generate(1, count, Seeds.of(program, token))
        yield from _send_all(context, "generated requests", Sender(program), generated, count, (0.05, 0.45))
        addresses = context.scale(100_000, 2_000)
        batches = (_rpc(_batch(chunk), token) for chunk in _chunks(hostile_addresses.generate(2, addresses), MAX_BATCH))
        shares = (0.45, 0.75)
        sender = Sender(program)
        yield from _send_all(context, "batches of 50 addresses", sender, batches, addresses // MAX_BATCH, shares)
        assert "Traceback" not in program.output
    # The parser doesn't depend on the store.
    if context.store == "sqlite":
        yield from _check_addresses(context, context.scale(1_000_000, 10_000))


def _send_corpora(context: Context, program: Program, token: str) -> Iterator[Figure]:
    folder = os.environ.get("CORPORA_DIR")
    if not folder:
        yield Figure("corpora", "not run: CORPORA_DIR doesn't name their folder", "all", met=False)
        return
    bodies = list(corpora.bodies(Path(folder)))[:: context.scale(1, 10)]
    requests = (_rpc(body, token) for body in bodies)
    yield from _send_all(context, "corpora", Sender(program), requests, len(bodies), (0.0, 0.05))


def _rpc(body: bytes, token: str) -> HttpRequest:
    return HttpRequest("POST", "/rpc", body, f"Bearer {token}")


def _send_all(
    context: Context,
    name: str,
    sender: Sender,
    requests: Iterable[HttpRequest],
    count: int,
    shares: tuple[float, float],
) -> Iterator[Figure]:
    waiting = iter(requests)
    with closing(sender):
        for _ in context.rounds(-(-count // 100), f"{name}, hundred", *shares):
            for request in islice(waiting, 100):
                sender.send(request)
    yield at_least(name, sender.sent, count)
    yield at_most(f"{name}: HTTP 5xx and -32603", len(sender.errors), 0)
    if sender.errors:
        yield Figure(f"{name}: first error", sender.errors[0])
    yield at_most(f"{name}: slowest", round(sender.slowest, 1), _MAX_MILLISECONDS, " ms")
    if sender.slowest > _MAX_MILLISECONDS:
        yield Figure(f"{name}: slowest request", sender.slowest_request)
    yield at_most(f"{name}: most memory", round(sender.largest, 1), _MAX_MIB, " MiB")


def _chunks(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(islice(texts, size)):
        yield chunk


def _batch(emails: list[str]) -> bytes:
    calls = [
        {"jsonrpc": "2.0", "id": id, "method": "loginByEmailVerification", "params": verify_params(email, "123456")}
        for id, email in enumerate(emails)
    ]
    return json.dumps(calls).encode()


def _check_addresses(context: Context, count: int) -> Iterator[Figure]:
    """Check canonical forms in two processes."""
    chunks = count // _CHUNK
    with ProcessPoolExecutor(2) as processes:
        results = processes.map(check_addresses, range(chunks), [_CHUNK] * chunks, [_SPELLINGS_EVERY] * chunks)
        checked = [next(results) for _ in context.rounds(chunks, f"canonical forms, {_CHUNK:,} addresses", 0.75)]
        processes.shutdown(cancel_futures=True)
    yield at_least("addresses with a rejection or one canonical form", sum(part.addresses for part in checked), count)
    yield Figure("addresses that are accepted", f"{sum(part.accepted for part in checked):,}")
    slowest = max((part.slowest_milliseconds for part in checked), default=0.0)
    yield at_most("slowest address", round(slowest, 1), _MAX_MILLISECONDS, " ms")


ROW = Row(
    "R7",
    "Bad input",
    "all corpora, 200,000 generated requests to all operations and the bank, and 1,000,000 generated addresses: "
    "no HTTP 5xx, no -32603, at most 250 ms and 64 MiB each",
    run,
    minutes=7,
    quick_minutes=0.4,
)
