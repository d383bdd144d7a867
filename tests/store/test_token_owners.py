"""Every store: a token as owner stands for its user until it is revoked."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

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
from tickover.server.storage.store import Amendment, Created, LabelSearch, NameChanges, Owner, Quota, Store, Token

QUOTAS = pytest.mark.parametrize("quota", [Quota(), Quota(100, 10**6)], ids=["without quota", "with quota"])

# The clock 1 exists, and was created with the idempotency record 1. The access token 5 and the connection 5 exist too.
ONE_CLOCK: dict[str, Callable[[Store, Owner], Awaitable[object]]] = {
    "find_clock": lambda store, owner: store.find_clock(key(1), owner),
    "find_creation": lambda store, owner: store.find_creation(digest(1), owner, bytes(16)),
    "advance_clock": lambda store, owner: store.advance_clock(key(1), owner, START + DAY),
    "update_clock": lambda store, owner: store.update_clock(key(1), owner, NameChanges("x"), bytes(16), Quota()),
    "amend_clock": lambda store, owner: store.amend_clock(
        key(1), owner, Amendment(0, START, b"amended", make_record(2)), bytes(16), Quota(100, 10**6)
    ),
    "create_connection": lambda store, owner: store.create_connection(connection(6), digest(6), key(1), owner, 20),
    "list_connections": lambda store, owner: store.list_connections(key(1), owner),
    "delete_connection": lambda store, owner: store.delete_connection(key(5), key(1), owner),
    "delete_clock": lambda store, owner: store.delete_clock(key(1), owner),
    "revoke_access_token": lambda store, owner: store.revoke_access_token(key(5), owner, NOW),
}
ACCESS_TOKENS: dict[str, Callable[[Store, Owner], Awaitable[object]]] = {
    "create_access_token": lambda store, owner: store.create_access_token(access_token(9), owner, 50),
    "list_access_tokens": lambda store, owner: store.list_access_tokens(owner, NOW),
}
MANY_CLOCKS: dict[str, Callable[[Store, Owner], Awaitable[object]]] = {
    "list_clocks": lambda store, owner: store.list_clocks(owner, bytes(16), None, 10),
    "search_clocks": lambda store, owner: store.search_clocks(owner, bytes(16), None, 10, LabelSearch([], 10)),
    "create_clock": lambda store, owner: store.create_clock(clock(2), owner, b"schedule", bytes(16), Quota()),
    "create_clock_once": lambda store, owner: store.create_clock_once(
        make_record(2), clock(2), owner, b"schedule", bytes(16), Quota()
    ),
}


async def sign_in(store: Store, number: int, email: str = ANA) -> Token:
    await sent(store, code(number, NOW, email))
    await store.redeem_code(email, digest(number), session(number))
    token = await store.find_token(digest(number), NOW)
    assert token is not None
    return token


@pytest.fixture
async def token(store: Store) -> Token:
    token = await sign_in(store, 1)
    await store.create_clock_once(make_record(1), clock(1), user(1), b"schedule", bytes(16), Quota())
    await store.create_access_token(access_token(5), user(1), 50)
    await store.create_connection(connection(5), digest(5), key(1), user(1), 20)
    return token


def test_all_methods_with_an_owner_are_tested() -> None:
    methods = {name for name, method in vars(Store).items() if "owner" in getattr(method, "__annotations__", ())}
    assert methods == {*ONE_CLOCK, *MANY_CLOCKS, *ACCESS_TOKENS}


@pytest.mark.parametrize("method", ONE_CLOCK)
async def test_token_stands_for_its_user(store: Store, token: Token, method: str) -> None:
    assert await ONE_CLOCK[method](store, token)


async def test_revoked_token_owns_no_clock(store: Store, token: Token) -> None:
    before = await store.find_clock(key(1), user(1))
    assert await store.revoke_token(token.digest)
    for name, method in ONE_CLOCK.items():
        assert not await method(store, token), name
        assert await store.find_clock(key(1), user(1)) == before, name


async def test_token_of_another_user_owns_no_clock(store: Store, token: Token) -> None:
    other = await sign_in(store, 2, "ben@example.test")
    for name, method in ONE_CLOCK.items():
        assert not await method(store, other), name


async def test_revoked_token_is_unauthenticated(store: Store, token: Token) -> None:
    await store.revoke_token(token.digest)
    for name, method in {**MANY_CLOCKS, **ACCESS_TOKENS}.items():
        with pytest.raises(Rejection) as raised:
            await method(store, token)
        assert raised.value.reason is Reason.UNAUTHENTICATED, name
    assert await listed(store, user(1)) == [key(1)]
    assert [found.key for found in await store.list_access_tokens(user(1), NOW)] == [key(5)]


@QUOTAS
async def test_revoked_token_does_not_disturb_concurrent_creations(store: Store, token: Token, quota: Quota) -> None:
    revoked = await sign_in(store, 2, "ben@example.test")
    await store.revoke_token(revoked.digest)
    owners = [revoked if number % 5 == 0 else token for number in range(50)]
    outcomes = await asyncio.gather(
        *(
            store.create_clock(clock(100 + number), owner, b"schedule", bytes(16), quota)
            for number, owner in enumerate(owners)
        ),
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
