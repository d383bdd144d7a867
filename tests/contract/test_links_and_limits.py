"""The contract of every store: links, tokens that are revoked, and the limits on letters and on failures in a row.

Each verb is atomic, so under fifty calls at once, from one store or from two on one database, the counts are exact.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from itertools import count
from typing import Any

import msgspec
import pytest

from tests.contract.values import ANA, BEN, HOUR, INSTANT, MINUTE, NOW, SECOND, digest, session, user
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Claimed, Kind, Limits, Send, TooSoon, Try
from tickover.server.storage import open_store
from tickover.server.storage.store import NewSession, Store

HERE, THERE = b"network: here...", b"network: there.."

LIMITS = Limits()
CAPS_ALONE = Limits(resend_interval=timedelta(0))
"""Letters may follow each other at once, so that nothing but the hourly caps holds them."""

AT_ONCE = 50
ROUNDS = 20


@pytest.fixture
async def other_store(store: Store, database_url: str) -> AsyncIterator[Store]:
    """A second store on the same database, as another process would have it."""
    opened = await open_store(database_url)
    yield opened
    await opened.close()


def code(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> Send:
    return Send(digest(number), email, Kind.CODE, sent_at, network)


def link(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> Send:
    return Send(digest(number), email, Kind.LINK, sent_at, network)


async def sent(store: Store, send: Send, limits: Limits = CAPS_ALONE) -> Send:
    """A letter that must be let through."""
    assert isinstance(await store.claim_send(send, limits), Claimed)
    return send


async def at_once(*calls: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*calls)


def winners(answers: list[bytes | None]) -> list[bytes]:
    return [answer for answer in answers if answer is not None]


# Links.


async def test_a_link_opens_a_session_once(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    assert await store.user_of_token(digest(7), NOW) == user(7)
    assert await store.redeem_link(digest(1), session(8)) is None
    assert await store.user_of_token(digest(8), NOW) is None


@pytest.mark.parametrize(
    ("after", "opens"),
    [
        pytest.param(timedelta(0), True, id="at once"),
        pytest.param(HOUR - INSTANT, True, id="just before an hour"),
        pytest.param(HOUR, False, id="after an hour to the instant"),
    ],
)
async def test_a_link_lives_for_an_hour(store: Store, after: timedelta, opens: bool) -> None:
    await sent(store, link(1))
    found = await store.redeem_link(digest(1), session(7, NOW + after))
    assert (found is not None) == opens
    assert (await store.user_of_token(digest(7), NOW + after) is not None) == opens


async def test_an_unknown_link_opens_nothing(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(2), session(7)) is None
    assert await store.redeem_link(b"", session(7)) is None
    assert await store.user_of_token(digest(7), NOW) is None
    assert await store.redeem_link(digest(1), session(7)) == user(7)


async def test_a_code_is_no_link_and_a_link_is_no_code(store: Store) -> None:
    await sent(store, code(1, email=ANA))
    await sent(store, link(2, email=BEN))
    assert await store.redeem_link(digest(1), session(7)) is None
    assert await store.count_try(BEN, LIMITS, NOW) is None
    assert await store.redeem_code(BEN, digest(2), session(7)) is None
    assert await store.redeem_code(ANA, digest(1), session(7)) == user(7)
    assert await store.redeem_link(digest(2), session(8)) == user(8)


async def test_links_do_not_void_each_other(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number, NOW + number * MINUTE))
    assert await store.redeem_link(digest(1), session(7, NOW + 3 * MINUTE)) == user(7)


async def test_a_link_voids_all_that_was_sent_to_its_address_and_nothing_else(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number))
    await sent(store, code(3))
    await sent(store, link(4, email=BEN))
    await sent(store, code(5, email=BEN))
    assert await store.redeem_link(digest(2), session(7)) == user(7)
    assert [await store.redeem_link(digest(number), session(8)) for number in range(3)] == [None] * 3
    assert await store.count_try(ANA, LIMITS, NOW) is None
    assert await store.redeem_code(ANA, digest(3), session(8)) is None
    assert await store.count_try(BEN, LIMITS, NOW) == Try(digest(5), NOW)
    assert await store.redeem_link(digest(4), session(9)) == user(9)


async def test_a_code_voids_the_links_of_its_address(store: Store) -> None:
    await sent(store, link(1))
    await sent(store, code(2))
    await sent(store, link(3))
    assert await store.redeem_code(ANA, digest(2), session(7)) == user(7)
    assert await store.redeem_link(digest(1), session(8)) is None
    assert await store.redeem_link(digest(3), session(8)) is None


async def test_an_address_has_one_user_however_it_signs_in(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    await sent(store, code(2))
    assert await store.redeem_code(ANA, digest(2), session(8)) == user(7)
    await sent(store, link(3))
    assert await store.redeem_link(digest(3), session(9)) == user(7)
    await sent(store, link(4, email=BEN))
    assert await store.redeem_link(digest(4), session(10)) == user(10)


async def test_a_link_that_was_not_sent_opens_nothing(store: Store) -> None:
    await store.undo_send(await sent(store, link(1)))
    assert await store.redeem_link(digest(1), session(7)) is None


async def test_a_link_of_which_nobody_knows_whether_it_was_sent_opens(store: Store) -> None:
    await store.free_slot(await sent(store, link(1)))
    assert await store.redeem_link(digest(1), session(7)) == user(7)


async def test_what_is_sent_after_a_sign_in_is_good(store: Store) -> None:
    await sent(store, link(1))
    assert await store.redeem_link(digest(1), session(7)) == user(7)
    await sent(store, link(2))
    await sent(store, code(3))
    assert await store.count_try(ANA, LIMITS, NOW) == Try(digest(3), NOW)
    assert await store.redeem_link(digest(2), session(8)) == user(7)


# Tokens that are revoked.


async def test_a_revoked_token_lets_nobody_in_and_others_live_on(store: Store) -> None:
    for number in range(3):
        await sent(store, link(number))
        await store.redeem_link(digest(number), session(100 + number))
    await store.revoke_token(digest(101))
    assert [await store.user_of_token(digest(number), NOW) for number in (100, 101, 102)] == [
        user(100),
        None,
        user(100),
    ]


async def test_revoking_again_or_what_never_was_is_fine(store: Store) -> None:
    await sent(store, link(1))
    await store.redeem_link(digest(1), session(7))
    for number in (7, 7, 8):
        await store.revoke_token(digest(number))
    assert await store.user_of_token(digest(7), NOW) is None


async def test_revoking_a_token_leaves_what_was_sent_as_it_was(store: Store) -> None:
    await sent(store, link(1))
    await store.redeem_link(digest(1), session(7))
    await sent(store, link(2))
    await sent(store, code(3))
    await store.revoke_token(digest(7))
    assert await store.count_try(ANA, LIMITS, NOW) == Try(digest(3), NOW)
    assert await store.redeem_link(digest(2), session(8)) == user(7)


# The caps on letters.


@pytest.mark.parametrize(
    ("limits", "networks", "limit"),
    [
        pytest.param(LIMITS, 1, 10, id="ten from one network"),
        pytest.param(LIMITS, 3, 30, id="thirty from three networks"),
        pytest.param(LIMITS, 40, 30, id="thirty from forty networks"),
        pytest.param(Limits(sends_an_hour_from_one_network=1), 1, 1, id="one from a network"),
        pytest.param(Limits(sends_an_hour_from_one_network=1), 7, 7, id="one from each of seven networks"),
        pytest.param(Limits(sends_an_hour=4), 40, 4, id="four in all"),
        pytest.param(Limits(sends_an_hour=4), 1, 4, id="four in all, from one network"),
        pytest.param(Limits(sends_an_hour_from_one_network=0), 1, 30, id="any number from a network"),
        pytest.param(Limits(sends_an_hour=0), 1, 10, id="any number in all, from one network"),
        pytest.param(Limits(sends_an_hour=0), 40, 40, id="any number in all"),
    ],
)
async def test_so_many_letters_an_hour_and_no_more(store: Store, limits: Limits, networks: int, limit: int) -> None:
    answers = [
        await store.claim_send(code(number, NOW + number * MINUTE, network=b"%16d" % (number % networks)), limits)
        for number in range(40)
    ]
    assert answers[:limit] == [Claimed(codes_stopped=False)] * limit
    assert [answer for answer in answers[limit:] if not isinstance(answer, TooSoon) or answer.by_last_email] == []


@pytest.mark.parametrize("kinds", [(code, code), (link, link), (code, link)], ids=["codes", "links", "both in turn"])
async def test_codes_and_links_count_alike(store: Store, kinds: Any) -> None:
    for number in range(10):
        await sent(store, kinds[number % 2](number))
    assert await store.claim_send(code(10), CAPS_ALONE) == TooSoon(NOW, HOUR, by_last_email=False)
    assert await store.claim_send(link(11), CAPS_ALONE) == TooSoon(NOW, HOUR, by_last_email=False)


async def test_the_hour_begins_with_the_letter_that_must_leave_it(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * MINUTE))
    await sent(store, code(10, NOW + 10 * MINUTE, network=THERE))
    for number in range(3):
        leaves = NOW + number * MINUTE
        held = await store.claim_send(code(20 + number, leaves + HOUR - INSTANT), CAPS_ALONE)
        assert held == TooSoon(leaves, HOUR, by_last_email=False)
        await sent(store, code(30 + number, leaves + HOUR))


async def test_where_both_caps_hold_the_wait_is_until_neither_does(store: Store) -> None:
    for number in range(30):
        await sent(store, code(number, NOW + number * MINUTE, network=b"%16d" % number if number < 20 else HERE))
    later = NOW + 30 * MINUTE
    assert await store.claim_send(code(30, later), CAPS_ALONE) == TooSoon(NOW + 20 * MINUTE, HOUR, by_last_email=False)
    assert await store.claim_send(code(31, later, network=THERE), CAPS_ALONE) == TooSoon(NOW, HOUR, by_last_email=False)


async def test_caps_are_of_one_address(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, email=ANA))
    for number in range(10, 20):
        await sent(store, code(number, email=BEN))
    assert isinstance(await store.claim_send(code(20, email=ANA), CAPS_ALONE), TooSoon)
    assert isinstance(await store.claim_send(code(21, email=BEN), CAPS_ALONE), TooSoon)


async def test_a_letter_that_was_held_does_not_count_and_its_secret_opens_nothing(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * SECOND))
    for number in range(10, 40):
        assert isinstance(await store.claim_send(link(number, NOW + MINUTE), CAPS_ALONE), TooSoon)
        assert await store.redeem_link(digest(number), session(99, NOW + MINUTE)) is None
    assert await store.count_try(ANA, LIMITS, NOW + MINUTE) == Try(digest(9), NOW + 9 * SECOND)
    await sent(store, code(40, NOW + HOUR))


async def test_a_letter_that_was_not_sent_does_not_count(store: Store) -> None:
    for number in range(40):
        await store.undo_send(await sent(store, code(number)))
    for number in range(40, 50):
        await sent(store, code(number))
    assert isinstance(await store.claim_send(code(50), CAPS_ALONE), TooSoon)


async def test_a_letter_of_which_nobody_knows_whether_it_was_sent_counts(store: Store) -> None:
    for number in range(10):
        await store.free_slot(await sent(store, code(number), LIMITS))
    assert await store.claim_send(code(10), LIMITS) == TooSoon(NOW, HOUR, by_last_email=False)


@pytest.mark.parametrize("by_link", [False, True], ids=["by code", "by link"])
async def test_a_sign_in_starts_both_counts_anew(store: Store, by_link: bool) -> None:
    for number in range(30):
        network = HERE if number < 10 else b"%16d" % number
        await sent(store, (link if by_link else code)(number, NOW + number * SECOND, network=network))
    later = NOW + MINUTE
    assert isinstance(await store.claim_send(code(30, later, network=THERE), CAPS_ALONE), TooSoon)
    if by_link:
        assert await store.redeem_link(digest(29), session(99, later)) is not None
    else:
        assert await store.redeem_code(ANA, digest(29), session(99, later)) is not None
    for number in range(100, 110):
        await sent(store, code(number, later))
    assert isinstance(await store.claim_send(code(110, later), CAPS_ALONE), TooSoon)
    for number in range(120, 140):
        await sent(store, code(number, later, network=b"%16d" % number))
    assert isinstance(await store.claim_send(code(140, later, network=THERE), CAPS_ALONE), TooSoon)


async def test_a_sign_in_of_another_address_starts_nothing_anew(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number))
    await sent(store, link(50, email=BEN))
    assert await store.redeem_link(digest(50), session(99)) is not None
    assert isinstance(await store.claim_send(code(10), CAPS_ALONE), TooSoon)


async def test_the_last_letter_is_looked_at_before_the_caps(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * MINUTE), LIMITS)
    last = NOW + 9 * MINUTE
    held = await store.claim_send(code(10, last + MINUTE - INSTANT), LIMITS)
    assert held == TooSoon(last, MINUTE, by_last_email=True)
    held = await store.claim_send(code(11, last + MINUTE), LIMITS)
    assert held == TooSoon(NOW, HOUR, by_last_email=False)


async def test_a_sign_in_does_not_give_the_slot_back(store: Store) -> None:
    await sent(store, link(1), LIMITS)
    await store.redeem_link(digest(1), session(7))
    assert await store.claim_send(code(2, NOW + SECOND), LIMITS) == TooSoon(NOW, MINUTE, by_last_email=True)


async def test_sweeping_takes_no_letter_that_still_counts(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number))
    just_before = NOW + HOUR - INSTANT
    await store.sweep(just_before, 1_000)
    assert await store.claim_send(code(10, just_before), CAPS_ALONE) == TooSoon(NOW, HOUR, by_last_email=False)


# Failures in a row.


class Guesser:
    """Somebody whom nothing but the count of failures holds. Each letter is sent a second after the one before."""

    limits = Limits(timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0)

    def __init__(self, store: Store) -> None:
        self.now = NOW
        self._store = store
        self._numbers = count()

    async def send(self, kind: Callable[..., Send] = code, email: str = ANA) -> tuple[Send, Claimed | TooSoon]:
        self.now += SECOND
        letter = kind(next(self._numbers), self.now, email)
        return letter, await self._store.claim_send(letter, self.limits)

    async def try_code(self, email: str = ANA) -> bool:
        """Whether a try is compared with the newest code."""
        return await self._store.count_try(email, self.limits, self.now) is not None

    async def fail(self, times: int, email: str = ANA) -> None:
        """So many tries that are compared, five to a code."""
        for done in range(0, times, 5):
            await self.send(code, email)
            for _ in range(min(5, times - done)):
                assert await self.try_code(email)

    async def sign_in(self, by_link: bool) -> None:
        letter, _ = await self.send(link if by_link else code)
        new = session(1_000_000 + next(self._numbers), self.now)
        if by_link:
            assert await self._store.redeem_link(letter.digest, new) is not None
        else:
            assert await self._store.redeem_code(ANA, letter.digest, new) is not None


@pytest.fixture
def guesser(store: Store) -> Guesser:
    return Guesser(store)


async def test_a_hundred_tries_in_a_row_are_compared_and_no_more(guesser: Guesser) -> None:
    await guesser.fail(99)
    await guesser.send()
    assert [await guesser.try_code() for _ in range(4)] == [True, False, False, False]


async def test_a_claim_tells_whether_codes_are_stopped(guesser: Guesser) -> None:
    await guesser.fail(99)
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()
    assert (await guesser.send(code))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(link))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(code, BEN))[1] == Claimed(codes_stopped=False)


async def test_no_newer_code_is_compared_while_codes_are_stopped(guesser: Guesser) -> None:
    await guesser.fail(100)
    for _ in range(3):
        await guesser.send()
        assert not await guesser.try_code()


async def test_other_addresses_are_not_stopped(guesser: Guesser) -> None:
    await guesser.fail(100)
    await guesser.fail(100, BEN)
    await guesser.send(code, "cleo@example.test")
    assert await guesser.try_code("cleo@example.test")


@pytest.mark.parametrize("by_link", [False, True], ids=["by code", "by link"])
@pytest.mark.parametrize("failures", [1, 99])
async def test_a_sign_in_forgets_the_failures(guesser: Guesser, failures: int, by_link: bool) -> None:
    await guesser.fail(failures)
    await guesser.sign_in(by_link)
    await guesser.fail(100)
    await guesser.send()
    assert not await guesser.try_code()


async def test_a_link_opens_codes_again_but_not_those_of_before(guesser: Guesser) -> None:
    await guesser.fail(99)
    await guesser.send()
    assert await guesser.try_code()
    await guesser.sign_in(by_link=True)
    assert not await guesser.try_code()
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()


async def test_tries_that_meet_no_live_code_are_no_failures(store: Store, guesser: Guesser) -> None:
    assert not any([await guesser.try_code() for _ in range(120)])
    await guesser.fail(5)
    assert not any([await guesser.try_code() for _ in range(120)])
    await guesser.send()
    assert await store.count_try(ANA, guesser.limits, guesser.now + HOUR) is None
    await guesser.fail(95)
    await guesser.send()
    assert not await guesser.try_code()


async def test_a_redemption_that_was_refused_forgets_nothing(store: Store, guesser: Guesser) -> None:
    await guesser.fail(100)
    assert await store.redeem_link(digest(9_999), session(9_999)) is None
    assert await store.redeem_code(ANA, digest(9_999), session(9_999)) is None
    await guesser.send()
    assert not await guesser.try_code()


async def test_sweeping_forgets_no_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(100)
    guesser.now += timedelta(days=1_000)
    while await store.sweep(guesser.now, 10):
        pass
    assert (await guesser.send())[1] == Claimed(codes_stopped=True)


@pytest.mark.parametrize("limit", [1, 3, 1_000])
async def test_how_many_failures_may_be_settled_otherwise(guesser: Guesser, limit: int) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10, failures_in_a_row=limit)
    compared = 0
    for _ in range(limit // 10 + 2):
        await guesser.send()
        compared += sum([await guesser.try_code() for _ in range(10)])
    assert compared == limit


# At once.


async def test_of_many_uses_of_a_link_one_opens_a_session(store: Store, other_store: Store) -> None:
    for number in range(ROUNDS):
        now = NOW + number * MINUTE
        letter = await sent(store, link(number, now))
        sessions = [session((number + 1) * 1_000 + racer, now) for racer in range(AT_ONCE)]
        stores = [(store, other_store)[racer % 2] for racer in range(AT_ONCE)]
        answers = await at_once(
            *(each.redeem_link(letter.digest, new) for each, new in zip(stores, sessions, strict=True))
        )
        assert len(winners(answers)) == 1
        let_in = [await store.user_of_token(new.token_digest, now) for new in sessions]
        assert let_in == answers


async def test_of_many_links_of_one_address_one_opens_a_session(store: Store) -> None:
    users = set()
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        letters = [await sent(store, link(number * 1_000 + racer, now)) for racer in range(10)]
        sessions = [session((number + 1) * 100_000 + racer, now) for racer in range(AT_ONCE)]
        answers = await at_once(
            *(store.redeem_link(letters[racer % 10].digest, new) for racer, new in enumerate(sessions))
        )
        assert len(winners(answers)) == 1
        users.update(winners(answers))
    assert len(users) == 1


async def test_of_a_link_and_a_code_one_opens_a_session(store: Store, other_store: Store) -> None:
    won_by_link: list[bool] = []
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        letters = [await sent(store, code(2 * number, now)), await sent(store, link(2 * number + 1, now))]
        # In every other round a link comes first.
        racers = [(racer + number) % 2 == 1 for racer in range(AT_ONCE)]
        calls = []
        for racer, by_link in enumerate(racers):
            each = other_store if racer % 3 == 2 else store
            new = session((number + 1) * 1_000 + racer, now)
            calls.append(
                each.redeem_link(letters[1].digest, new) if by_link else each.redeem_code(ANA, letters[0].digest, new)
            )
        answers = await at_once(*calls)
        won_by_link += [by_link for by_link, answer in zip(racers, answers, strict=True) if answer is not None]
        assert len(won_by_link) == number + 1
        assert await store.count_try(ANA, LIMITS, now) is None
    assert set(won_by_link) == {False, True}, "one of the two was not in the race"


async def test_once_a_token_is_revoked_no_use_of_it_that_begins_later_succeeds(
    store: Store, other_store: Store
) -> None:
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        letter = await sent(store, link(number, now))
        new = session(1_000 + number, now)
        assert await store.redeem_link(letter.digest, new) is not None
        race = Revocation(new.token_digest, now)
        await at_once(*(race.use((store, other_store)[racer % 2]) for racer in range(AT_ONCE)), race.revoke(store))
        assert {(False, True), (True, False)} <= race.uses
        assert (True, True) not in race.uses


class Revocation:
    """A race between the revocation of a token and its uses, which are noted: whether it was revoked, and let in."""

    def __init__(self, token_digest: bytes, now: Instant) -> None:
        self.uses: set[tuple[bool, bool]] = set()
        self._used = asyncio.Event()
        self._token_digest = token_digest
        self._now = now
        self._revoked = False

    async def revoke(self, store: Store) -> None:
        """Once it was used, since it might overtake all who came before."""
        await self._used.wait()
        await store.revoke_token(self._token_digest)
        self._revoked = True

    async def use(self, store: Store) -> None:
        """Use it until it has been used after it was revoked."""
        was_revoked = False
        while not was_revoked:
            was_revoked = self._revoked
            lets_in = await store.user_of_token(self._token_digest, self._now) is not None
            self.uses.add((was_revoked, lets_in))
            self._used.set()
            await asyncio.sleep(0)


async def test_of_many_sign_ins_and_logouts_each_token_ends_as_it_was_left(store: Store) -> None:
    async def sign_in(letter: Send, new: NewSession, and_out_again: bool) -> None:
        assert await store.redeem_link(letter.digest, new) is not None
        if and_out_again:
            await store.revoke_token(new.token_digest)

    for number in range(ROUNDS):
        racers = range(number * AT_ONCE, (number + 1) * AT_ONCE)
        letters = [await sent(store, link(racer, email=f"user-{racer}@example.test")) for racer in racers]
        sessions = [session(1_000_000 + racer) for racer in racers]
        odd = [racer % 2 == 1 for racer in racers]
        await at_once(*(sign_in(*each) for each in zip(letters, sessions, odd, strict=True)))
        let_in = [await store.user_of_token(new.token_digest, NOW) is not None for new in sessions]
        assert let_in == [not each for each in odd]


@pytest.mark.parametrize(("networks", "limit"), [(1, 10), (2, 20), (AT_ONCE, 30)])
async def test_of_many_letters_the_caps_let_through_no_more(
    store: Store, other_store: Store, networks: int, limit: int
) -> None:
    numbers = count()
    for number in range(ROUNDS):
        calls = []
        for racer in range(AT_ONCE):
            kind, each = (code, link)[racer // 2 % 2], (store, other_store)[racer % 2]
            letter = kind(next(numbers), NOW, f"user-{number}@example.test", b"%16d" % (racer % networks))
            calls.append(each.claim_send(letter, CAPS_ALONE))
        answers = await at_once(*calls)
        assert answers.count(Claimed(codes_stopped=False)) == limit
        assert answers.count(TooSoon(NOW, HOUR, by_last_email=False)) == AT_ONCE - limit


async def test_letters_that_are_undone_at_the_same_time_make_room_for_as_many_and_no_more(store: Store) -> None:
    async def send(letter: Send, and_undo: bool) -> bool:
        """Whether the letter stays sent."""
        if isinstance(await store.claim_send(letter, CAPS_ALONE), TooSoon):
            return False
        if and_undo:
            await store.undo_send(letter)
        return not and_undo

    numbers = count()
    for number in range(ROUNDS):
        email = f"user-{number}@example.test"
        kept = sum(await at_once(*(send(code(next(numbers), email=email), racer % 2 == 1) for racer in range(AT_ONCE))))
        afterwards = [await send(code(next(numbers), email=email), and_undo=False) for _ in range(11)]
        assert kept + sum(afterwards) == 10


async def test_of_many_tries_no_more_than_100_in_a_row_are_compared(
    store: Store, other_store: Store, guesser: Guesser
) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10)
    for number in range(ROUNDS // 2):
        email = f"user-{number}@example.test"
        compared = 0
        for _ in range(14):
            tries = [
                (store, other_store)[racer % 2].count_try(email, guesser.limits, guesser.now + MINUTE)
                for racer in range(AT_ONCE)
            ]
            # A new code arrives among the tries.
            answers = await at_once(*tries[:5], guesser.send(code, email), *tries[5:])
            compared += len([answer for answer in answers if isinstance(answer, Try)])
        assert compared == 100
