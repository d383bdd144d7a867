"""Every store: access tokens."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.store.values import (
    ANA,
    BEN,
    DAY,
    MICROSECOND,
    NOW,
    SECOND,
    access_token,
    code,
    digest,
    key,
    sent,
    session,
    user,
)
from tickover.server.sign_in.tokens import Permission
from tickover.server.storage.store import Created, Store, Token, TooManyTokens

LIMIT = 50
TODAY = NOW.replace(hour=0)


@pytest.mark.parametrize(
    ("read_only", "permission"), [(False, Permission.WRITE), (True, Permission.READ)], ids=["read-write", "read-only"]
)
async def test_access_token_is_found_by_its_digest(store: Store, read_only: bool, permission: Permission) -> None:
    new, token_digest = access_token(1, read_only=read_only)
    assert await store.create_access_token(new, token_digest, user(1), LIMIT) == Created()
    expected = Token(token_digest, user(1), new.expires_at, permission)
    assert await store.find_token(token_digest, new.expires_at - MICROSECOND) == expected
    assert await store.find_token(token_digest, new.expires_at) is None
    assert not await store.revoke_access_token(new.key, user(1), new.expires_at)
    assert await store.revoke_access_token(new.key, user(1), new.expires_at - MICROSECOND)


async def test_token_of_a_session_has_all_permissions(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    found = await store.find_token(digest(7), NOW)
    assert found is not None
    assert (found.permission, found.last_used_on) == (Permission.SESSION, None)


async def test_list_has_the_users_live_tokens_newest_first(store: Store) -> None:
    ages = {1: 3, 2: 2, 3: 1}
    tokens = {number: access_token(number, NOW - age * DAY, read_only=number == 2) for number, age in ages.items()}
    expired = access_token(4, NOW - 10 * DAY, days=10)
    for new in (*tokens.values(), expired):
        await store.create_access_token(*new, user(1), LIMIT)
    await store.create_access_token(*access_token(5), user(2), LIMIT)
    assert await store.list_access_tokens(user(1), NOW) == [tokens[3][0], tokens[2][0], tokens[1][0]]
    assert await store.list_access_tokens(user(3), NOW) == []
    assert len(await store.list_access_tokens(user(1), NOW - MICROSECOND)) == 4


# Limit


async def test_live_tokens_of_a_user_are_limited(store: Store) -> None:
    await store.create_access_token(*access_token(1, NOW - DAY, days=1), user(1), 2)  # expired
    await store.create_access_token(*access_token(2, days=30), user(1), 2)
    assert await store.create_access_token(*access_token(3, days=20), user(1), 2) == Created()
    assert await store.create_access_token(*access_token(4), user(1), 2) == TooManyTokens(NOW + 20 * DAY)
    assert await store.create_access_token(*access_token(4), user(2), 2) == Created()
    assert await store.revoke_access_token(key(2), user(1), NOW)
    assert await store.create_access_token(*access_token(5), user(1), 2) == Created()


async def test_concurrent_creations_stay_within_the_limit(
    store: Store, open_another: Callable[[], Awaitable[Store]]
) -> None:
    stores = [store, await open_another()]
    outcomes = await asyncio.gather(
        *(stores[number % 2].create_access_token(*access_token(number), user(1), 7) for number in range(40))
    )
    assert outcomes.count(Created()) == 7
    assert len(await store.list_access_tokens(user(1), NOW)) == 7


# Last use


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        pytest.param([0], 0, id="first use"),
        pytest.param([0, 0], 0, id="same day"),
        pytest.param([0, 1], 1, id="next day"),
        pytest.param([1, 0], 1, id="wall clock was set back"),
    ],
)
async def test_last_day_of_use_is_recorded(store: Store, days: list[int], expected: int) -> None:
    await store.create_access_token(*access_token(1), user(1), LIMIT)
    for day in days:
        await store.record_token_use(digest(1), TODAY + day * DAY)
    (found,) = await store.list_access_tokens(user(1), NOW)
    assert found.last_used_on == TODAY + expected * DAY
    token = await store.find_token(digest(1), NOW)
    assert token is not None
    assert token.last_used_on == found.last_used_on


# Users and sweeps


async def test_user_is_created_once(store: Store) -> None:
    assert await store.find_or_create_user(ANA, user(1), NOW) == user(1)
    assert await store.find_or_create_user(ANA, user(2), NOW + SECOND) == user(1)
    found = await asyncio.gather(*(store.find_or_create_user(BEN, user(number), NOW) for number in range(2, 20)))
    assert len({*found} - {user(1)}) == 1
