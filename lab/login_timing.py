"""Checks whether the time of a failed sign-in reveals the reason.

It measures five kinds of failures in turn, for many rounds, on one real store on disk. It compares the median of each
with that of an unknown address. Run it with `make timing` on an otherwise idle machine.
"""

import asyncio
import json
import logging
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from tickover.server.isolated_process import IsolatedProcess
from tickover.server.logs import Log
from tickover.server.operations.services import Services
from tickover.server.rpc.dispatch import Context, Dispatcher
from tickover.server.settings import read_settings
from tickover.server.sign_in.mail.mailer import Email
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage import open_store

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)


class LastEmail:
    """A mailer that only stores the last email."""

    is_local = False
    secret = ""

    async def deliver(self, email: Email) -> None:
        self.secret = email.secret

    async def close(self) -> None:
        """Do nothing."""


class Bench:
    def __init__(self, rpc: Dispatcher, mailer: LastEmail) -> None:
        self._rpc = rpc
        self._mailer = mailer

    async def call(self, method: str, now: datetime, **params: str) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        return (await self._rpc.dispatch(body, Context(lambda: now, None, "192.0.2.1", "bench"))).body

    async def send(self, email: str, now: datetime) -> str:
        response = await self.call(
            "sendLoginCodeEmail", now, email=email, loginCodeType="SHORT_LIVED", emailType="LOGIN_CODE"
        )
        assert b'"ok"' in response, response
        return self._mailer.secret

    async def verify(self, email: str, code: str, now: datetime) -> bytes:
        return await self.call(
            "loginByEmailVerification", now, email=email, code=code, authenticationMethod="EMAIL_CODE"
        )

    async def lock(self, email: str) -> None:
        """Make a hundred consecutive failures, five for each code, with more than an hour between emails."""
        for number in range(20):
            at = NOW - timedelta(hours=2 * (20 - number))
            code = await self.send(email, at)
            for _ in range(5):
                await self.verify(email, _other_than(code), at)


def _other_than(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06}"


async def _measure(bench: Bench, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each kind of failure. Every round measures each kind once, with its own address."""
    await bench.lock("locked@example.test")

    async def unknown(name: str) -> tuple[str, str, datetime]:
        return name, "123456", NOW

    async def wrong(name: str) -> tuple[str, str, datetime]:
        return name, _other_than(await bench.send(name, NOW)), NOW

    async def expired(name: str) -> tuple[str, str, datetime]:
        return name, await bench.send(name, NOW), NOW + timedelta(minutes=11)

    async def spent(name: str) -> tuple[str, str, datetime]:
        code = await bench.send(name, NOW)
        await bench.verify(name, code, NOW)
        return name, code, NOW

    async def locked(_: str) -> tuple[str, str, datetime]:
        return "locked@example.test", "123456", NOW

    kinds: dict[str, Callable[[str], Awaitable[tuple[str, str, datetime]]]] = {
        "unknown address": unknown, "wrong code": wrong, "expired code": expired, "spent code": spent,
        "locked address": locked,
    }  # fmt: skip
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    responses = set()
    with click.progressbar(range(rounds), label="Failing sign-ins") as progress:
        for number in progress:
            for kind, prepare in random.sample(list(kinds.items()), len(kinds)):
                email, code, now = await prepare(f"{kind.split()[0]}{number}@example.test")
                # Each is measured after the same call, because earlier calls warm caches.
                await bench.send(f"{kind.split()[0]}{number}@elsewhere.test", NOW)
                started = time.perf_counter()
                responses.add(await bench.verify(email, code, now))
                times[kind].append(time.perf_counter() - started)
    assert len(responses) == 1, f"the errors differ: {responses}"
    return times


def _report(times: dict[str, list[float]]) -> None:
    baseline = statistics.median(times["unknown address"])
    click.echo(f"{'reason':20} {'median':>10} {'middle half':>22} {'ratio':>7}")
    for kind, samples in times.items():
        low, middle, high = (value * 1e6 for value in statistics.quantiles(samples, n=4))
        click.echo(f"{kind:20} {middle:>7.0f} µs {low:>9.0f} to {high:>5.0f} µs {middle / 1e6 / baseline:>7.3f}")


async def _run(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(f"sqlite:///{Path(folder) / 'bench.db'}")
        mailer = LastEmail()
        settings = read_settings({}, {"client_burst": "0"})
        log = Log(logging.getLogger("bench"))
        try:
            bench = Bench(
                Dispatcher(
                    Services(store, mailer, Mint(b"a key for benches"), settings, IsolatedProcess(), bytes), log
                ),
                mailer,
            )
            _report(await _measure(bench, rounds))
        finally:
            await store.close()


@click.command()
@click.option("--rounds", default=400, show_default=True, help="The number of rounds.")
def main(rounds: int) -> None:
    """Compare the time of sign-ins that fail for different reasons."""
    asyncio.run(_run(rounds))


if __name__ == "__main__":
    main()
