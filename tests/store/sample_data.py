"""Fills a store with data of every kind, and queries all of it, to compare a copy with its source."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from tests.store.values import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    START,
    WEEK,
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
    user_of_token,
)
from tickover.api.ids import first_live_key
from tickover.server.schedule.clocks import encode_labels
from tickover.server.sign_in.logins import Limits
from tickover.server.storage import open_store
from tickover.server.storage.store import Store, Token

LARGE_SCHEDULE = 300_000


class Contents(NamedTuple):
    """The keys of the data in a store."""

    tokens: list[bytes]
    clocks: list[tuple[bytes, bytes]]
    """With their owners."""
    creations: list[tuple[int, bytes]]
    """The numbers of idempotency records, each with the owner."""
    connections: list[tuple[bytes, bytes]]
    """Digests of setup secrets and of access secrets."""
    emails: list[tuple[str, bytes]]
    """Addresses, each with the digest of its last code or link."""


@asynccontextmanager
async def open_at(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


async def fill(url: str) -> Contents:
    """Create random data of every kind: clocks of many days, codes with and without failures, unused emails."""
    random, names = Random(1), Random(-1)
    contents = Contents([], [], [], [], [])
    async with open_at(url) as store:
        for person in range(1000, 1007):
            email = f"{random.choice('aAzZéß_.')}{person}@example.test"
            await sent(store, code(person, NOW, email))
            if random.random() < 0.8:
                assert await store.redeem_code(email, digest(person), session(person)) == user(person)
                contents.tokens.append(digest(person))
            contents.tokens.extend(await _create_access_tokens(store, person))
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
                    contents.creations.append((number, user(person)))
                await advance(store, key(number, created_at), user(person), START + random.random() * DAY)
                contents.clocks.append((key(number, created_at), user(person)))
                contents.connections.append(await _connect(store, number, key(number, created_at), user(person)))
            number = 500_000 + person
            message = random.choice((code, link))(number, NOW + 2 * MINUTE, email)
            await sent(store, message)
            if random.random() < 0.3:
                await store.allow_resend(message)
            for _ in range(random.randrange(5)):
                await store.count_attempt(email, code_limits(5), NOW + 3 * MINUTE)
            contents.emails.append((email, message.digest))
        await add_clock(store, clock(1), user(1), random.randbytes(LARGE_SCHEDULE))
        contents.clocks.append((key(1), user(1)))
        await store.count_attempt("nobody@example.test", code_limits(), NOW)  # a try without a code
    return contents


async def _create_access_tokens(store: Store, person: int) -> list[bytes]:
    """Create a token for every third person. Some of them are read-only or used. Return their digests."""
    if person % 3:
        return []
    new = access_token(300_000 + person, NOW, days=30, read_only=person % 2 == 0)
    await store.create_access_token(new, user(person), 50)
    if person % 4 == 0:
        await store.record_token_use(new.digest, NOW.replace(hour=0))
    return [new.digest]


async def _connect(store: Store, number: int, clock_key: bytes, owner: bytes) -> tuple[bytes, bytes]:
    """Connect the clock. Some programs claim the connection, and some must log in again. Return both digests."""
    setup, access = digest(2_000_000 + number), digest(3_000_000 + number)
    await store.create_connection(connection(number), setup, clock_key, owner, 20)
    if number % 3:
        await store.claim_connection(setup, access, "PLAID", bytes(16))
    if number % 3 == 1:
        await store.require_login(access, "PLAID", bytes(16))
    return setup, access


async def query_all(url: str, contents: Contents) -> list[object]:
    """Return the results of calls that use, and use up, all of the data."""
    then = NOW + 4 * MINUTE
    results: list[object] = []
    async with open_at(url) as store:
        results.extend([await store.find_token(token, then) for token in contents.tokens])
        owners = [found.user for found in results if isinstance(found, Token)]
        results.extend([await store.list_access_tokens(owner, then) for owner in owners])
        for clock_key, owner in contents.clocks:
            results.append(await store.advance_clock(clock_key, owner, START - DAY))
            results.append(await store.advance_clock(clock_key, owner, START + WEEK))
            results.append(await store.find_clock(clock_key, owner))
            results.append(await store.list_clocks(owner, first_live_key(then), None, 2))
            results.append(await store.list_connections(clock_key, owner))
        for setup, access in contents.connections:
            results.append(await store.find_connection(access, "PLAID", first_live_key(then)))
            results.append(await store.claim_connection(setup, access, "PLAID", first_live_key(then)))
        for number, owner in contents.creations:
            # A key whose clock has expired creates another clock.
            new, min_live_key = clock(7_000_000 + number, then), first_live_key(then)
            results.append(await create_once(store, make_record(number), new, owner, b"", min_live_key, 0))
        for number, (email, secret) in enumerate(contents.emails, 900_000):
            for interval, max_failures in ((HOUR, 100), (timedelta(0), 2)):
                next_one = link(number * 2 + max_failures, then, email)
                results.append(await store.claim_send(next_one, Limits(interval, failures_in_a_row=max_failures)))
            results.extend([await store.count_attempt(email, Limits(), then) for _ in range(6)])
            results.append(await store.redeem_code(email, secret, session(number, then)))
            results.append(await store.redeem_link(secret, session(number, then)))
            # A known user keeps the key of the first sign-in.
            results.append(await user_of_token(store, digest(number), then))
    return results
