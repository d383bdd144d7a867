"""Every store: a token as owner stands for its user until it is revoked."""

import asyncio

import pytest

from tests.store.test_store import OWNED
from tests.store.values import (
    ANA,
    DAY,
    NOW,
    START,
    access_token,
    add_clock,
    clock,
    code,
    connection,
    digest,
    key,
    listed,
    make_record,
    sent,
    session,
    user,
)
from tickover.api.errors import Reason, Rejection
from tickover.server.storage.store import Created, Owner, Quota, Store, Token

QUOTAS = pytest.mark.parametrize("quota", [Quota(), Quota(100, 10**6)], ids=["without quota", "with quota"])

NEED_A_VALID_TOKEN = {
    "create_access_token", "list_access_tokens", "list_clocks", "search_clocks", "create_clock",
}  # fmt: skip
"""The others find nothing if the token is not that of the clock's owner."""
ON_ONE_CLOCK = {name: method for name, method in OWNED.items() if name not in NEED_A_VALID_TOKEN}


async def sign_in(store: Store, number: int, email: str = ANA) -> Token:
    await sent(store, code(number, NOW, email))
    await store.redeem_code(email, digest(number), session(number))
    token = await store.find_token(digest(number), NOW)
    assert token is not None
    return token


@pytest.fixture
async def token(store: Store) -> Token:
    token = await sign_in(store, 1)
    await store.create_clock(clock(1), user(1), b"schedule", Quota(), make_record(1))
    await store.create_access_token(*access_token(5), user(1), 50)
    await store.create_connection(connection(5), digest(5), key(1), user(1), 20)
    await store.claim_connection(digest(5), digest(105), "PLAID", bytes(16))
    return token


@pytest.mark.parametrize("method", ON_ONE_CLOCK)
async def test_token_stands_for_its_user(store: Store, token: Token, method: str) -> None:
    # The connection has no calls, which are an empty list.
    assert await ON_ONE_CLOCK[method](store, token) not in (None, False)


async def test_revoked_token_owns_no_clock(store: Store, token: Token) -> None:
    before = await store.find_clock(key(1), user(1))
    assert await store.revoke_token(token.digest)
    for name, method in ON_ONE_CLOCK.items():
        assert await method(store, token) in (None, False), name
        assert await store.find_clock(key(1), user(1)) == before, name


async def test_token_of_another_user_owns_no_clock(store: Store, token: Token) -> None:
    other = await sign_in(store, 2, "ben@example.test")
    for name, method in ON_ONE_CLOCK.items():
        assert await method(store, other) in (None, False), name


async def test_revoked_token_is_unauthenticated(store: Store, token: Token) -> None:
    await store.revoke_token(token.digest)
    for name in NEED_A_VALID_TOKEN:
        with pytest.raises(Rejection) as raised:
            await OWNED[name](store, token)
        assert raised.value.reason is Reason.UNAUTHENTICATED, name
    assert await listed(store, user(1)) == [key(1)]
    assert [found.key for found in await store.list_access_tokens(user(1), NOW)] == [key(5)]


@QUOTAS
async def test_revoked_token_does_not_disturb_concurrent_creations(store: Store, token: Token, quota: Quota) -> None:
    revoked = await sign_in(store, 2, "ben@example.test")
    await store.revoke_token(revoked.digest)
    owners = [revoked if number % 5 == 0 else token for number in range(50)]
    outcomes = await asyncio.gather(
        *(store.create_clock(clock(100 + number), owner, b"schedule", quota) for number, owner in enumerate(owners)),
        return_exceptions=True,
    )
    created = [isinstance(outcome, Created) for outcome in outcomes]
    assert created == [owner is token for owner in owners]
    assert len(await listed(store, user(1))) == 1 + sum(created)
    assert await listed(store, user(2)) == []


async def test_concurrent_advances_with_different_tokens(store: Store, token: Token) -> None:
    other, revoked = await sign_in(store, 2, "ben@example.test"), await sign_in(store, 3, "cid@example.test")
    for number in range(10, 20):
        await add_clock(store, clock(number), user(1))
    await store.revoke_token(revoked.digest)
    owners: list[Owner] = [token, other, revoked, user(1), user(2)] * 2
    results = await asyncio.gather(
        *(store.advance_clock(key(10 + number), owner, START + DAY) for number, owner in enumerate(owners))
    )
    assert [result is not None for result in results] == [True, False, False, True, False] * 2
