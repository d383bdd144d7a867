"""The contract of every store: a letter takes the slot of its address, and may give it back."""

from datetime import timedelta

import pytest

from tests.contract.values import (
    ANA,
    BEN,
    HOUR,
    INSTANT,
    MINUTE,
    NOW,
    SECOND,
    allowing,
    claim,
    code,
    digest,
    letter,
    sent,
    session,
    tries_left,
    user,
)
from tickover.api.limits import RESEND_INTERVAL
from tickover.server.domain.logins import Kind, Try
from tickover.server.storage.store import Store

_CODE, _LINK = Kind.CODE, Kind.LINK


# Slots


@pytest.mark.parametrize(
    ("after", "is_free"),
    [
        pytest.param(timedelta(0), False, id="at once"),
        pytest.param(RESEND_INTERVAL - INSTANT, False, id="just before a minute"),
        pytest.param(RESEND_INTERVAL, True, id="after a minute to the instant"),
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
async def test_a_letter_holds_the_slot_of_its_address(
    store: Store, first: Kind, second: Kind, after: timedelta, is_free: bool
) -> None:
    await sent(store, letter(1, first, NOW))
    assert await claim(store, letter(2, second, NOW + after)) == (None if is_free else NOW)


async def test_a_claim_that_was_refused_changes_nothing(store: Store) -> None:
    await sent(store, code(1))
    assert await claim(store, code(2, NOW + SECOND)) == NOW
    assert await store.count_try(ANA, allowing(), NOW + SECOND) == Try(digest(1), NOW)
    # Nor does it lengthen the wait.
    assert await claim(store, code(3, NOW + MINUTE)) is None


async def test_addresses_have_slots_of_their_own(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    await sent(store, code(3, email="ana@example.test.example"))


async def test_an_address_is_known_to_the_letter(store: Store) -> None:
    odd = ["ana@x.test", "Ana@x.test", '"ana"@x.test', "a%@x.test", "a_@x.test", "änä@x.test", '"ana "@x.test']
    for number, email in enumerate(odd):
        await sent(store, code(number, email=email))
    for number, email in enumerate(odd):
        assert await store.count_try(email, allowing(), NOW) == Try(digest(number), NOW)


async def test_the_letter_that_holds_the_slot_is_the_last_one(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    assert await claim(store, code(3, NOW + MINUTE + SECOND), MINUTE + 2 * SECOND) == NOW + MINUTE


# A letter that was not sent


@pytest.mark.parametrize("kind", [_CODE, _LINK])
async def test_undoing_gives_the_slot_back(store: Store, kind: Kind) -> None:
    await store.undo_send(await sent(store, letter(1, kind, NOW)))
    await sent(store, code(2))


async def test_undoing_leaves_the_earlier_code_as_it_was(store: Store) -> None:
    await sent(store, code(1))
    for _ in range(3):
        await store.count_try(ANA, allowing(), NOW)
    later = await sent(store, code(2, NOW + MINUTE))
    await store.undo_send(later)
    assert await tries_left(store, ANA, 5, NOW + MINUTE) == 2
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_undoing_does_not_bring_a_spent_code_back(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    await store.undo_send(await sent(store, code(2, NOW + MINUTE)))
    assert await store.count_try(ANA, allowing(), NOW + MINUTE) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) is None


async def test_an_undone_code_opens_nothing(store: Store) -> None:
    await store.undo_send(await sent(store, code(1)))
    assert await store.count_try(ANA, allowing(), NOW) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_undoing_one_letter_leaves_other_addresses_alone(store: Store) -> None:
    await sent(store, code(2, email=BEN))
    await store.undo_send(await sent(store, code(1)))
    assert await claim(store, code(3, NOW + SECOND, email=BEN)) == NOW
    assert await store.count_try(BEN, allowing(), NOW) == Try(digest(2), NOW)


@pytest.mark.parametrize("times", [1, 2])
async def test_undoing_what_is_not_there_is_fine(store: Store, times: int) -> None:
    await sent(store, code(1))
    for _ in range(times):
        await store.undo_send(code(2))
    assert await store.count_try(ANA, allowing(), NOW) == Try(digest(1), NOW)


# A letter of which nobody knows


@pytest.mark.parametrize("kind", [_CODE, _LINK])
async def test_a_freed_slot_may_be_taken_at_once(store: Store, kind: Kind) -> None:
    await store.free_slot(await sent(store, letter(1, kind, NOW)))
    await sent(store, code(2, NOW + INSTANT))


async def test_a_freed_code_stays_good(store: Store) -> None:
    await store.free_slot(await sent(store, code(1)))
    assert await tries_left(store, ANA, 4, NOW) == 4
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_a_freed_code_is_newer_than_the_one_before(store: Store) -> None:
    await sent(store, code(1))
    await store.free_slot(await sent(store, code(2, NOW + MINUTE)))
    assert await store.count_try(ANA, allowing(), NOW + MINUTE) == Try(digest(2), NOW + MINUTE)
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_the_next_letter_holds_its_slot_again(store: Store) -> None:
    await store.free_slot(await sent(store, code(1)))
    await sent(store, code(2, NOW + SECOND))
    assert await claim(store, code(3, NOW + MINUTE)) == NOW + SECOND
