"""Every store under fifty concurrent calls: methods are atomic, so the counts are exact."""

import asyncio
import random
from collections.abc import AsyncIterator
from itertools import count

import msgspec
import pytest

from tests.store.test_email_limits import Guesser
from tests.store.values import (
    ANA,
    DAY,
    HOUR,
    HOURLY_LIMITS_ONLY,
    MINUTE,
    NOW,
    SECOND,
    START,
    add_clock,
    advance,
    claim,
    clock,
    code,
    code_limits,
    key,
    link,
    redeem,
    sent,
    session,
    user,
    user_of_token,
)
from tests.support.stores import open_checked_store
from tickover.server.sign_in.logins import Claimed, CountedAttempt, SecretKind, TooSoon
from tickover.server.storage.store import Store

pytestmark = pytest.mark.usefixtures("long_timeouts")

_CONCURRENT = 50
# `make soak` runs 1,000 rounds of similar races.
_ROUNDS = 3


async def test_of_concurrent_claims_one_succeeds(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        numbers = range(number * _CONCURRENT, (number + 1) * _CONCURRENT)
        messages = [(code if racer % 2 else link)(racer, now) for racer in numbers]
        results = await asyncio.gather(*(claim(store, message) for message in messages))
        assert results.count(None) == 1
        assert results.count(now) == _CONCURRENT - 1


async def test_concurrent_tries_are_counted_up_to_the_limit(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        message = await sent(store, code(number, now))
        results = await asyncio.gather(*(store.count_attempt(ANA, code_limits(), now) for _ in range(_CONCURRENT)))
        assert results.count(CountedAttempt(message.digest, now)) == 5
        assert results.count(None) == _CONCURRENT - 5


async def test_newer_code_stays_valid_when_the_older_one_is_redeemed(store: Store) -> None:
    """The older code is redeemed before the newer one is sent, or not at all.

    A late redemption must not void the newer code.
    """
    for number in range(_ROUNDS):
        now = NOW + 2 * number * MINUTE
        older = await sent(store, code(2 * number, now))
        newer = code(2 * number + 1, now + MINUTE)
        redeeming = [
            store.redeem_code(ANA, older.digest, session(number * _CONCURRENT + n)) for n in range(_CONCURRENT)
        ]
        middle = number * 2
        first, last = redeeming[:middle], redeeming[middle:]
        results = await asyncio.gather(*first, claim(store, newer), *last)
        assert results.pop(middle) is None
        assert len([result for result in results if result is not None]) <= 1
        assert await store.count_attempt(ANA, code_limits(), now + MINUTE) == CountedAttempt(
            newer.digest, newer.sent_at
        )


async def test_of_concurrent_advances_the_latest_time_wins(store: Store) -> None:
    shuffle = random.Random(1).shuffle
    await add_clock(store, clock(1), user(1))
    for number in range(_ROUNDS):
        targets = [START + number * DAY + racer * SECOND for racer in range(_CONCURRENT)]
        shuffle(targets)
        results = await asyncio.gather(*(advance(store, key(1), user(1), target) for target in targets))
        for target, result in zip(targets, results, strict=True):
            assert result is not None
            assert target <= result.frozen_time <= max(targets)
        stands = await advance(store, key(1), user(1), START)
        assert stands is not None
        assert stands.frozen_time == max(targets)


@pytest.fixture
async def other_store(store: Store, database_url: str) -> AsyncIterator[Store]:
    """A second store on the same database, as in another process."""
    opened = await open_checked_store(database_url)
    yield opened
    await opened.close()


async def test_of_a_concurrent_link_and_code_one_creates_a_session(store: Store, other_store: Store) -> None:
    won_by: list[SecretKind] = []
    for number in range(20):  # enough for both to win
        now = NOW + number * HOUR
        emails = [
            await sent(store, kind(2 * number + index, now), HOURLY_LIMITS_ONLY)
            for index, kind in enumerate((code, link))
        ]
        # Every other round starts with a link.
        racers = [emails[(racer + number) % 2] for racer in range(_CONCURRENT)]
        sessions = [session((number + 1) * 1_000 + racer, now) for racer in range(_CONCURRENT)]
        stores = [other_store if racer % 3 == 2 else store for racer in range(_CONCURRENT)]
        results = await asyncio.gather(*map(redeem, stores, racers, sessions))
        [winner] = [email.kind for email, result in zip(racers, results, strict=True) if result is not None]
        won_by.append(winner)
        assert [await user_of_token(store, new.token_digest, now) for new in sessions] == results
        assert await store.count_attempt(ANA, code_limits(), now) is None
    assert set(won_by) == {SecretKind.CODE, SecretKind.LINK}, "one of the two didn't take part in the race"


@pytest.mark.parametrize(("networks", "limit"), [(1, 10), (2, 20), (_CONCURRENT, 30)])
async def test_concurrent_emails_respect_the_hourly_limits(
    store: Store, other_store: Store, networks: int, limit: int
) -> None:
    numbers = count()
    for number in range(_ROUNDS):
        calls = []
        for racer in range(_CONCURRENT):
            kind, each = (code, link)[racer // 2 % 2], (store, other_store)[racer % 2]
            message = kind(next(numbers), NOW, f"user-{number}@example.test", b"%16d" % (racer % networks))
            calls.append(each.claim_send(message, HOURLY_LIMITS_ONLY))
        results = await asyncio.gather(*calls)
        assert results.count(Claimed(codes_stopped=False)) == limit
        assert results.count(TooSoon(NOW, HOUR, by_last_email=False)) == _CONCURRENT - limit


async def test_concurrent_tries_are_compared_up_to_the_limit_on_failures(store: Store, other_store: Store) -> None:
    guesser = Guesser(store)
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10, failures_in_a_row=30)
    for number in range(_ROUNDS):
        email = f"user-{number}@example.test"
        compared = 0
        for _ in range(5):
            tries = [
                (store, other_store)[racer % 2].count_attempt(email, guesser.limits, guesser.now + MINUTE)
                for racer in range(_CONCURRENT)
            ]
            # A new code arrives during the tries.
            results = await asyncio.gather(*tries[:5], guesser.send(code, email), *tries[5:])
            compared += len([result for result in results if isinstance(result, CountedAttempt)])
        assert compared == 30
