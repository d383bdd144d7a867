"""Every store: attempts with a code are counted, and a code or a link signs in once."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.store.values import (
    ANA,
    BEN,
    HOUR,
    HOURLY_LIMITS_ONLY,
    MICROSECOND,
    MINUTE,
    NOW,
    attempts_left,
    code,
    code_limits,
    digest,
    link,
    redeem,
    sent,
    session,
    user,
    user_of_token,
)
from tickover.api.limits import CODE_LIFETIME, LINK_LIFETIME, TOKEN_LIFETIME
from tickover.server.sign_in.login_emails import CountedAttempt, LoginEmail, SecretKind
from tickover.server.storage.store import NewSession, Store

Kind = Callable[..., LoginEmail]
_codes_and_links = pytest.mark.parametrize("kind", [code, link])


# Attempts


@pytest.mark.parametrize(
    ("after", "lives"),
    [
        pytest.param(timedelta(0), True, id="immediately"),
        pytest.param(CODE_LIFETIME - MICROSECOND, True, id="just before it expires"),
        pytest.param(CODE_LIFETIME, False, id="when it expires"),
        pytest.param(HOUR, False, id="long after"),
    ],
)
async def test_try_counts_while_the_code_is_live(store: Store, after: timedelta, lives: bool) -> None:
    await sent(store, code(1))
    counted = await store.count_attempt(ANA, code_limits(), NOW + after)
    assert counted == (CountedAttempt(digest(1), NOW) if lives else None)
    assert await attempts_left(store, ANA, 5, NOW) == 5 - lives


# Redeeming


@_codes_and_links
async def test_secret_is_redeemed_once(store: Store, kind: Kind) -> None:
    email = await sent(store, kind(1))
    assert [await redeem(store, email, session(number)) for number in (7, 8)] == [user(7), None]
    assert [await user_of_token(store, digest(number), NOW) for number in (7, 8)] == [user(7), None]
    assert await store.count_attempt(ANA, code_limits(), NOW) is None


@pytest.mark.parametrize(
    ("after", "opens"),
    [
        pytest.param(LINK_LIFETIME - MICROSECOND, True, id="just before it expires"),
        pytest.param(LINK_LIFETIME, False, id="when it expires"),
    ],
)
async def test_link_is_valid_for_an_hour(store: Store, after: timedelta, opens: bool) -> None:
    await sent(store, link(1))
    assert (await store.redeem_link(digest(1), session(7, NOW + after)) is not None) == opens
    assert (await user_of_token(store, digest(7), NOW + after) is not None) == opens


async def test_code_is_not_a_link_and_link_is_not_a_code(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, link(2, email=BEN))
    assert await store.redeem_link(digest(1), session(7)) is None
    assert await store.count_attempt(BEN, code_limits(), NOW) is None
    assert await store.redeem_code(BEN, digest(2), session(7)) is None


async def test_code_is_redeemed_only_by_its_own_address(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, email=BEN))
    for other in (BEN, "nobody@example.test"):
        assert await store.redeem_code(other, digest(1), session(7)) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) == user(8)


async def test_newer_email_voids_a_code_and_no_link(store: Store) -> None:
    for number, kind in enumerate((code, link, code, link)):
        await sent(store, kind(number, NOW + number * MINUTE))
    later = session(7, NOW + 4 * MINUTE)
    assert await store.redeem_code(ANA, digest(0), later) is None
    assert await store.redeem_link(digest(1), later) == user(7)


@_codes_and_links
async def test_sign_in_voids_all_emails_to_its_address_only(store: Store, kind: Kind) -> None:
    others = [await sent(store, each, HOURLY_LIMITS_ONLY) for each in (link(1), code(2), link(3))]
    used = await sent(store, kind(4), HOURLY_LIMITS_ONLY)
    bens = [await sent(store, each, HOURLY_LIMITS_ONLY) for each in (link(5, email=BEN), code(6, email=BEN))]
    assert await redeem(store, used, session(7)) == user(7)
    # If the newest is undone, the previous code becomes the newest, and it is void.
    await store.delete_email(used)
    assert await store.count_attempt(ANA, code_limits(), NOW) is None
    assert [await redeem(store, each, session(8)) for each in others] == [None] * 3
    assert await store.count_attempt(BEN, code_limits(), NOW) == CountedAttempt(bens[1].digest, NOW)
    assert await redeem(store, bens[0], session(9)) == user(9)


async def test_user_keeps_the_key_of_the_first_sign_in(store: Store) -> None:
    for number, kind in enumerate((code, link, code), 1):
        email = await sent(store, kind(number, NOW + number * MINUTE))
        assert await redeem(store, email, session(number, NOW + number * MINUTE)) == user(1)
    # All sessions stay valid.
    assert [await user_of_token(store, digest(number), NOW) for number in (1, 2, 3)] == [user(1)] * 3


async def _redeem_late(delay: bool, store: Store, email: LoginEmail, new: NewSession) -> bytes | None:
    if delay:
        await store.find_email(b"")
        await store.find_email(b"")
    return await redeem(store, email, new)


@pytest.mark.usefixtures("long_timeouts")
async def test_of_a_concurrent_link_and_code_one_creates_a_session(
    store: Store, open_another: Callable[[], Awaitable[Store]]
) -> None:
    other_store = await open_another()
    won_by: list[SecretKind] = []
    for number in range(10):  # enough for both to win
        now = NOW + number * HOUR
        emails = [
            await sent(store, kind(2 * number + index, now), HOURLY_LIMITS_ONLY)
            for index, kind in enumerate((code, link))
        ]
        # Every other round starts with a link.
        racers = [emails[(racer + number) % 2] for racer in range(50)]
        sessions = [session((number + 1) * 1_000 + racer, now) for racer in range(50)]
        stores = [other_store if racer % 3 == 2 else store for racer in range(50)]
        # A link needs a read more than a code. In every other round, codes start after one too.
        delays = [number % 2 == 1 and racer.kind is SecretKind.CODE for racer in racers]
        results = await asyncio.gather(*map(_redeem_late, delays, stores, racers, sessions))
        [winner] = [email.kind for email, result in zip(racers, results, strict=True) if result is not None]
        won_by.append(winner)
        assert [await user_of_token(store, new.token_digest, now) for new in sessions] == results
        assert await store.count_attempt(ANA, code_limits(), now) is None
    assert set(won_by) == {SecretKind.CODE, SecretKind.LINK}, "one of the two didn't take part in the race"


# Sessions


async def test_session_has_a_user_until_it_expires(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(1))
    expires_at = NOW + TOKEN_LIFETIME
    assert await user_of_token(store, digest(1), expires_at - MICROSECOND) == user(1)
    assert await user_of_token(store, digest(1), expires_at) is None
    assert await store.find_email(digest(1)) == ANA
    for unknown in (b"", digest(2), digest(1)[:-1], digest(1) + b"\0"):
        assert await user_of_token(store, unknown, NOW) is None


async def test_revoked_token_is_invalid_and_nothing_else_changes(store: Store) -> None:
    for number in (1, 2, 3):
        await sent(store, link(number), HOURLY_LIMITS_ONLY)
        await store.redeem_link(digest(number), session(number))
    for email in (link(4), code(5)):
        await sent(store, email, HOURLY_LIMITS_ONLY)
    assert [await store.revoke_token(digest(number)) for number in (2, 2, 9)] == [True, False, False]
    assert [await user_of_token(store, digest(number), NOW) for number in (1, 2, 3)] == [user(1), None, user(1)]
    assert [await store.find_email(digest(number)) for number in (1, 2)] == [ANA, None]
    assert await store.count_attempt(ANA, code_limits(), NOW) == CountedAttempt(digest(5), NOW)
    assert await store.redeem_link(digest(4), session(8)) == user(1)
