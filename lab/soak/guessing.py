"""R8: a million guesses at a thousand addresses from ten thousand clients, over 30 days of virtual time.

All codes are the same, and the attacker makes as many wrong guesses as the limits allow. All further guesses are right,
and each must be refused: one that is compared with a live code in spite of the limits would sign in.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import NOW, SETTINGS, HttpResponse, World
from tickover.api.limits import CODE_ATTEMPTS, FAILURES_IN_A_ROW
from tickover.server.sign_in.mail.mailer import Email, EmailKind
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

_CODE, _WRONG_CODE = "481920", "481921"
_DAYS = 30
_AT_ONCE = 40
"""Addresses that are attacked concurrently. The server rejects calls over its limit of concurrent calls."""
_GUESSES_AT_ONCE = CODE_ATTEMPTS + 1
_FIRST_GUESSES = CODE_ATTEMPTS - 2
"""At the first code. So the failures are used up before the attempts with the last code are."""


class Attack(NamedTuple):
    addresses: int
    clients: int
    guesses: int


class OneCodeMint(Mint):
    def new_code(self) -> str:
        return _CODE


class LastEmails:
    """A mailer that stores the last email to each address."""

    is_local = False

    def __init__(self) -> None:
        self.by_address: dict[str, Email] = {}

    async def deliver(self, email: Email) -> None:
        self.by_address[email.to] = email

    async def close(self) -> None:
        """Do nothing."""


class Target:
    """An attacked address, and the IP address of its owner."""

    def __init__(self, number: int, guesses: int) -> None:
        self.address = f"user-{number}@example.test"
        self.client = f"172.16.{number // 256}.{number % 256}"
        self.guesses_left = guesses
        self.next_email_at = NOW
        self.failures = 0
        """Wrong guesses since the last sign-in."""
        self.most_failures = 0


class Attacker:
    def __init__(self, world: World, mailer: LastEmails, clients: int) -> None:
        self._world = world
        self._mailer = mailer
        self._clients = cycle(f"10.{n // 65_536}.{n // 256 % 256}.{n % 256}" for n in range(clients))

    async def attack(self, targets: list[Target], guesses_left: int) -> None:
        """Guess at each target until it has this many guesses left."""
        while due := [target for target in targets if target.guesses_left > guesses_left]:
            self._world.now = min(target.next_email_at for target in due)
            due = [target for target in due if target.next_email_at <= self._world.now]
            for start in range(0, len(due), _AT_ONCE):
                await asyncio.gather(*(self._attack_once(one, guesses_left) for one in due[start : start + _AT_ONCE]))

    async def _attack_once(self, target: Target, guesses_left: int) -> None:
        """Request a code, guess wrong as often as allowed, and then guess right."""
        allowed = await self._request_code(target)
        size = min(_GUESSES_AT_ONCE, target.guesses_left - guesses_left)
        wrong = min(allowed, size)
        await asyncio.gather(*(self._guess(target, _WRONG_CODE) for _ in range(wrong)))
        target.failures += wrong
        target.most_failures = max(target.most_failures, target.failures)
        is_used_up = wrong in (0, CODE_ATTEMPTS) or target.failures == FAILURES_IN_A_ROW
        right = size - wrong if is_used_up else 0
        await asyncio.gather(*(self._guess(target, _CODE) for _ in range(right)))
        target.guesses_left -= wrong + right

    async def _request_code(self, target: Target) -> int:
        """Return how many guesses at a code the server allows. The limits on emails may allow no code."""
        response = (await self._call("sendLoginCodeEmail", code_params(target.address))).json
        is_sent = "result" in response
        wait = 60 if is_sent else response["error"]["data"]["retryAfterSeconds"]
        target.next_email_at = self._world.now + timedelta(seconds=wait)
        if not is_sent:
            return 0
        has_code = self._mailer.by_address[target.address].kind is EmailKind.CODE
        assert has_code == (target.failures < FAILURES_IN_A_ROW), f"{target.failures} failures lock an address"
        return min(CODE_ATTEMPTS if target.failures else _FIRST_GUESSES, FAILURES_IN_A_ROW - target.failures)

    async def _guess(self, target: Target, code: str) -> None:
        response = await self._call("loginByEmailVerification", verify_params(target.address, code))
        assert response.status == 200, "with so many client addresses, none needs to make too many calls"
        assert "error" in response.json, f"a guess signed in after {target.failures} failures"

    async def _call(self, method: str, params: dict[str, str]) -> HttpResponse:
        # The handler reads it before its first await.
        self._world.client = next(self._clients)
        return await self._world.call(method, params)


async def run_attack(
    store: Store, folder: Path, attack: Attack, show_day: Callable[[int], None] = lambda _: None
) -> int:
    """Attack a new store, and check that no guess signs in and that no owner is locked out.

    Return the most guesses that were compared with live codes of one address between two sign-ins of its owner.
    """
    mailer = LastEmails()
    world = World(store, mailer, folder, replace(SETTINGS, client_burst=300))
    world.services.mint = OneCodeMint(b"a key for the attack", os.urandom)
    attacker = Attacker(world, mailer, attack.clients)
    targets = [Target(number, attack.guesses // attack.addresses) for number in range(attack.addresses)]
    guesses_left = attack.guesses // attack.addresses
    for day in range(_DAYS):
        show_day(day)
        world.now = NOW + timedelta(days=day)
        if day == _DAYS // 2:
            for target in targets[::2]:
                await _sign_in_by_link(world, mailer, target)
            world.pass_time(minutes=1)
        # A third of the guesses is on the first day.
        guesses_left = guesses_left * 2 // 3 if day == 0 else guesses_left * (_DAYS - 1 - day) // (_DAYS - day)
        for target in targets:
            target.next_email_at = world.now
        await attacker.attack(targets, guesses_left)
        while await store.sweep(world.now, 200):
            pass
    world.pass_time(hours=1)
    for target in targets:
        await _sign_in_by_link(world, mailer, target)
    world.pass_time(minutes=1)
    for target in targets:
        await _send(world, target, code_params(target.address))
        await world.result("loginByEmailVerification", verify_params(target.address, _CODE))
    assert {target.guesses_left for target in targets} == {0}
    return max(target.most_failures for target in targets)


async def _send(world: World, target: Target, params: dict[str, Any]) -> None:
    world.client = target.client
    assert await world.result("sendLoginCodeEmail", params) == {"message": "ok"}


async def _sign_in_by_link(world: World, mailer: LastEmails, target: Target) -> None:
    await _send(world, target, link_params(target.address))
    link = mailer.by_address[target.address].secret
    await world.result("loginByEmailLink", {"token": link.partition("#token=")[2]})
    target.failures = 0


_FULL = Attack(addresses=1_000, clients=10_000, guesses=1_000_000)
_FULL_POSTGRES = Attack(addresses=100, clients=1_000, guesses=100_000)
"""Smaller, because the store only counts attempts, and each one is a round trip."""
_QUICK = Attack(addresses=10, clients=100, guesses=6_000)


def run(context: Context) -> Iterator[Figure]:
    full = _FULL if context.store == "sqlite" else _FULL_POSTGRES
    attack = _QUICK if context.is_quick else full
    with context.database(fsync="off") as settings:
        url = settings.get("TICKOVER_DATABASE_URL", f"sqlite:///{context.folder / 'tickover.db'}")
        most_compared = asyncio.run(_attack(context, url, attack))
    # The attack fails if one of them signs in, or if an owner can't sign in afterwards.
    yield Figure(f"guesses from {attack.clients:,} clients at {attack.addresses:,} addresses", f"{attack.guesses:,}")
    yield at_least("most guesses compared with live codes of one address", most_compared, FAILURES_IN_A_ROW)
    yield at_most("chance for one account between two sign-ins of its owner", most_compared / 1_000_000, 1e-4)


async def _attack(context: Context, url: str, attack: Attack) -> int:
    store = await open_store(url)
    try:
        return await run_attack(
            store, context.folder, attack, lambda day: context.progress(day / _DAYS, f"day {day + 1} of {_DAYS}")
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
