"""The contract of every store under fifty concurrent calls: methods are atomic, so the counts are exact."""

import asyncio
import random
from datetime import timedelta

from tests.store.values import (
    ANA,
    DAY,
    END,
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
    create,
    digest,
    key,
    link,
    schedule_of,
    sent,
    session,
    tries_left,
    user,
    user_of_token,
)
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage.store import Store

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


async def test_claims_for_different_addresses_are_independent(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        messages = [
            code(number * _CONCURRENT + racer, now, f"user-{racer}@example.test") for racer in range(_CONCURRENT)
        ]
        assert await asyncio.gather(*(claim(store, message) for message in messages)) == [None] * _CONCURRENT


async def test_concurrent_tries_are_counted_up_to_the_limit(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        message = await sent(store, code(number, now))
        results = await asyncio.gather(*(store.count_attempt(ANA, code_limits(), now) for _ in range(_CONCURRENT)))
        assert results.count(CountedAttempt(message.digest, now)) == 5
        assert results.count(None) == _CONCURRENT - 5


async def test_of_concurrent_redemptions_one_creates_a_session(store: Store) -> None:
    users: list[bytes] = []
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        message = await sent(store, code(number, now))
        numbers = range(number * _CONCURRENT, (number + 1) * _CONCURRENT)
        results = await asyncio.gather(*(store.redeem_code(ANA, message.digest, session(n, now)) for n in numbers))
        winners = [result for result in results if result is not None]
        let_in = await asyncio.gather(*(user_of_token(store, digest(n), now) for n in numbers))
        assert [found for found in let_in if found is not None] == winners
        users += winners
    # Each round creates one session for the same address, so for the same user.
    assert len(users) == _ROUNDS
    assert len(set(users)) == 1


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


async def test_equal_concurrent_advances_all_succeed(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    for number in range(_ROUNDS):
        target = START + number * DAY
        results = await asyncio.gather(*(advance(store, key(1), user(1), target) for _ in range(_CONCURRENT)))
        assert [result and result.frozen_time for result in results] == [target] * _CONCURRENT


async def test_concurrent_advances_past_max_time_change_nothing(store: Store) -> None:
    await add_clock(store, clock(1), user(1))
    beyond = END + timedelta(microseconds=1)
    results = await asyncio.gather(*(advance(store, key(1), user(1), beyond) for _ in range(_CONCURRENT)))
    assert results == [clock(1)] * _CONCURRENT


async def test_concurrent_creations_respect_the_quota(store: Store) -> None:
    for number in range(_ROUNDS):
        owner = user(number)
        numbers = range(number * _CONCURRENT, (number + 1) * _CONCURRENT)
        results = await asyncio.gather(
            *(create(store, clock(n), owner, b"schedule", min_live_key=bytes(16), limit=7) for n in numbers)
        )
        stored = [n for n, result in zip(numbers, results, strict=True) if result is None]
        assert len(stored) == 7
        assert [n for n in numbers if await schedule_of(store, key(n), owner) is not None] == stored
        assert {result for result in results if result is not None} <= {key(n) for n in stored}


async def test_clock_with_a_used_key_is_rejected_and_others_succeed(store: Store) -> None:
    """This would be a bug, because keys are random."""
    for number in range(5):
        numbers = [*range(number * _CONCURRENT, (number + 1) * _CONCURRENT), number * _CONCURRENT + 7]
        calls = (create(store, clock(n), user(1), b"schedule", min_live_key=bytes(16), limit=0) for n in numbers)
        results = await asyncio.gather(*calls, return_exceptions=True)
        rejected = [n for n, result in zip(numbers, results, strict=True) if result is not None]
        assert rejected == [number * _CONCURRENT + 7]
        assert [n for n in numbers if await schedule_of(store, key(n), user(1)) is None] == []


async def test_only_tries_of_the_earlier_code_count_against_it(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + 2 * number * MINUTE
        older = await sent(store, code(2 * number, now))
        newer = await sent(store, code(2 * number + 1, now + MINUTE))
        tries = [store.count_attempt(ANA, code_limits(), now + MINUTE) for _ in range(4)]
        results = await asyncio.gather(*tries[:2], store.undo_send(newer), *tries[2:])
        counted = results.count(CountedAttempt(older.digest, older.sent_at))
        assert await tries_left(store, ANA, 5, now + MINUTE) == 5 - counted


async def test_concurrent_sweeps_delete_exactly_the_expired_rows(store: Store) -> None:
    for number in range(200):
        await add_clock(store, clock(number, NOW - 8 * DAY if number % 2 else NOW), user(1))
    while sum(await asyncio.gather(*(store.sweep(NOW, 3) for _ in range(10)))):
        pass
    assert [n for n in range(200) if await schedule_of(store, key(n), user(1)) is not None] == list(range(0, 200, 2))
    assert [n for n in range(200) if await schedule_of(store, key(n, NOW - 8 * DAY), user(1)) is not None] == []
