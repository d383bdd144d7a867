"""A guessing attack in a short form. `make soak` makes a million guesses."""

from pathlib import Path

from lab.soak.guessing import Attack, run_attack
from tickover.server.storage import open_store


async def test_guessing_never_signs_in_and_never_locks_out_the_owner(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'tickover.db'}")
    try:
        await run_attack(store, tmp_path, Attack(addresses=3, clients=30, guesses=1_800))
    finally:
        await store.close()
