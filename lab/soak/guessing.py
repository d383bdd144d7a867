"""R8: a million guesses at a thousand addresses from ten thousand clients, over 30 days of virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import NOW, SETTINGS, HttpResponse, World
from tickover.api.timestamps import Instant
from tickover.server.sign_in.login_emails import CountedAttempt
from tickover.server.sign_in.mail.mailer import Email
from tickover.server.sign_in.resend_limits import SendLimits
from tickover.server.storage import open_store
from tickover.server.storage.store import NewSession, Store

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"
DAYS = 30
MAX_IN_A_ROW = 100
AT_ONCE = 40
"""Addresses that are attacked concurrently. The server rejects calls over its limit of concurrent calls."""
GUESSES_AT_ONCE = 6
"""Concurrent guesses at one address."""


class Attack(NamedTuple):
    addresses: int
    clients: int
    guesses: int


class Outcome(NamedTuple):
    guesses: int
    compared: int
    """Guesses that were compared with a live code."""
    max_in_a_row: int
    """Most guesses at one address that were compared between two sign-ins of its owner."""


class WatchedStore:
    """A store that records which guesses were compared with a live code, and which succeeded."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.compared: Counter[str] = Counter()
        self.max_in_a_row: Counter[str] = Counter()
        self.tries_of_a_code: Counter[bytes] = Counter()
        self.entered_by_code: list[str] = []
        self._in_a_row: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def count_attempt(self, email: str, limits: SendLimits, now: Instant) -> CountedAttempt | None:
        counted = await self._store.count_attempt(email, limits, now)
        if counted is not None:
            self.compared[email] += 1
            self.tries_of_a_code[counted.digest] += 1
            self._in_a_row[email] += 1
            self.max_in_a_row[email] = max(self.max_in_a_row[email], self._in_a_row[email])
        return counted

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        user = await self._store.redeem_code(email, code_digest, session)
        if user is not None:
            self.entered_by_code.append(email)
            self.end_row(email)
        return user

    def end_row(self, email: str) -> None:
        """Start a new count of failures after a sign-in."""
        self._in_a_row[email] = 0


class RecordingMailer:
    """A mailer that stores the last email to each address. The attacker can't read it."""

    is_local = False

    def __init__(self) -> None:
        self.last: dict[str, Email] = {}

    async def deliver(self, email: Email) -> None:
        self.last[email.to] = email

    async def close(self) -> None:
        """Do nothing."""


class Attacker:
    """Requests codes and guesses as the limits allow."""

    def __init__(self, world: World, attack: Attack) -> None:
        self.guessed = 0
        self._world = world
        self._clients: Iterator[str] = cycle(
            f"10.{number // 65_536}.{number // 256 % 256}.{number % 256}" for number in range(attack.clients)
        )
        self._chance = random.Random(2)

    async def attack(self, addresses: list[str], guesses_each: int) -> None:
        """Make this many guesses at each address."""
        left = dict.fromkeys(addresses, guesses_each)
        next_email_at = dict.fromkeys(addresses, self._world.now)
        while any(left.values()):
            self._world.now = min(next_email_at[email] for email in addresses if left[email])
            due = [email for email in addresses if left[email] and next_email_at[email] <= self._world.now]
            for start in range(0, len(due), AT_ONCE):
                group = due[start : start + AT_ONCE]
                waits = await asyncio.gather(*(self._ask_for_a_code(email) for email in group))
                for email, wait in zip(group, waits, strict=True):
                    next_email_at[email] = self._world.now + timedelta(seconds=wait)
                # Guess even if the email was rate-limited.
                tries = {email: min(GUESSES_AT_ONCE, left[email]) for email in group}
                await asyncio.gather(*(self._guess(email) for email, times in tries.items() for _ in range(times)))
                for email, times in tries.items():
                    left[email] -= times

    async def _ask_for_a_code(self, email: str) -> int:
        """Send, and return the seconds to wait before the next send."""
        response = (await self._call(SEND, code_params(email))).json
        return int(response["error"]["data"]["retryAfterSeconds"]) if "error" in response else 60

    async def _guess(self, email: str) -> None:
        code = f"{self._chance.randrange(1_000_000):06}"
        response = await self._call(BY_CODE, verify_params(email, code))
        assert response.status == 200, "with so many client addresses, none needs to make too many calls"
        self.guessed += 1

    async def _call(self, method: str, params: dict[str, str]) -> HttpResponse:
        # The handler reads it before its first await.
        self._world.client = next(self._clients)
        return await self._world.call(method, params)


