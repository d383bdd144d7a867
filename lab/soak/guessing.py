"""R8: a million guesses at a thousand addresses from ten thousand clients, over 30 days of virtual time."""

import asyncio
from collections.abc import Iterator

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.guessing import DAYS, Attack, Outcome, run_attack
from tickover.server.storage import open_store

_CODES = 1_000_000
_FULL = Attack(addresses=1_000, clients=10_000, guesses=1_000_000)
_FULL_POSTGRES = Attack(addresses=100, clients=1_000, guesses=100_000)
"""Smaller, because the store only counts attempts, and each one is a round trip."""
_QUICK = Attack(addresses=10, clients=100, guesses=6_000)


def run(context: Context) -> Iterator[Figure]:
    full = _FULL if context.store == "sqlite" else _FULL_POSTGRES
    attack = _QUICK if context.is_quick else full
    with context.database(fsync="off") as settings:
        url = settings.get("TICKOVER_DATABASE_URL", f"sqlite:///{context.folder / 'tickover.db'}")
        outcome = asyncio.run(_attack(context, url, attack))
    yield at_least("guesses", outcome.guesses, attack.guesses)
    yield Figure("addresses", f"{attack.addresses:,}")
    yield Figure("clients", f"{attack.clients:,}")
    yield Figure("guesses compared with a live code", f"{outcome.compared:,}")
    # The attack fails if one of them signs in.
    yield Figure("guesses that signed in", "0", "0", True)
    yield at_most("chance for one account between two sign-ins of its owner", outcome.max_in_a_row / _CODES, 1e-4)
    yield Figure("owners who could sign in afterwards", f"{attack.addresses:,}", f"{attack.addresses:,}", True)


async def _attack(context: Context, url: str, attack: Attack) -> Outcome:
    store = await open_store(url)
    try:
        return await run_attack(
            store, context.folder, attack, lambda day: context.progress(day / DAYS, f"day {day + 1} of {DAYS}")
        )
    finally:
        await store.close()


ROW = Row(
    "R8",
    "Guessing",
    "a million guesses from 10,000 clients at 1,000 addresses: a chance of at most 0.0001 for one account",
    run,
    minutes=6,
    quick_minutes=0.1,
)
