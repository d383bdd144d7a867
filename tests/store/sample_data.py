"""Fills a store with data of every kind, for copies."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from msgspec.structs import replace

from tests.store.values import (
    DAY,
    MINUTE,
    NOW,
    START,
    access_token,
    add_clock,
    advance,
    clock,
    code,
    code_limits,
    connection,
    create_once,
    digest,
    key,
    link,
    make_record,
    sent,
    session,
    user,
)
from tickover.server.schedule.clock import encode_labels
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

LARGE_SCHEDULE = 300_000


@asynccontextmanager
async def open_at(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


async def fill(url: str) -> None:
    """Create random data of every kind: clocks of many days, codes with and without failures, unused emails."""
    random, names = Random(1), Random(-1)
    async with open_at(url) as store:
        for person in range(1000, 1007):
            email = f"{random.choice('aAzZéß_.')}{person}@example.test"
            await sent(store, code(person, NOW, email))
            if random.random() < 0.8:
                assert await store.redeem_code(email, digest(person), session(person)) == user(person)
            await _create_access_tokens(store, person)
            for number in range(person * 10, person * 10 + random.randrange(4)):
                created_at = NOW - random.random() * 15 * DAY
                size = random.choice((1, 50, 3000))
                schedule = random.randbytes(size)
                new = clock(number, created_at)
                if names.random() < 0.5:
                    labels = encode_labels({"ci": names.choice("1é😀")})
                    new = replace(new, name=names.choice((None, "Sümmer")), labels=names.choice((None, labels)))
                if random.random() < 0.5:
                    await add_clock(store, new, user(person), schedule)
                else:
                    known = make_record(number, random.randbytes(32))
                    assert await create_once(store, known, new, user(person), schedule, bytes(16), 0) is None
                await advance(store, key(number, created_at), user(person), START + random.random() * DAY)
                await _connect(store, number, key(number, created_at), user(person))
            number = 500_000 + person
            message = random.choice((code, link))(number, NOW + 2 * MINUTE, email)
            await sent(store, message)
            if random.random() < 0.3:
                await store.allow_resend(message)
            for _ in range(random.randrange(5)):
                await store.count_attempt(email, code_limits(5), NOW + 3 * MINUTE)
        await add_clock(store, clock(1), user(1), random.randbytes(LARGE_SCHEDULE))
        await store.count_attempt("nobody@example.test", code_limits(), NOW)  # a try without a code


async def _create_access_tokens(store: Store, person: int) -> None:
    """Create a token for every third person. Some of them are read-only or used."""
    if person % 3:
        return
    new, digest = access_token(300_000 + person, NOW, days=30, read_only=person % 2 == 0)
    await store.create_access_token(new, digest, user(person), 50)
    if person % 4 == 0:
        await store.record_token_use(digest, NOW.replace(hour=0))


async def _connect(store: Store, number: int, clock_key: bytes, owner: bytes) -> None:
    """Connect the clock. Some programs claim the connection, and some must log in again."""
    setup, access = digest(2_000_000 + number), digest(3_000_000 + number)
    await store.create_connection(connection(number), setup, clock_key, owner, 20)
    if number % 3:
        await store.claim_connection(setup, access, "PLAID", bytes(16))
    if number % 3 == 1:
        await store.require_login(access, "PLAID", bytes(16))