class Owner(NamedTuple):
    """The owner of an attacked address."""

    email: str
    client: str

    async def send(self, world: World, mailer: RecordingMailer, params: dict[str, str]) -> str:
        """Request an email, and return its secret."""
        world.client = self.client
        assert await world.result(SEND, params) == {"message": "ok"}
        return mailer.last[self.email].secret

    async def sign_in_by_link(self, world: World, mailer: RecordingMailer) -> None:
        link = await self.send(world, mailer, link_params(self.email))
        await world.result(BY_LINK, {"token": link.partition("#token=")[2]})

    async def sign_in_by_code(self, world: World, mailer: RecordingMailer) -> None:
        code = await self.send(world, mailer, code_params(self.email))
        await world.result(BY_CODE, verify_params(self.email, code))


async def run_attack(
    store: Store, folder: Path, attack: Attack, show_day: Callable[[int], None] = lambda _: None
) -> Outcome:
    """Attack a new store, and check that no guess signs in and that no owner is locked out."""
    watched = WatchedStore(store)
    mailer = RecordingMailer()
    world = World(cast("Store", watched), mailer, folder, replace(SETTINGS, client_burst=300))
    owners = [
        Owner(f"user-{number}@example.test", f"172.16.{number // 256}.{number % 256}")
        for number in range(attack.addresses)
    ]
    returning = owners[::2]
    attacker = Attacker(world, attack)
    for day, guesses in enumerate(guesses_by_day(attack)):
        show_day(day)
        world.now = NOW + timedelta(days=day)
        if day == DAYS // 2:
            for owner in returning:
                await owner.sign_in_by_link(world, mailer)
                watched.end_row(owner.email)
            world.pass_time(minutes=1)
        await attacker.attack([owner.email for owner in owners], guesses)
        while await store.sweep(world.now, 200):
            pass
    assert attacker.guessed == attack.guesses
    # Each series of guesses reached the limit, and none exceeded it.
    assert watched.max_in_a_row == {owner.email: MAX_IN_A_ROW for owner in owners}
    rows = {owner: 2 if owner in set(returning) else 1 for owner in owners}
    assert watched.compared == {owner.email: rows[owner] * MAX_IN_A_ROW for owner in owners}
    assert max(watched.tries_of_a_code.values()) == 5
    assert watched.entered_by_code == []
    outcome = Outcome(attacker.guessed, watched.compared.total(), max(watched.max_in_a_row.values()))
    await _sign_in_all(world, mailer, owners)
    assert watched.entered_by_code == [owner.email for owner in owners]
    return outcome


async def _sign_in_all(world: World, mailer: RecordingMailer, owners: list[Owner]) -> None:
    world.pass_time(hours=1)
    for owner in owners:
        await owner.sign_in_by_link(world, mailer)
    world.pass_time(minutes=1)
    for owner in owners:
        await owner.sign_in_by_code(world, mailer)


def guesses_by_day(attack: Attack) -> list[int]:
    """Return the guesses per address and day: a third on the first day, the rest evenly."""
    each = attack.guesses // attack.addresses
    by_day = [each // 3] + [(each - each // 3) // (DAYS - 1)] * (DAYS - 1)
    return [*by_day[:-1], each - sum(by_day[:-1])]


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
