"""Every store: an email takes the slot of its address, and can release it."""

from datetime import timedelta

import pytest

from tests.store.values import (
    ANA,
    BEN,
    HOUR,
    MICROSECOND,
    MINUTE,
    NOW,
    SECOND,
    claim,
    code,
    code_limits,
    digest,
    make_send,
    sent,
    session,
    tries_left,
    user,
)
from tickover.api.limits import RESEND_INTERVAL
from tickover.server.sign_in.logins import CountedAttempt, SecretKind
from tickover.server.storage.store import Store

_CODE, _LINK = SecretKind.CODE, SecretKind.LINK


# Slots


@pytest.mark.parametrize(
    ("after", "is_free"),
    [
        pytest.param(timedelta(0), False, id="immediately"),
        pytest.param(RESEND_INTERVAL - MICROSECOND, False, id="just before a minute"),
        pytest.param(RESEND_INTERVAL, True, id="after exactly a minute"),
        pytest.param(HOUR, True, id="after an hour"),
    ],
)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(_CODE, _CODE, id="code then code"),
        pytest.param(_CODE, _LINK, id="code then link"),
        pytest.param(_LINK, _CODE, id="link then code"),
        pytest.param(_LINK, _LINK, id="link then link"),
    ],
)
async def test_email_holds_the_slot_of_its_address(
    store: Store, first: SecretKind, second: SecretKind, after: timedelta, is_free: bool
) -> None:
    await sent(store, make_send(1, first, NOW))
    assert await claim(store, make_send(2, second, NOW + after)) == (None if is_free else NOW)


async def test_rejected_claim_changes_nothing(store: Store) -> None:
    await sent(store, code(1))
    assert await claim(store, code(2, NOW + SECOND)) == NOW
    assert await store.count_attempt(ANA, code_limits(), NOW + SECOND) == CountedAttempt(digest(1), NOW)
    # It doesn't extend the wait either.
    assert await claim(store, code(3, NOW + MINUTE)) is None


@pytest.mark.parametrize("allow_resend", [False, True])
async def test_revoking_a_token_can_release_the_slot_of_its_user(store: Store, allow_resend: bool) -> None:
    for number, email in ((1, ANA), (2, BEN)):
        await sent(store, code(number, email=email))
        await store.redeem_code(email, digest(number), session(number))
    assert await store.revoke_token(session(1).token_digest, allow_resend=allow_resend)
    assert not await store.revoke_token(digest(3), allow_resend=allow_resend)
    assert await claim(store, code(4, email=ANA)) == (None if allow_resend else NOW)
    assert await claim(store, code(5, email=BEN)) == NOW


async def test_each_address_has_its_own_slot(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    await sent(store, code(3, email="ana@example.test.example"))


async def test_slot_is_compared_by_exact_address(store: Store) -> None:
    odd = ["ana@x.test", "Ana@x.test", '"ana"@x.test', "a%@x.test", "a_@x.test", "änä@x.test", '"ana "@x.test']
    for number, email in enumerate(odd):
        await sent(store, code(number, email=email))
    for number, email in enumerate(odd):
        assert await store.count_attempt(email, code_limits(), NOW) == CountedAttempt(digest(number), NOW)


async def test_last_email_holds_the_slot(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    assert await claim(store, code(3, NOW + MINUTE + SECOND), MINUTE + 2 * SECOND) == NOW + MINUTE


# Undone emails


@pytest.mark.parametrize("kind", [_CODE, _LINK])
async def test_undo_releases_the_slot(store: Store, kind: SecretKind) -> None:
    await store.undo_send(await sent(store, make_send(1, kind, NOW)))
    await sent(store, code(2))


async def test_undo_makes_the_earlier_code_valid_again(store: Store) -> None:
    await sent(store, code(1))
    for _ in range(3):
        await store.count_attempt(ANA, code_limits(), NOW)
    later = await sent(store, code(2, NOW + MINUTE))
    await store.undo_send(later)
    assert await tries_left(store, ANA, 5, NOW + MINUTE) == 2
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_undo_does_not_restore_a_spent_code(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    await store.undo_send(await sent(store, code(2, NOW + MINUTE)))
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) is None


async def test_undone_code_is_invalid(store: Store) -> None:
    await store.undo_send(await sent(store, code(1)))
    assert await store.count_attempt(ANA, code_limits(), NOW) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_undo_changes_no_other_address(store: Store) -> None:
    await sent(store, code(2, email=BEN))
    await store.undo_send(await sent(store, code(1)))
    assert await claim(store, code(3, NOW + SECOND, email=BEN)) == NOW
    assert await store.count_attempt(BEN, code_limits(), NOW) == CountedAttempt(digest(2), NOW)


@pytest.mark.parametrize("times", [1, 2])
async def test_undo_of_an_unknown_email_succeeds(store: Store, times: int) -> None:
    await sent(store, code(1))
    for _ in range(times):
        await store.undo_send(code(2))
    assert await store.count_attempt(ANA, code_limits(), NOW) == CountedAttempt(digest(1), NOW)


# Emails with unknown delivery


@pytest.mark.parametrize("kind", [_CODE, _LINK])
async def test_freed_slot_can_be_taken_immediately(store: Store, kind: SecretKind) -> None:
    await store.allow_resend(await sent(store, make_send(1, kind, NOW)))
    await sent(store, code(2, NOW + MICROSECOND))


async def test_code_of_a_freed_slot_stays_valid(store: Store) -> None:
    await store.allow_resend(await sent(store, code(1)))
    assert await tries_left(store, ANA, 4, NOW) == 4
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_code_of_a_freed_slot_is_newer_than_the_previous_one(store: Store) -> None:
    await sent(store, code(1))
    await store.allow_resend(await sent(store, code(2, NOW + MINUTE)))
    assert await store.count_attempt(ANA, code_limits(), NOW + MINUTE) == CountedAttempt(digest(2), NOW + MINUTE)
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_next_email_holds_the_slot_again(store: Store) -> None:
    await store.allow_resend(await sent(store, code(1)))
    await sent(store, code(2, NOW + SECOND))
    assert await claim(store, code(3, NOW + MINUTE)) == NOW + SECOND
