"""The contract of every store under fifty calls at once: each verb is atomic, so the counts are exact."""

import asyncio
import random
from datetime import timedelta

from tests.contract.values import (
    ANA,
    DAY,
    END,
    MINUTE,
    NOW,
    SECOND,
    START,
    advance,
    allowing,
    claim,
    clock,
    code,
    create,
    digest,
    keep,
    key,
    link,
    schedule_of,
    sent,
    session,
    tries_left,
    user,
)
from tickover.server.domain.logins import Try
from tickover.server.storage.store import Store

_AT_ONCE = 50
_ROUNDS = 20


async def test_of_many_claims_one_wins(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        numbers = range(number * _AT_ONCE, (number + 1) * _AT_ONCE)
        letters = [(code if racer % 2 else link)(racer, now) for racer in numbers]
        answers = await asyncio.gather(*(claim(store, letter) for letter in letters))
        assert answers.count(None) == 1
        assert answers.count(now) == _AT_ONCE - 1


async def test_claims_for_different_addresses_do_not_hinder_each_other(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        letters = [code(number * _AT_ONCE + racer, now, f"user-{racer}@example.test") for racer in range(_AT_ONCE)]
        assert await asyncio.gather(*(claim(store, letter) for letter in letters)) == [None] * _AT_ONCE


async def test_of_many_tries_so_many_are_counted(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        letter = await sent(store, code(number, now))
        answers = await asyncio.gather(*(store.count_try(ANA, allowing(), now) for _ in range(_AT_ONCE)))
        assert answers.count(Try(letter.digest, now)) == 5
        assert answers.count(None) == _AT_ONCE - 5


async def test_of_many_redemptions_one_opens_a_session(store: Store) -> None:
    users: list[bytes] = []
    for number in range(_ROUNDS):
        now = NOW + number * MINUTE
        letter = await sent(store, code(number, now))
        numbers = range(number * _AT_ONCE, (number + 1) * _AT_ONCE)
        answers = await asyncio.gather(*(store.redeem_code(ANA, letter.digest, session(n, now)) for n in numbers))
        winners = [answer for answer in answers if answer is not None]
        let_in = await asyncio.gather(*(store.user_of_token(digest(n), now) for n in numbers))
        assert [found for found in let_in if found is not None] == winners
        users += winners
    # One session a round; and every round was the same address, and so the same user.
    assert len(users) == _ROUNDS
    assert len(set(users)) == 1


async def test_a_newer_code_stays_good_whenever_the_older_one_is_redeemed(store: Store) -> None:
    """The older is redeemed before the newer takes its place, or not at all; a late one must not void the newer."""
    for number in range(_ROUNDS):
        now = NOW + 2 * number * MINUTE
        older = await sent(store, code(2 * number, now))
        newer = code(2 * number + 1, now + MINUTE)
        redeeming = [store.redeem_code(ANA, older.digest, session(number * _AT_ONCE + n)) for n in range(_AT_ONCE)]
        middle = number * 2
        first, last = redeeming[:middle], redeeming[middle:]
        answers = await asyncio.gather(*first, claim(store, newer), *last)
        assert answers.pop(middle) is None
        assert len([answer for answer in answers if answer is not None]) <= 1
        assert await store.count_try(ANA, allowing(), now + MINUTE) == Try(newer.digest, newer.sent_at)


async def test_of_many_advances_the_farthest_stands(store: Store) -> None:
    shuffle = random.Random(1).shuffle
    await keep(store, clock(1), user(1))
    for number in range(_ROUNDS):
        targets = [START + number * DAY + racer * SECOND for racer in range(_AT_ONCE)]
        shuffle(targets)
        answers = await asyncio.gather(*(advance(store, key(1), user(1), target) for target in targets))
        for target, answer in zip(targets, answers, strict=True):
            assert answer is not None
            assert target <= answer.frozen_time <= max(targets)
        stands = await advance(store, key(1), user(1), START)
        assert stands is not None
        assert stands.frozen_time == max(targets)


async def test_equal_advances_at_once_all_arrive(store: Store) -> None:
    await keep(store, clock(1), user(1))
    for number in range(_ROUNDS):
        target = START + number * DAY
        answers = await asyncio.gather(*(advance(store, key(1), user(1), target) for _ in range(_AT_ONCE)))
        assert [answer and answer.frozen_time for answer in answers] == [target] * _AT_ONCE


async def test_advances_beyond_the_end_move_nothing_however_many(store: Store) -> None:
    await keep(store, clock(1), user(1))
    beyond = END + timedelta(microseconds=1)
    answers = await asyncio.gather(*(advance(store, key(1), user(1), beyond) for _ in range(_AT_ONCE)))
    assert answers == [clock(1)] * _AT_ONCE


async def test_of_many_creations_the_limit_is_kept(store: Store) -> None:
    for number in range(_ROUNDS):
        owner = user(number)
        numbers = range(number * _AT_ONCE, (number + 1) * _AT_ONCE)
        answers = await asyncio.gather(
            *(create(store, clock(n), owner, b"schedule", min_live_key=bytes(16), limit=7) for n in numbers)
        )
        kept = [n for n, answer in zip(numbers, answers, strict=True) if answer is None]
        assert len(kept) == 7
        assert [n for n in numbers if await schedule_of(store, key(n), owner) is not None] == kept
        assert {answer for answer in answers if answer is not None} <= {key(n) for n in kept}


async def test_a_clock_whose_key_is_taken_is_refused_and_hurts_no_other(store: Store) -> None:
    """That would be a fault of ours, for keys are drawn by lot."""
    for number in range(5):
        numbers = [*range(number * _AT_ONCE, (number + 1) * _AT_ONCE), number * _AT_ONCE + 7]
        calls = (create(store, clock(n), user(1), b"schedule", min_live_key=bytes(16), limit=0) for n in numbers)
        answers = await asyncio.gather(*calls, return_exceptions=True)
        refused = [n for n, answer in zip(numbers, answers, strict=True) if answer is not None]
        assert refused == [number * _AT_ONCE + 7]
        assert [n for n in numbers if await schedule_of(store, key(n), user(1)) is None] == []


async def test_only_tries_that_met_the_earlier_code_are_counted_against_it(store: Store) -> None:
    for number in range(_ROUNDS):
        now = NOW + 2 * number * MINUTE
        older = await sent(store, code(2 * number, now))
        newer = await sent(store, code(2 * number + 1, now + MINUTE))
        tries = [store.count_try(ANA, allowing(), now + MINUTE) for _ in range(4)]
        answers = await asyncio.gather(*tries[:2], store.undo_send(newer), *tries[2:])
        counted = answers.count(Try(older.digest, older.sent_at))
        assert await tries_left(store, ANA, 5, now + MINUTE) == 5 - counted


async def test_sweeps_at_once_sweep_everything_dead_and_nothing_else(store: Store) -> None:
    for number in range(200):
        await keep(store, clock(number, NOW - 8 * DAY if number % 2 else NOW), user(1))
    while sum(await asyncio.gather(*(store.sweep(NOW, 3) for _ in range(10)))):
        pass
    assert [n for n in range(200) if await schedule_of(store, key(n), user(1)) is not None] == list(range(0, 200, 2))
    assert [n for n in range(200) if await schedule_of(store, key(n, NOW - 8 * DAY), user(1)) is not None] == []
