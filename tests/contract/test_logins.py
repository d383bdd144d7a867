"""The contract of every store: tries are counted, and a code is spent once."""

from datetime import timedelta

import pytest

from tests.contract.values import (
    ANA,
    BEN,
    HOUR,
    INSTANT,
    MINUTE,
    NOW,
    allowing,
    claim,
    code,
    digest,
    link,
    sent,
    session,
    tries_left,
    user,
)
from tickover.api.limits import CODE_LIFETIME
from tickover.server.domain.logins import Try
from tickover.server.storage.store import Store

# Tries


@pytest.mark.parametrize("limit", [1, 5, 6])
async def test_so_many_tries_are_counted_and_no_more(store: Store, limit: int) -> None:
    await sent(store, code(1))
    for _ in range(limit):
        assert await store.count_try(ANA, allowing(limit), NOW) == Try(digest(1), NOW)
    for _ in range(3):
        assert await store.count_try(ANA, allowing(limit), NOW) is None


@pytest.mark.parametrize(
    ("after", "lives"),
    [
        pytest.param(timedelta(0), True, id="at once"),
        pytest.param(CODE_LIFETIME - INSTANT, True, id="just before its end"),
        pytest.param(CODE_LIFETIME, False, id="at its end"),
        pytest.param(HOUR, False, id="long after"),
    ],
)
async def test_a_try_counts_while_the_code_lives(store: Store, after: timedelta, lives: bool) -> None:
    await sent(store, code(1))
    assert await store.count_try(ANA, allowing(), NOW + after) == (Try(digest(1), NOW) if lives else None)


async def test_a_try_after_the_end_is_not_counted(store: Store) -> None:
    await sent(store, code(1))
    for _ in range(10):
        assert await store.count_try(ANA, allowing(), NOW + CODE_LIFETIME) is None
    assert await tries_left(store, ANA, 5, NOW) == 5


async def test_only_the_newest_code_is_tried(store: Store) -> None:
    await sent(store, code(1))
    assert await store.count_try(ANA, allowing(2), NOW) is not None
    await sent(store, code(2, NOW + MINUTE))
    for _ in range(2):
        assert await store.count_try(ANA, allowing(2), NOW + MINUTE) == Try(digest(2), NOW + MINUTE)
    # The newest has no tries left; the one before it does not step in.
    assert await store.count_try(ANA, allowing(2), NOW + MINUTE) is None


async def test_an_older_code_does_not_step_in_when_the_newest_is_spent(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    await store.redeem_code(ANA, digest(2), session(7))
    assert await store.count_try(ANA, allowing(), NOW + MINUTE) is None


async def test_a_link_is_no_code(store: Store) -> None:
    await sent(store, link(1))
    assert await store.count_try(ANA, allowing(), NOW) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) is None


async def test_a_newer_link_leaves_the_code_the_newest(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, link(2, NOW + MINUTE))
    assert await store.count_try(ANA, allowing(), NOW + MINUTE) == Try(digest(1), NOW)
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)


async def test_tries_are_counted_by_address(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    assert await tries_left(store, ANA, 5, NOW) == 5
    assert await store.count_try(BEN, allowing(), NOW) == Try(digest(2), NOW)


async def test_an_unknown_address_has_nothing_to_try(store: Store) -> None:
    for _ in range(3):
        assert await store.count_try(ANA, allowing(), NOW) is None
    # What was missed before is not held against the code that comes.
    await sent(store, code(1))
    assert await tries_left(store, ANA, 5, NOW) == 5


# Redeeming


async def test_a_code_is_redeemed_once(store: Store) -> None:
    await sent(store, code(1))
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)
    assert await store.redeem_code(ANA, digest(1), session(8)) is None
    assert await store.user_of_token(digest(7), NOW) == user(7)
    assert await store.user_of_token(digest(8), NOW) is None
    assert await store.count_try(ANA, allowing(), NOW) is None


async def test_a_code_is_not_redeemed_once_a_newer_one_was_sent(store: Store) -> None:
    await sent(store, code(1))
    await sent(store, code(2, NOW + MINUTE))
    assert await store.redeem_code(ANA, digest(1), session(7)) is None
    assert await store.user_of_token(digest(7), NOW) is None
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(8)


async def test_a_code_is_redeemed_by_its_own_address(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    assert await store.redeem_code(BEN, digest(1), session(7)) is None
    assert await store.redeem_code("nobody@example.test", digest(1), session(7)) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) == user(8)


async def test_a_digest_that_was_never_sent_is_not_redeemed(store: Store) -> None:
    await sent(store, code(1))
    assert await store.redeem_code(ANA, digest(2), session(7)) is None
    assert await store.count_try(ANA, allowing(), NOW) == Try(digest(1), NOW)


async def test_signing_in_voids_all_that_was_sent_to_the_address(store: Store) -> None:
    await sent(store, code(1))
    newest = await sent(store, code(2, NOW + MINUTE))
    await store.redeem_code(ANA, digest(2), session(7))
    # Were the newest never sent, the one before it would be the code of its address, and it is void.
    await store.undo_send(newest)
    assert await store.count_try(ANA, allowing(), NOW + MINUTE) is None
    assert await store.redeem_code(ANA, digest(1), session(8)) is None


async def test_signing_in_leaves_other_addresses_alone(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, code(2, email=BEN))
    await store.redeem_code(ANA, digest(1), session(7))
    assert await store.redeem_code(BEN, digest(2), session(8)) == user(8)


async def test_a_user_keeps_the_key_of_the_first_sign_in(store: Store) -> None:
    for number in (1, 2, 3):
        await sent(store, code(number, NOW + number * MINUTE))
        assert await store.redeem_code(ANA, digest(number), session(number)) == user(1)
    # And every one of the sessions stays open.
    assert [await store.user_of_token(digest(number), NOW) for number in (1, 2, 3)] == [user(1)] * 3


async def test_signing_in_does_not_give_the_slot_back(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    assert await claim(store, code(2, NOW + MINUTE - INSTANT)) == NOW
    assert await claim(store, code(3, NOW + MINUTE)) is None


async def test_a_code_that_is_sent_after_signing_in_is_good(store: Store) -> None:
    await sent(store, code(1))
    await store.redeem_code(ANA, digest(1), session(7))
    await sent(store, code(2, NOW + MINUTE))
    assert await tries_left(store, ANA, 5, NOW + MINUTE) == 5
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(7)
