"""Which driver, and is it worth while to gather calls?

Advances and creations are measured over asyncpg and over psycopg, one statement a call, pipelined and gathered, with
few and many clients in one process, on a PostgreSQL server of its own that writes durably. All sides take turns within
each round, and are compared with the first within that round, so that a noisy machine is noisy to all of them alike;
pgbench shows what the server itself can do. Run it with `python -m bench.drivers`, which takes three minutes;
`pip install 'psycopg[binary,pool]'` before that adds the sides of psycopg.
"""

import asyncio
import os
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count, product
from typing import NamedTuple

import click
import uvloop

from bench.clocks import DAY, NOW, START, clock_of, fill, key_of, owner_of, slot_born, typical_schedule
from bench.driver_sides import Pgbench, StoreSide, has_psycopg, open_store_sides
from tests.postgres import PostgresServer
from tickover.core.ids import uuid7
from tickover.ports import Store
from tickover.storage.connections import _SESSION
from tickover.storage.postgres import PostgresStore

CLIENTS = (1, 16, 64)
CLOCKS = 100_000
DATABASE = "bench"
TOMORROW = NOW + DAY
_MICROSECOND = timedelta(microseconds=1)

Verb = Callable[[Store], Awaitable[None]]


class Measured(NamedTuple):
    calls_a_second: float
    cpu_micros: float
    """What a call costs in this process; other processes that want the CPU cannot make it dearer."""


Rounds = dict[tuple[str, int], dict[str, list[Measured]]]
"""For each verb and number of clients, each side in each round."""


class Verbs:
    """What clients do, each time to another clock."""

    def __init__(self, days: int) -> None:
        self._clocks = [(key_of(number, days), owner_of(number)) for number in range(CLOCKS)]
        self._numbers = count()
        self._schedule = typical_schedule()

    async def advance(self, store: Store) -> None:
        number = next(self._numbers)
        # All over the table; the factor is a prime, so that every clock has its turn.
        key, owner = self._clocks[number * 48_271 % CLOCKS]
        assert await store.advance_clock(key, owner, START + number * _MICROSECOND) is not None

    async def create(self, store: Store) -> None:
        # Born on a day of their own, so that they can be thrown away together.
        key = uuid7(TOMORROW, os.urandom(10))
        _, owner = self._clocks[next(self._numbers) % CLOCKS]
        assert await store.create_clock(clock_of(key), owner, self._schedule, living_from=key, most=0) is None


async def _measure(side: StoreSide, verb: Verb, clients: int, seconds: float) -> Measured:
    """So many clients, each of which makes its next call when the last is answered."""
    calls = 0

    async def client() -> None:
        nonlocal calls
        while time.perf_counter() < end:
            await verb(side.store)
            calls += 1

    started, cpu = time.perf_counter(), time.process_time()
    end = started + seconds
    with side.in_use():
        await asyncio.gather(*(client() for _ in range(clients)))
    return Measured(calls / (time.perf_counter() - started), (time.process_time() - cpu) / calls * 1e6)


async def _round(
    server: PostgresServer, sides: list[StoreSide], yardsticks: list[Pgbench], verbs: Verbs, seconds: float
) -> Rounds:
    every: list[tuple[str, Verb]] = [("advance", verbs.advance), ("create", verbs.create)]
    found: Rounds = {}
    for (name, verb), clients in product(every, CLIENTS):
        turns: list[StoreSide | Pgbench] = [*sides, *(yardsticks if name == "advance" else ())]
        # The order of the tables is that of the sides, whoever has the first turn.
        found[name, clients] = {side.name: [] for side in turns}
        for side in random.sample(turns, len(turns)):
            if isinstance(side, Pgbench):
                measured = Measured(side.measure(clients, seconds), 0)
            else:
                measured = await _measure(side, verb, clients, seconds)
            found[name, clients][side.name].append(measured)
        if name == "create":
            slot = slot_born(TOMORROW)
            server.execute(f"truncate clocks_{slot}, schedules_{slot}", DATABASE)
    return found


def _report(rounds: Rounds) -> None:
    """Tables in Markdown: calls as multiples of the first side's, with the middle half of all rounds, and CPU."""
    for verb in dict.fromkeys(verb for verb, _ in rounds):
        heads = ("1 client", *(f"{clients} clients" for clients in CLIENTS[1:]), f"CPU a call, {CLIENTS[-1]} clients")
        click.echo(f"\n| {verb} | {' | '.join(heads)} |")
        click.echo(f"|---|{'---|' * len(heads)}")
        for side, last in rounds[verb, CLIENTS[-1]].items():
            cells = [_compared(rounds[verb, clients], side) for clients in CLIENTS]
            cpu = statistics.median(measured.cpu_micros for measured in last)
            click.echo(f"| {side} | {' | '.join(cells)} | {f'{cpu:.0f} µs' if cpu else ''} |")


def _compared(found: dict[str, list[Measured]], side: str) -> str:
    first = next(iter(found))
    if side == first:
        return f"1 ({statistics.median(one.calls_a_second for one in found[side]):,.0f} calls a second)"
    ratios = [one.calls_a_second / base.calls_a_second for one, base in zip(found[side], found[first], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


@contextmanager
def _server(commit_delay: int) -> Iterator[PostgresServer]:
    """A server that writes durably. A disk that is slower to sync is simulated by a rest before each sync."""
    server = PostgresServer()
    server.settings |= {
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "shared_buffers": "512MB",
        "max_wal_size": "16GB",
        "checkpoint_timeout": "1h",
        "commit_delay": str(commit_delay),
        "commit_siblings": "0",
    }
    with server:
        yield server


async def _run(server: PostgresServer, rounds: int, seconds: float, days: int) -> None:
    url = server.create_database(DATABASE)
    await (await PostgresStore.open(url, 1)).close()
    fill(server, DATABASE, CLOCKS, days)
    # Each driver gets the settings of the store's sessions.
    for name, value in _SESSION.items():
        server.execute(f"alter database {DATABASE} set {name} = '{value}'")
    yardsticks = []
    if days == 1 and Pgbench.is_there(server):
        yardsticks = [Pgbench(server, DATABASE, threads, CLOCKS) for threads in (1, 2)]
    else:
        click.echo("pgbench is left out: it is not there, or clocks of several days are too much for it.")
    sides = await open_store_sides(url)
    verbs = Verbs(days)
    # In the first round connections are made and statements are planned.
    await _round(server, sides, yardsticks, verbs, seconds / 4)
    every: Rounds = {}
    with click.progressbar(range(rounds), label="Measuring") as progress:
        for _ in progress:
            for what, found in (await _round(server, sides, yardsticks, verbs, seconds)).items():
                for name, measured in found.items():
                    every.setdefault(what, {}).setdefault(name, []).extend(measured)
    for store in {side.store for side in sides}:
        await store.close()
    _report(every)


@click.command()
@click.option("--rounds", default=9, type=click.IntRange(2), show_default=True, help="How often each side is measured.")
@click.option("--seconds", default=0.25, show_default=True, help="How long a side is measured each time.")
@click.option("--days", default=1, show_default=True, help="On how many days the clocks were born.")
@click.option("--commit-delay", default=0, show_default=True, help="Microseconds by which to slow the disk's sync.")
def main(rounds: int, seconds: float, days: int, commit_delay: int) -> None:
    """Compare drivers of PostgreSQL, and ways to call it."""
    if not has_psycopg():
        click.echo("psycopg is not installed, so its sides are left out.")
    with _server(commit_delay) as server, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(server, rounds, seconds, days))


if __name__ == "__main__":
    main()
