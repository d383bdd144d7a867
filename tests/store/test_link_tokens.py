"""Every store: link tokens, and the login that they repair."""

import pytest

from tests.store.values import (
    DAY,
    HOUR,
    MICROSECOND,
    NOW,
    START,
    access_token,
    add_clock,
    advance,
    clock,
    connection,
    digest,
    key,
    link_token,
    user,
)
from tickover.api.connections import BankSettings
from tickover.api.errors import Reason, Rejection
from tickover.api.ids import first_live_key
from tickover.server.storage.store import Created, Store, Token, TooManyLinkTokens

LIVE = first_live_key(NOW)


async def add_token(store: Store, number: int, days: int = 90) -> Token:
    new, its_digest = access_token(number, days=days)
    assert await store.create_access_token(new, its_digest, user(1), 50) == Created()
    found = await store.find_token(its_digest, NOW)
    assert found is not None
    return found


async def test_link_token_leads_to_its_access_token_until_it_expires(store: Store) -> None:
    token, new = await add_token(store, 1), link_token(item_digest=digest(3))
    assert await store.create_link_token(new, digest(9), token, 10) == Created()
    for now, found in ((NOW, (new, token)), (NOW + 4 * HOUR - MICROSECOND, (new, token)), (NOW + 4 * HOUR, None)):
        assert await store.find_link_token(digest(9), now) == found
    assert await store.find_link_token(digest(1), NOW) is None


async def test_link_token_ends_with_its_access_token(store: Store) -> None:
    revoked, expiring = await add_token(store, 1), await add_token(store, 2, days=1)
    for number, token in ((8, revoked), (9, expiring)):
        assert await store.create_link_token(link_token(hours=48), digest(number), token, 10) == Created()
    assert await store.find_link_token(digest(9), NOW + DAY) is None
    assert await store.revoke_access_token(key(1), user(1), NOW)
    assert await store.find_link_token(digest(8), NOW) is None
    with pytest.raises(Rejection) as error:
        await store.create_link_token(link_token(), digest(7), revoked, 10)
    assert error.value.reason is Reason.UNAUTHENTICATED


async def test_link_tokens_of_a_user_are_limited(store: Store) -> None:
    """Those of a revoked access token count too, because they are still stored."""
    token, revoked = await add_token(store, 1), await add_token(store, 2)
    outcomes = [
        await store.create_link_token(link_token(), digest(number), owner, 2)
        for number, owner in ((7, token), (8, revoked), (9, token))
    ]
    assert outcomes == [Created(), Created(), TooManyLinkTokens()]
    await store.revoke_access_token(key(2), user(1), NOW)
    assert await store.create_link_token(link_token(), digest(9), token, 2) == TooManyLinkTokens()


async def test_expired_link_tokens_are_swept(store: Store) -> None:
    token = await add_token(store, 1)
    await store.create_link_token(link_token(), digest(9), token, 1)
    assert await store.sweep(NOW + 4 * HOUR - MICROSECOND, 10) == 0
    assert await store.sweep(NOW + 4 * HOUR, 10) == 1
    assert await store.create_link_token(link_token(), digest(9), token, 1) == Created()


async def test_repaired_login_is_no_longer_required(store: Store) -> None:
    for number in (1, 2):
        await add_clock(store, clock(number), user(number))
        await store.create_connection(connection(number), digest(number), key(number), user(number), 20)
        await store.claim_connection(digest(number), digest(number + 100), "PLAID", LIVE)
        await store.require_login(digest(number + 100), "PLAID", LIVE)
    await advance(store, key(1), user(1), START + DAY)
    given = []

    def repair(settings: BankSettings, at: object) -> BankSettings:
        given.append((settings, at))
        return BankSettings(consent_days=7)

    for owner, access in ((user(2), 101), (user(1), 1), (user(1), 102)):
        assert not await store.repair_login(digest(access), digest(50), owner, LIVE, repair)
    assert not given
    assert await store.repair_login(digest(101), digest(50), user(1), LIVE, repair)
    assert given == [(connection(1).settings, START + DAY)]
    found = await store.find_connection(digest(101), "PLAID", LIVE)
    assert found is not None
    assert (found.login_required, found.connection.settings) == (False, BankSettings(consent_days=7))
    other = await store.find_connection(digest(102), "PLAID", LIVE)
    assert other is not None
    assert other.login_required
    # The new setup secret replaces the access secret, once.
    claims = [await store.claim_connection(digest(50), digest(200 + n), "PLAID", LIVE) for n in range(2)]
    assert claims == [key(1), None]
    assert await store.find_connection(digest(101), "PLAID", LIVE) is None
