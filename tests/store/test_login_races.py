"""Counts of emails, sign-ins and failures are exact under fifty concurrent calls.

The calls come from one store, or from two stores on one database.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from itertools import count
from typing import Any

import msgspec
import pytest

from tests.store.emails import HOURLY_LIMITS_ONLY, LIMITS, Guesser, code, link, sent
from tests.store.values import ANA, HOUR, MINUTE, NOW, session, user_of_token
from tests.support.stores import open_checked_store
from tickover.api.timestamps import Instant
from tickover.server.sign_in.logins import Claimed, CountedAttempt, LoginEmail, TooSoon
from tickover.server.storage.store import NewSession, Store

CONCURRENT = 50
# `make soak` runs 1,000 rounds of similar races.
ROUNDS = 3


@pytest.fixture
async def other_store(store: Store, database_url: str) -> AsyncIterator[Store]:
    """A second store on the same database, as in another process."""
    opened = await open_checked_store(database_url)
    yield opened
    await opened.close()


@pytest.fixture
def guesser(store: Store) -> Guesser:
    return Guesser(store)


async def concurrently(*calls: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*calls)


def winners(results: list[bytes | None]) -> list[bytes]:
    return [result for result in results if result is not None]


async def test_of_concurrent_uses_of_a_link_one_creates_a_session(store: Store, other_store: Store) -> None:
    for number in range(ROUNDS):
        now = NOW + number * MINUTE
        message = await sent(store, link(number, now))
        sessions = [session((number + 1) * 1_000 + racer, now) for racer in range(CONCURRENT)]
        stores = [(store, other_store)[racer % 2] for racer in range(CONCURRENT)]
        results = await concurrently(
            *(each.redeem_link(message.digest, new) for each, new in zip(stores, sessions, strict=True))
        )
        assert len(winners(results)) == 1
        let_in = [await user_of_token(store, new.token_digest, now) for new in sessions]
        assert let_in == results


async def test_of_concurrent_links_of_one_address_one_creates_a_session(store: Store) -> None:
    users = set()
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        messages = [await sent(store, link(number * 1_000 + racer, now)) for racer in range(10)]
        sessions = [session((number + 1) * 100_000 + racer, now) for racer in range(CONCURRENT)]
        results = await concurrently(
            *(store.redeem_link(messages[racer % 10].digest, new) for racer, new in enumerate(sessions))
        )
        assert len(winners(results)) == 1
        users.update(winners(results))
    assert len(users) == 1


async def test_of_a_concurrent_link_and_code_one_creates_a_session(store: Store, other_store: Store) -> None:
    won_by_link: list[bool] = []
    for number in range(20):  # enough for both to win
        now = NOW + number * HOUR
        messages = [await sent(store, code(2 * number, now)), await sent(store, link(2 * number + 1, now))]
        # Every other round starts with a link.
        racers = [(racer + number) % 2 == 1 for racer in range(CONCURRENT)]
        calls = []
        for racer, by_link in enumerate(racers):
            each = other_store if racer % 3 == 2 else store
            new = session((number + 1) * 1_000 + racer, now)
            calls.append(
                each.redeem_link(messages[1].digest, new) if by_link else each.redeem_code(ANA, messages[0].digest, new)
            )
        results = await concurrently(*calls)
        won_by_link += [by_link for by_link, result in zip(racers, results, strict=True) if result is not None]
        assert len(won_by_link) == number + 1
        assert await store.count_attempt(ANA, LIMITS, now) is None
    assert set(won_by_link) == {False, True}, "one of the two didn't take part in the race"


async def test_token_is_invalid_for_calls_after_its_revocation(store: Store, other_store: Store) -> None:
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        message = await sent(store, link(number, now))
        new = session(1_000 + number, now)
        assert await store.redeem_link(message.digest, new) is not None
        race = Revocation(new.token_digest, now)
        await concurrently(
            *(race.use((store, other_store)[racer % 2]) for racer in range(CONCURRENT)), race.revoke(store)
        )
        assert {(False, True), (True, False)} <= race.uses
        assert (True, True) not in race.uses


class Revocation:
    """A race between the revocation of a token and its uses.

    It records whether each use came after it and succeeded.
    """

    def __init__(self, token_digest: bytes, now: Instant) -> None:
        self.uses: set[tuple[bool, bool]] = set()
        self._used = asyncio.Event()
        self._token_digest = token_digest
        self._now = now
        self._revoked = False

    async def revoke(self, store: Store) -> None:
        """Revoke the token after its first use."""
        await self._used.wait()
        await store.revoke_token(self._token_digest)
        self._revoked = True

    async def use(self, store: Store) -> None:
        """Use the token until a use starts after the revocation."""
        was_revoked = False
        while not was_revoked:
            was_revoked = self._revoked
            lets_in = await user_of_token(store, self._token_digest, self._now) is not None
            self.uses.add((was_revoked, lets_in))
            self._used.set()
            await asyncio.sleep(0)


async def test_concurrent_sign_ins_and_logouts_leave_each_token_in_its_last_state(store: Store) -> None:
    async def sign_in(message: LoginEmail, new: NewSession, and_out_again: bool) -> None:
        assert await store.redeem_link(message.digest, new) is not None
        if and_out_again:
            await store.revoke_token(new.token_digest)

    for number in range(ROUNDS):
        racers = range(number * CONCURRENT, (number + 1) * CONCURRENT)
        messages = [await sent(store, link(racer, email=f"user-{racer}@example.test")) for racer in racers]
        sessions = [session(1_000_000 + racer) for racer in racers]
        odd = [racer % 2 == 1 for racer in racers]
        await concurrently(*(sign_in(*each) for each in zip(messages, sessions, odd, strict=True)))
        let_in = [await user_of_token(store, new.token_digest, NOW) is not None for new in sessions]
        assert let_in == [not each for each in odd]


@pytest.mark.parametrize(("networks", "limit"), [(1, 10), (2, 20), (CONCURRENT, 30)])
async def test_concurrent_emails_respect_the_hourly_limits(
    store: Store, other_store: Store, networks: int, limit: int
) -> None:
    numbers = count()
    for number in range(ROUNDS):
        calls = []
        for racer in range(CONCURRENT):
            kind, each = (code, link)[racer // 2 % 2], (store, other_store)[racer % 2]
            message = kind(next(numbers), NOW, f"user-{number}@example.test", b"%16d" % (racer % networks))
            calls.append(each.claim_send(message, HOURLY_LIMITS_ONLY))
        results = await concurrently(*calls)
        assert results.count(Claimed(codes_stopped=False)) == limit
        assert results.count(TooSoon(NOW, HOUR, by_last_email=False)) == CONCURRENT - limit


async def test_emails_undone_concurrently_free_exactly_their_number(store: Store) -> None:
    async def send(message: LoginEmail, and_undo: bool) -> bool:
        """Return whether the email stays recorded."""
        if isinstance(await store.claim_send(message, HOURLY_LIMITS_ONLY), TooSoon):
            return False
        if and_undo:
            await store.undo_send(message)
        return not and_undo

    numbers = count()
    for number in range(ROUNDS):
        email = f"user-{number}@example.test"
        stored = sum(
            await concurrently(*(send(code(next(numbers), email=email), racer % 2 == 1) for racer in range(CONCURRENT)))
        )
        afterwards = [await send(code(next(numbers), email=email), and_undo=False) for _ in range(11)]
        assert stored + sum(afterwards) == 10


async def test_concurrent_tries_are_compared_up_to_the_limit_on_failures(
    store: Store, other_store: Store, guesser: Guesser
) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10, failures_in_a_row=30)
    for number in range(ROUNDS):
        email = f"user-{number}@example.test"
        compared = 0
        for _ in range(5):
            tries = [
                (store, other_store)[racer % 2].count_attempt(email, guesser.limits, guesser.now + MINUTE)
                for racer in range(CONCURRENT)
            ]
            # A new code arrives during the tries.
            results = await concurrently(*tries[:5], guesser.send(code, email), *tries[5:])
            compared += len([result for result in results if isinstance(result, CountedAttempt)])
        assert compared == 30
