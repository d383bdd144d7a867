"""A guessing attack over thirty days of virtual time: many addresses, many client addresses, every limit as it comes.

`make test` runs a short form. With FULL_SOAK=1 in the environment it is a thousand addresses, ten thousand client
addresses and a million guesses, which takes minutes.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from tests.support.program import code_params, link_params, verify_params
from tests.support.world import NOW, HttpResponse, World
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Limits, Try
from tickover.server.mail.mailer import Email
from tickover.server.operations import Policy
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import NewSession

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"
DAYS = 30
MOST_IN_A_ROW = 100
AT_ONCE = 100
"""How many addresses are guessed at in the same moment; with more, the program would ask for patience."""


class Attack(NamedTuple):
    addresses: int
    clients: int
    guesses: int


ATTACK = Attack(1_000, 10_000, 1_000_000) if os.environ.get("FULL_SOAK") == "1" else Attack(20, 200, 20_000)


class WatchedStore(SqliteStore):
    """The real store; it notes which guesses were compared with a live code, and who got in."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.compared: Counter[str] = Counter()
        self.most_in_a_row: Counter[str] = Counter()
        self.tries_of_a_code: Counter[bytes] = Counter()
        self.entered_by_code: list[str] = []
        self._in_a_row: Counter[str] = Counter()

    async def count_try(self, email: str, limits: Limits, now: Instant) -> Try | None:
        counted = await super().count_try(email, limits, now)
        if counted is not None:
            self.compared[email] += 1
            self.tries_of_a_code[counted.digest] += 1
            self._in_a_row[email] += 1
            self.most_in_a_row[email] = max(self.most_in_a_row[email], self._in_a_row[email])
        return counted

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        user = await super().redeem_code(email, code_digest, session)
        if user is not None:
            self.entered_by_code.append(email)
            self.end_row(email)
        return user

    def end_row(self, email: str) -> None:
        """The address was signed in to: what follows is another row."""
        self._in_a_row[email] = 0


class Letterbox:
    """A mailer that keeps the last letter to each address. The attacker cannot look into it."""

    is_local = False

    def __init__(self) -> None:
        self.last: dict[str, Email] = {}

    async def deliver(self, email: Email) -> None:
        self.last[email.to] = email

    async def close(self) -> None:
        """Nothing is held open."""


class Attacker:
    """Asks for codes whenever that is allowed, and guesses as fast as every limit lets him."""

    def __init__(self, world: World, attack: Attack) -> None:
        self.guessed = 0
        self._world = world
        self._clients: Iterator[str] = cycle(
            f"10.{number // 65_536}.{number // 256 % 256}.{number % 256}" for number in range(attack.clients)
        )
        self._chance = random.Random(2)

    async def attack(self, addresses: list[str], guesses_each: int) -> None:
        """Make so many guesses at each address, in as little time as it takes."""
        left = dict.fromkeys(addresses, guesses_each)
        next_letter = dict.fromkeys(addresses, self._world.now)
        while any(left.values()):
            self._world.now = min(next_letter[email] for email in addresses if left[email])
            due = [email for email in addresses if left[email] and next_letter[email] <= self._world.now]
            waits = await asyncio.gather(*(self._ask_for_a_code(email) for email in due))
            for email, wait in zip(due, waits, strict=True):
                next_letter[email] = self._world.now + timedelta(seconds=wait)
            # Letters of which he is told that they may follow later were not sent: he guesses all the same.
            for start in range(0, len(due), AT_ONCE):
                tries = {email: min(6, left[email]) for email in due[start : start + AT_ONCE]}
                await asyncio.gather(*(self._guess(email) for email, times in tries.items() for _ in range(times)))
                for email, times in tries.items():
                    left[email] -= times

    async def _ask_for_a_code(self, email: str) -> int:
        """Ask; how many seconds to wait before the next time."""
        answer = (await self._call(SEND, code_params(email))).json
        return int(answer["error"]["data"]["retryAfterSeconds"]) if "error" in answer else 60

    async def _guess(self, email: str) -> None:
        code = f"{self._chance.randrange(1_000_000):06}"
        answer = await self._call(BY_CODE, verify_params(email, code))
        assert answer.status == 200, "with so many client addresses, none needs to make too many calls"
        self.guessed += 1

    async def _call(self, method: str, params: dict[str, str]) -> HttpResponse:
        # It is read before the call first waits for anything.
        self._world.client = next(self._clients)
        return await self._world.call(method, params)


class Owner(NamedTuple):
    """One of those whose addresses are attacked, at home."""

    email: str
    client: str

    async def send(self, world: World, letterbox: Letterbox, params: dict[str, str]) -> str:
        """Have a letter sent, and read its secret."""
        world.client = self.client
        assert await world.result(SEND, params) == {"message": "ok"}
        return letterbox.last[self.email].secret

    async def sign_in_by_link(self, world: World, letterbox: Letterbox) -> None:
        link = await self.send(world, letterbox, link_params(self.email))
        await world.result(BY_LINK, {"token": link.partition("#token=")[2]})

    async def sign_in_by_code(self, world: World, letterbox: Letterbox) -> None:
        code = await self.send(world, letterbox, code_params(self.email))
        await world.result(BY_CODE, verify_params(self.email, code))


async def test_guessing_never_signs_in_and_never_locks_out_the_owner(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path / "tickover.db")
    letterbox = Letterbox()
    world = World(store, letterbox, tmp_path, Policy("https://tickover.example.test", 0))
    owners = [
        Owner(f"user-{number}@example.test", f"172.16.{number // 256}.{number % 256}")
        for number in range(ATTACK.addresses)
    ]
    returning = owners[::2]
    attacker = Attacker(world, ATTACK)
    try:
        for day, guesses in enumerate(guesses_by_day()):
            world.now = NOW + timedelta(days=day)
            if day == DAYS // 2:
                for owner in returning:
                    await owner.sign_in_by_link(world, letterbox)
                    store.end_row(owner.email)
                world.pass_time(minutes=1)
            await attacker.attack([owner.email for owner in owners], guesses)
            while await store.sweep(world.now, 200):
                pass

        assert attacker.guessed == ATTACK.guesses
        # The ceiling was reached everywhere, by each row of guesses, and passed nowhere.
        assert store.most_in_a_row == {owner.email: MOST_IN_A_ROW for owner in owners}
        rows = {owner: 2 if owner in set(returning) else 1 for owner in owners}
        assert store.compared == {owner.email: rows[owner] * MOST_IN_A_ROW for owner in owners}
        assert max(store.tries_of_a_code.values()) == 5
        assert store.entered_by_code == []

        world.pass_time(hours=1)
        for owner in owners:
            await owner.sign_in_by_link(world, letterbox)
        world.pass_time(minutes=1)
        for owner in owners:
            await owner.sign_in_by_code(world, letterbox)
        assert store.entered_by_code == [owner.email for owner in owners]
    finally:
        await store.close()


def guesses_by_day() -> list[int]:
    """How many at each address: a third of all on the first day, against the hourly caps, and the rest day by day."""
    each = ATTACK.guesses // ATTACK.addresses
    by_day = [each // 3] + [(each - each // 3) // (DAYS - 1)] * (DAYS - 1)
    return [*by_day[:-1], each - sum(by_day[:-1])]
