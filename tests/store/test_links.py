"""Every store: login links and revoked tokens."""

from datetime import timedelta

import pytest

from tests.store.emails import LIMITS, code, link, sent
from tests.store.values import ANA, BEN, HOUR, MICROSECOND, MINUTE, NOW, digest, session, user, user_of_token
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage.store import Store

# Links


async def test_link_creates_one_session(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    assert await user_of_token(store, digest(7), NOW) == user(7)
    assert await store.redeem_link(digest(1), session(8)) is None
    assert await user_of_token(store, digest(8), NOW) is None


@pytest.mark.parametrize(
    ("after", "opens"),
    [
        pytest.param(timedelta(0), True, id="immediately"),
        pytest.param(HOUR - MICROSECOND, True, id="just before an hour"),
        pytest.param(HOUR, False, id="after exactly an hour"),
    ],
)
async def test_link_is_valid_for_an_hour(store: Store, after: timedelta, opens: bool) -> None:
    await sent(store, link(1))
    found = await store.redeem_link(digest(1), session(7, NOW + after))
    assert (found is not None) == opens
    assert (await user_of_token(store, digest(7), NOW + after) is not None) == opens


async def test_unknown_link_creates_no_session(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(2), session(7)) is None
    assert await store.redeem_link(b"", session(7)) is None
    assert await user_of_token(store, digest(7), NOW) is None
    assert await store.redeem_link(digest(1), session(7)) == user(7)


async def test_code_is_not_a_link_and_link_is_not_a_code(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, link(2, email=BEN))
    assert await store.redeem_link(digest(1), session(7)) is None
    assert await store.count_attempt(BEN, LIMITS, NOW) is None
    assert await store.redeem_code(BEN, digest(2), session(7)) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)
    assert await store.redeem_link(digest(2), session(8)) == user(8)


async def test_links_do_not_void_each_other(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number, NOW + number * MINUTE))
    assert await store.redeem_link(digest(1), session(7, NOW + 3 * MINUTE)) == user(7)


async def test_link_voids_all_emails_to_its_address_only(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number))
    await sent(store, code(3))
    await sent(store, link(4, email=BEN))
    await sent(store, code(5, email=BEN))
    assert await store.redeem_link(digest(2), session(7)) == user(7)
    assert [await store.redeem_link(digest(number), session(8)) for number in range(3)] == [None] * 3
    assert await store.count_attempt(ANA, LIMITS, NOW) is None
    assert await store.redeem_code(ANA, digest(3), session(8)) is None
    assert await store.count_attempt(BEN, LIMITS, NOW) == CountedAttempt(digest(5), NOW)
    assert await store.redeem_link(digest(4), session(9)) == user(9)


async def test_code_voids_the_links_of_its_address(store: Store) -> None:
    await sent(store, link(1))
    await sent(store, code(2))
    await sent(store, link(3))
    assert await store.redeem_code(ANA, digest(2), session(7)) == user(7)
    assert await store.redeem_link(digest(1), session(8)) is None
    assert await store.redeem_link(digest(3), session(8)) is None


async def test_address_has_one_user_for_codes_and_links(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    await sent(store, code(2))
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(7)
    await sent(store, link(3))
    assert await store.redeem_link(digest(3), session(9)) == user(7)
    await sent(store, link(4, email=BEN))
    assert await store.redeem_link(digest(4), session(10)) == user(10)


async def test_undone_link_creates_no_session(store: Store) -> None:
    await store.undo_send(await sent(store, link(1)))
    assert await store.redeem_link(digest(1), session(7)) is None


async def test_link_of_a_freed_slot_creates_a_session(store: Store) -> None:
    await store.allow_resend(await sent(store, link(1)))
    assert await store.redeem_link(digest(1), session(7)) == user(7)


async def test_emails_after_a_sign_in_are_valid(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    await sent(store, link(2))
    await sent(store, code(3))
    assert await store.count_attempt(ANA, LIMITS, NOW) == CountedAttempt(digest(3), NOW)
    assert await store.redeem_link(digest(2), session(8)) == user(7)


# Revoked tokens


async def test_revoked_token_is_invalid_and_others_stay_valid(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number))
        await store.redeem_link(digest(number), session(100 + number))
    await store.revoke_token(digest(101))
    assert [await user_of_token(store, digest(number), NOW) for number in (100, 101, 102)] == [
        user(100),
        None,
        user(100),
    ]


async def test_revoking_a_revoked_or_unknown_token_succeeds(store: Store) -> None:
    await sent(store, link(1))
    await store.redeem_link(digest(1), session(7))
    for number in (7, 7, 8):
        await store.revoke_token(digest(number))
    assert await user_of_token(store, digest(7), NOW) is None


async def test_revoking_a_token_changes_no_emails(store: Store) -> None:
    await sent(store, link(1))
    await store.redeem_link(digest(1), session(7))
    await sent(store, link(2))
    await sent(store, code(3))
    await store.revoke_token(digest(7))
    assert await store.count_attempt(ANA, LIMITS, NOW) == CountedAttempt(digest(3), NOW)
    assert await store.redeem_link(digest(2), session(8)) == user(7)
