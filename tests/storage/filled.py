"""A store with something of everything in it, and the questions whose answers tell whether a copy behaves the same."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import NamedTuple

from tests.contract.values import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    START,
    WEEK,
    add_clock,
    advance,
    clock,
    code,
    code_limits,
    create_once,
    digest,
    key,
    link,
    make_record,
    sent,
    session,
    user,
)
from tickover.api.ids import first_live_key
from tickover.server.domain.logins import Limits
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

LARGE_SCHEDULE = 300_000


class Filled(NamedTuple):
    """What was put in, by its keys."""

    tokens: list[bytes]
    clocks: list[tuple[bytes, bytes]]
    """With their owners."""
    creations: list[tuple[int, bytes]]
    """The numbers of what some of them were created with, each with the owner."""
    letters: list[tuple[str, bytes]]
    """Addresses, each with the digest of its last code or link."""


@asynccontextmanager
async def open_at(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


async def fill(url: str, seed: int = 1, people: int = 12) -> Filled:
    """Random data of every kind: clocks born on many days, codes with and without failures, letters nobody used."""
    random = Random(seed)
    filled = Filled([], [], [], [])
    async with open_at(url) as store:
        for person in range(seed * 1000, seed * 1000 + people):
            email = f"{random.choice('aAzZéß_.')}{person}@example.test"
            await sent(store, code(person, NOW, email))
            if random.random() < 0.8:
                assert await store.redeem_code(email, digest(person), session(person)) == user(person)
                filled.tokens.append(digest(person))
            for number in range(person * 10, person * 10 + random.randrange(4)):
                born = NOW - random.random() * 15 * DAY
                size = random.choice((1, 50, 3000))
                schedule = random.randbytes(size)
                if random.random() < 0.5:
                    await add_clock(store, clock(number, born), user(person), schedule)
                else:
                    known = make_record(number, random.randbytes(32))
                    new = clock(number, born)
                    assert await create_once(store, known, new, user(person), schedule, bytes(16), 0) is None
                    filled.creations.append((number, user(person)))
                await advance(store, key(number, born), user(person), START + random.random() * DAY)
                filled.clocks.append((key(number, born), user(person)))
            number = 500_000 + person
            letter = random.choice((code, link))(number, NOW + 2 * MINUTE, email)
            await sent(store, letter)
            if random.random() < 0.3:
                await store.free_slot(letter)
            for _ in range(random.randrange(5)):
                await store.count_try(email, code_limits(5), NOW + 3 * MINUTE)
            filled.letters.append((email, letter.digest))
        await add_clock(store, clock(seed), user(seed), random.randbytes(LARGE_SCHEDULE))
        filled.clocks.append((key(seed), user(seed)))
        await store.count_try("nobody@example.test", code_limits(), NOW)  # which meets no code
    return filled


async def answers(url: str, filled: Filled) -> list[object]:
    """What the store says when all that was put in is used, and with that used up."""
    then = NOW + 4 * MINUTE
    said: list[object] = []
    async with open_at(url) as store:
        said.extend([await store.user_of_token(token, then) for token in filled.tokens])
        for clock_key, owner in filled.clocks:
            said.append(await store.advance_clock(clock_key, owner, START - DAY))
            said.append(await store.advance_clock(clock_key, owner, START + WEEK))
            said.append(await store.find_clock(clock_key, owner))
            said.append(await store.list_clocks(owner, first_live_key(then), None, 2))
        for number, owner in filled.creations:
            # Those that were made by a clock that has expired since make another now.
            new, min_live_key = clock(7_000_000 + number, then), first_live_key(then)
            said.append(await create_once(store, make_record(number), new, owner, b"", min_live_key, 0))
        for number, (email, secret) in enumerate(filled.letters, 900_000):
            for interval, most_failures in ((HOUR, 100), (timedelta(0), 2)):
                next_one = link(number * 2 + most_failures, then, email)
                said.append(await store.claim_send(next_one, Limits(interval, failures_in_a_row=most_failures)))
            said.extend([await store.count_try(email, Limits(), then) for _ in range(6)])
            said.append(await store.redeem_code(email, secret, session(number, then)))
            said.append(await store.redeem_link(secret, session(number, then)))
            # Whoever is known keeps the key of the first sign-in.
            said.append(await store.user_of_token(digest(number), then))
    return said
