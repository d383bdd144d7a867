"""Every store: tries are counted, and a code is used once."""

from datetime import timedelta

import pytest

from tests.store.values import (
    ANA,
    BEN,
    HOUR,
    MICROSECOND,
    MINUTE,
    NOW,
    claim,
    code,
    code_limits,
    digest,
    link,
    sent,
    session,
    tries_left,
    user,
    user_of_token,
)
from tickover.api.limits import CODE_LIFETIME, TOKEN_LIFETIME
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage.store import Session, Store

# Tries


@pytest.mark.parametrize("limit", [1, 5, 6])
async def test_tries_are_counted_up_to_the_limit(store: Store, limit: int) -> None:
    await sent(store, code(1))
    for _ in range(limit):
        assert await store.count_attempt(ANA, code_limits(limit), NOW) == CountedAttempt(digest(1), NOW)
    for _ in range(3):
        assert await store.count_attempt(ANA, code_limits(limit), NOW) is None


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
    assert await store.count_attempt(ANA, code_limits(), NOW + after) == (
        CountedAttempt(digest(1), NOW) if lives else None
    )


async def test_try_of_an_expired_code_is_not_counted(store: Store) -> None:
    await sent(store, code(1))
    for _ in range(10):
        assert await store.count_attempt(ANA, code_limits(), NOW + CODE_LIFETIME) is None
    assert await tries_left(store, ANA, 5, NOW) == 5


async def test_only_the_newest_code_is_tried(store: Store) -> None:
    await sent(store, code(1))
    assert await store.count_attempt(ANA, code_limits(2), NOW) is not None
    await sent(store, code(2, NOW + MINUTE))
    for _ in range(2):
        assert await store.count_attempt(ANA, code_limits(2), NOW + MINUTE) == CountedAttempt(digest(2), NOW + MINUTE)
    # The newest code has no tries left, and the previous one doesn't replace it.
    assert await store.count_attempt(ANA, code_limits(2), NOW + MINUTE) is None


async def test_older_code_does_not_replace_a_spent_one(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    await store.redeem_code(ANA, digest(2), session(7))
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) is None


async def test_link_is_not_a_code(store: Store) -> None:
    await sent(store, link(1))
    assert await store.count_attempt(ANA, code_limits(), NOW) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_newer_link_does_not_replace_the_code(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, link(2, NOW + MINUTE))
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) == CountedAttempt(digest(1), NOW)
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_tries_are_counted_for_each_address(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    assert await tries_left(store, ANA, 5, NOW) == 5
    assert await store.count_attempt(BEN, code_limits(), NOW) == CountedAttempt(digest(2), NOW)


async def test_unknown_address_has_no_code_to_try(store: Store) -> None:
    for _ in range(3):
        assert await store.count_attempt(ANA, code_limits(), NOW) is None
    # Earlier tries don't count against the next code.
    await sent(store, code(1))
    assert await tries_left(store, ANA, 5, NOW) == 5


# Redeeming


async def test_code_is_redeemed_once(store: Store) -> None:
    await sent(store, code(1))
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)
    assert await store.redeem_code(ANA, digest(1), session(8)) is None
    assert await user_of_token(store, digest(7), NOW) == user(7)
    assert await user_of_token(store, digest(8), NOW) is None
    assert await store.count_attempt(ANA, code_limits(), NOW) is None


async def test_code_is_invalid_after_a_newer_one(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    assert await store.redeem_code(ANA, digest(1), session(7)) is None
    assert await user_of_token(store, digest(7), NOW) is None
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(8)


async def test_code_is_redeemed_only_by_its_own_address(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    assert await store.redeem_code(BEN, digest(1), session(7)) is None
    assert await store.redeem_code("nobody@example.test", digest(1), session(7)) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) == user(8)


async def test_unknown_digest_is_not_redeemed(store: Store) -> None:
    await sent(store, code(1))
    assert await store.redeem_code(ANA, digest(2), session(7)) is None
    assert await store.count_attempt(ANA, code_limits(), NOW) == CountedAttempt(digest(1), NOW)


async def test_sign_in_voids_all_emails_to_the_address(store: Store) -> None:
    await sent(store, code(1))
    newest = await sent(store, code(2, NOW + MINUTE))
    await store.redeem_code(ANA, digest(2), session(7))
    # If the newest is undone, the previous code becomes the newest, and it is void.
    await store.undo_send(newest)
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) is None


async def test_sign_in_does_not_change_other_addresses(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    await store.redeem_code(ANA, digest(1), session(7))
    assert await store.redeem_code(BEN, digest(2), session(8)) == user(8)


async def test_user_keeps_the_key_of_the_first_sign_in(store: Store) -> None:
    for number in (1, 2, 3):
        await sent(store, code(number, NOW + number * MINUTE))
        assert await store.redeem_code(ANA, digest(number), session(number)) == user(1)
    # All sessions stay valid.
    assert [await user_of_token(store, digest(number), NOW) for number in (1, 2, 3)] == [user(1)] * 3


async def test_sign_in_does_not_release_the_slot(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    assert await claim(store, code(2, NOW + MINUTE - MICROSECOND)) == NOW
    assert await claim(store, code(3, NOW + MINUTE)) is None


async def test_code_sent_after_a_sign_in_is_valid(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    await sent(store, code(2, NOW + MINUTE))
    assert await tries_left(store, ANA, 5, NOW + MINUTE) == 5
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(7)


# Sessions


async def test_session_has_user_email_and_expiry_until_it_expires(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(1))
    expires_at = NOW + TOKEN_LIFETIME
    expected = Session(user(1), ANA, expires_at)
    assert await store.find_session(digest(1), expires_at - MICROSECOND) == expected
    assert await store.find_session(digest(1), expires_at) is None
    assert await store.find_session(digest(2), NOW) is None
    await store.revoke_token(digest(1))
    assert await store.find_session(digest(1), NOW) is None
