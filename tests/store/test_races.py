"""Every store under fifty concurrent calls: methods are atomic, so the counts are exact."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from tests.store.values import (
    ANA,
    DAY,
    HOUR,
    HOURLY_LIMITS_ONLY,
    NOW,
    SECOND,
    START,
    add_clock,
    advance,
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
from tickover.server.sign_in.logins import SecretKind
from tickover.server.storage.store import Store

pytestmark = pytest.mark.usefixtures("long_timeouts")

_CONCURRENT = 50
# `make soak` runs 1,000 rounds of similar races.
_ROUNDS = 3


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
