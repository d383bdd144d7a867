"""The contract of every store: login links, revoked tokens, and the limits on emails and consecutive failures.

Methods are atomic. So the counts are exact under fifty concurrent calls, from one store or from two on one database.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from itertools import count
from typing import Any

import msgspec
import pytest

from tests.contract.values import ANA, BEN, HOUR, MICROSECOND, MINUTE, NOW, SECOND, digest, session, user, user_of_token
from tickover.api.timestamps import Instant
from tickover.server.domain.logins import Claimed, Kind, Limits, Send, TooSoon, Try
from tickover.server.storage import open_store
from tickover.server.storage.store import NewSession, Store

HERE, THERE = b"network: here...", b"network: there.."

LIMITS = Limits()
HOURLY_LIMITS_ONLY = Limits(resend_interval=timedelta(0))
"""No interval between emails, so that only the hourly limits apply."""

CONCURRENT = 50
# `make soak` runs 1,000 rounds of similar races.
ROUNDS = 6


@pytest.fixture
async def other_store(store: Store, database_url: str) -> AsyncIterator[Store]:
    """A second store on the same database, as in another process."""
    opened = await open_store(database_url)
    yield opened
    await opened.close()


def code(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> Send:
    return Send(digest(number), email, Kind.CODE, sent_at, network)


def link(number: int, sent_at: Instant = NOW, email: str = ANA, network: bytes = HERE) -> Send:
    return Send(digest(number), email, Kind.LINK, sent_at, network)


async def sent(store: Store, send: Send, limits: Limits = HOURLY_LIMITS_ONLY) -> Send:
    """Record an email that the limits must allow."""
    assert isinstance(await store.claim_send(send, limits), Claimed)
    return send


async def concurrently(*calls: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*calls)


def winners(results: list[bytes | None]) -> list[bytes]:
    return [result for result in results if result is not None]


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
    assert await store.count_try(BEN, LIMITS, NOW) is None
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
    assert await store.count_try(ANA, LIMITS, NOW) is None
    assert await store.redeem_code(ANA, digest(3), session(8)) is None
    assert await store.count_try(BEN, LIMITS, NOW) == Try(digest(5), NOW)
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
    assert await store.count_try(ANA, LIMITS, NOW) == Try(digest(3), NOW)
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
    assert await store.count_try(ANA, LIMITS, NOW) == Try(digest(3), NOW)
    assert await store.redeem_link(digest(2), session(8)) == user(7)


# Hourly limits on emails


@pytest.mark.parametrize(
    ("limits", "networks", "limit"),
    [
        pytest.param(LIMITS, 1, 10, id="ten from one network"),
        pytest.param(LIMITS, 3, 30, id="thirty from three networks"),
        pytest.param(LIMITS, 40, 30, id="thirty from forty networks"),
        pytest.param(Limits(sends_an_hour_from_one_network=1), 1, 1, id="one from a network"),
        pytest.param(Limits(sends_an_hour_from_one_network=1), 7, 7, id="one from each of seven networks"),
        pytest.param(Limits(sends_an_hour=4), 40, 4, id="four in total"),
        pytest.param(Limits(sends_an_hour=4), 1, 4, id="four in total, from one network"),
        pytest.param(Limits(sends_an_hour_from_one_network=0), 1, 30, id="no limit for a network"),
        pytest.param(Limits(sends_an_hour=0), 1, 10, id="no limit in total, from one network"),
        pytest.param(Limits(sends_an_hour=0), 40, 40, id="no limit in total"),
    ],
)
async def test_hourly_limits_on_emails(store: Store, limits: Limits, networks: int, limit: int) -> None:
    results = [
        await store.claim_send(code(number, NOW + number * MINUTE, network=b"%16d" % (number % networks)), limits)
        for number in range(40)
    ]
    assert results[:limit] == [Claimed(codes_stopped=False)] * limit
    assert [result for result in results[limit:] if not isinstance(result, TooSoon) or result.by_last_email] == []


@pytest.mark.parametrize(
    "kinds", [(code, code), (link, link), (code, link)], ids=["codes", "links", "both alternately"]
)
async def test_codes_and_links_count_for_the_same_limit(store: Store, kinds: Any) -> None:
    for number in range(10):
        await sent(store, kinds[number % 2](number))
    assert await store.claim_send(code(10), HOURLY_LIMITS_ONLY) == TooSoon(NOW, HOUR, by_last_email=False)
    assert await store.claim_send(link(11), HOURLY_LIMITS_ONLY) == TooSoon(NOW, HOUR, by_last_email=False)


async def test_hour_starts_with_the_oldest_counted_email(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * MINUTE))
    await sent(store, code(10, NOW + 10 * MINUTE, network=THERE))
    for number in range(3):
        leaves = NOW + number * MINUTE
        held = await store.claim_send(code(20 + number, leaves + HOUR - MICROSECOND), HOURLY_LIMITS_ONLY)
        assert held == TooSoon(leaves, HOUR, by_last_email=False)
        await sent(store, code(30 + number, leaves + HOUR))


async def test_wait_is_until_both_limits_allow(store: Store) -> None:
    for number in range(30):
        await sent(store, code(number, NOW + number * MINUTE, network=b"%16d" % number if number < 20 else HERE))
    later = NOW + 30 * MINUTE
    assert await store.claim_send(code(30, later), HOURLY_LIMITS_ONLY) == TooSoon(
        NOW + 20 * MINUTE, HOUR, by_last_email=False
    )
    assert await store.claim_send(code(31, later, network=THERE), HOURLY_LIMITS_ONLY) == TooSoon(
        NOW, HOUR, by_last_email=False
    )


async def test_limits_apply_to_one_address(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, email=ANA))
    for number in range(10, 20):
        await sent(store, code(number, email=BEN))
    assert isinstance(await store.claim_send(code(20, email=ANA), HOURLY_LIMITS_ONLY), TooSoon)
    assert isinstance(await store.claim_send(code(21, email=BEN), HOURLY_LIMITS_ONLY), TooSoon)


async def test_rejected_email_does_not_count_and_its_secret_is_invalid(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * SECOND))
    for number in range(10, 40):
        assert isinstance(await store.claim_send(link(number, NOW + MINUTE), HOURLY_LIMITS_ONLY), TooSoon)
        assert await store.redeem_link(digest(number), session(99, NOW + MINUTE)) is None
    assert await store.count_try(ANA, LIMITS, NOW + MINUTE) == Try(digest(9), NOW + 9 * SECOND)
    await sent(store, code(40, NOW + HOUR))


async def test_undone_email_does_not_count(store: Store) -> None:
    for number in range(40):
        await store.undo_send(await sent(store, code(number)))
    for number in range(40, 50):
        await sent(store, code(number))
    assert isinstance(await store.claim_send(code(50), HOURLY_LIMITS_ONLY), TooSoon)


async def test_email_of_a_freed_slot_counts(store: Store) -> None:
    for number in range(10):
        await store.allow_resend(await sent(store, code(number), LIMITS))
    assert await store.claim_send(code(10), LIMITS) == TooSoon(NOW, HOUR, by_last_email=False)


@pytest.mark.parametrize("by_link", [False, True], ids=["with a code", "with a link"])
async def test_sign_in_resets_both_counts(store: Store, by_link: bool) -> None:
    for number in range(30):
        network = HERE if number < 10 else b"%16d" % number
        await sent(store, (link if by_link else code)(number, NOW + number * SECOND, network=network))
    later = NOW + MINUTE
    assert isinstance(await store.claim_send(code(30, later, network=THERE), HOURLY_LIMITS_ONLY), TooSoon)
    if by_link:
        assert await store.redeem_link(digest(29), session(99, later)) is not None
    else:
        assert await store.redeem_code(ANA, digest(29), session(99, later)) is not None
    for number in range(100, 110):
        await sent(store, code(number, later))
    assert isinstance(await store.claim_send(code(110, later), HOURLY_LIMITS_ONLY), TooSoon)
    for number in range(120, 140):
        await sent(store, code(number, later, network=b"%16d" % number))
    assert isinstance(await store.claim_send(code(140, later, network=THERE), HOURLY_LIMITS_ONLY), TooSoon)


async def test_sign_in_of_another_address_resets_nothing(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number))
    await sent(store, link(50, email=BEN))
    assert await store.redeem_link(digest(50), session(99)) is not None
    assert isinstance(await store.claim_send(code(10), HOURLY_LIMITS_ONLY), TooSoon)


async def test_interval_is_checked_before_hourly_limits(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * MINUTE), LIMITS)
    last = NOW + 9 * MINUTE
    held = await store.claim_send(code(10, last + MINUTE - MICROSECOND), LIMITS)
    assert held == TooSoon(last, MINUTE, by_last_email=True)
    held = await store.claim_send(code(11, last + MINUTE), LIMITS)
    assert held == TooSoon(NOW, HOUR, by_last_email=False)


async def test_sign_in_does_not_release_the_slot(store: Store) -> None:
    await sent(store, link(1), LIMITS)
    await store.redeem_link(digest(1), session(7))
    assert await store.claim_send(code(2, NOW + SECOND), LIMITS) == TooSoon(NOW, MINUTE, by_last_email=True)


async def test_sweep_keeps_emails_that_still_count(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number))
    just_before = NOW + HOUR - MICROSECOND
    await store.sweep(just_before, 1_000)
    assert await store.claim_send(code(10, just_before), HOURLY_LIMITS_ONLY) == TooSoon(NOW, HOUR, by_last_email=False)


# Consecutive failures


class Guesser:
    """A user whom only the limit on failures stops. Emails are sent a second apart."""

    limits = Limits(timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0)

    def __init__(self, store: Store) -> None:
        self.now = NOW
        self._store = store
        self._numbers = count()

    async def send(self, kind: Callable[..., Send] = code, email: str = ANA) -> tuple[Send, Claimed | TooSoon]:
        self.now += SECOND
        message = kind(next(self._numbers), self.now, email)
        return message, await self._store.claim_send(message, self.limits)

    async def try_code(self, email: str = ANA) -> bool:
        """Return whether the store compares a try with the newest code."""
        return await self._store.count_try(email, self.limits, self.now) is not None

    async def fail(self, times: int, email: str = ANA) -> None:
        """Make this many counted tries, five for each code."""
        for done in range(0, times, 5):
            await self.send(code, email)
            for _ in range(min(5, times - done)):
                assert await self.try_code(email)

    async def sign_in(self, by_link: bool) -> None:
        message, _ = await self.send(link if by_link else code)
        new = session(1_000_000 + next(self._numbers), self.now)
        if by_link:
            assert await self._store.redeem_link(message.digest, new) is not None
        else:
            assert await self._store.redeem_code(ANA, message.digest, new) is not None


@pytest.fixture
def guesser(store: Store) -> Guesser:
    return Guesser(store)


async def test_a_hundred_consecutive_tries_are_compared_and_no_more(guesser: Guesser) -> None:
    await guesser.fail(99)
    await guesser.send()
    assert [await guesser.try_code() for _ in range(4)] == [True, False, False, False]


async def test_claim_returns_whether_codes_are_stopped(guesser: Guesser) -> None:
    await guesser.fail(99)
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()
    assert (await guesser.send(code))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(link))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(code, BEN))[1] == Claimed(codes_stopped=False)


async def test_newer_codes_are_stopped_too(guesser: Guesser) -> None:
    await guesser.fail(100)
    for _ in range(3):
        await guesser.send()
        assert not await guesser.try_code()


async def test_other_addresses_are_not_stopped(guesser: Guesser) -> None:
    await guesser.fail(100)
    await guesser.fail(100, BEN)
    await guesser.send(code, "cleo@example.test")
    assert await guesser.try_code("cleo@example.test")


@pytest.mark.parametrize("by_link", [False, True], ids=["with a code", "with a link"])
@pytest.mark.parametrize("failures", [1, 99])
async def test_sign_in_resets_failures(guesser: Guesser, failures: int, by_link: bool) -> None:
    await guesser.fail(failures)
    await guesser.sign_in(by_link)
    await guesser.fail(100)
    await guesser.send()
    assert not await guesser.try_code()


async def test_link_enables_later_codes_but_not_earlier_ones(guesser: Guesser) -> None:
    await guesser.fail(99)
    await guesser.send()
    assert await guesser.try_code()
    await guesser.sign_in(by_link=True)
    assert not await guesser.try_code()
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()


async def test_tries_without_a_live_code_are_not_failures(store: Store, guesser: Guesser) -> None:
    assert not any([await guesser.try_code() for _ in range(120)])
    await guesser.fail(5)
    assert not any([await guesser.try_code() for _ in range(120)])
    await guesser.send()
    assert await store.count_try(ANA, guesser.limits, guesser.now + HOUR) is None
    await guesser.fail(95)
    await guesser.send()
    assert not await guesser.try_code()


async def test_failed_redemption_does_not_reset_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(100)
    assert await store.redeem_link(digest(9_999), session(9_999)) is None
    assert await store.redeem_code(ANA, digest(9_999), session(9_999)) is None
    await guesser.send()
    assert not await guesser.try_code()


async def test_sweep_does_not_reset_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(100)
    guesser.now += timedelta(days=1_000)
    while await store.sweep(guesser.now, 10):
        pass
    assert (await guesser.send())[1] == Claimed(codes_stopped=True)


@pytest.mark.parametrize("limit", [1, 3, 1_000])
async def test_limit_on_failures_is_configurable(guesser: Guesser, limit: int) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10, failures_in_a_row=limit)
    compared = 0
    for _ in range(limit // 10 + 2):
        await guesser.send()
        compared += sum([await guesser.try_code() for _ in range(10)])
    assert compared == limit


# Concurrency


async def test_of_concurrent_uses_of_a_link_one_creates_a_session(store: Store, other_store: Store) -> None:
    for number in range(ROUNDS):
        now = NOW + number * MINUTE
        message = await sent(store, link(number, now))
        sessions = [session((number + 1) * 1_000 + racer, now) for racer in range(CONCURRENT)]
        stores = [(store, other_store)[racer % 2] for racer in range(CONCURRENT)]
        results = await concurrently(
            *(each.redeem_link(message.digest, new) for each, new in zip(stores, sessions, strict=True))
        )
        assert len(winners(results)) == 1
        let_in = [await user_of_token(store, new.token_digest, now) for new in sessions]
        assert let_in == results


async def test_of_concurrent_links_of_one_address_one_creates_a_session(store: Store) -> None:
    users = set()
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        messages = [await sent(store, link(number * 1_000 + racer, now)) for racer in range(10)]
        sessions = [session((number + 1) * 100_000 + racer, now) for racer in range(CONCURRENT)]
        results = await concurrently(
            *(store.redeem_link(messages[racer % 10].digest, new) for racer, new in enumerate(sessions))
        )
        assert len(winners(results)) == 1
        users.update(winners(results))
    assert len(users) == 1


async def test_of_a_concurrent_link_and_code_one_creates_a_session(store: Store, other_store: Store) -> None:
    won_by_link: list[bool] = []
    for number in range(20):  # enough for both to win
        now = NOW + number * HOUR
        messages = [await sent(store, code(2 * number, now)), await sent(store, link(2 * number + 1, now))]
        # Every other round starts with a link.
        racers = [(racer + number) % 2 == 1 for racer in range(CONCURRENT)]
        calls = []
        for racer, by_link in enumerate(racers):
            each = other_store if racer % 3 == 2 else store
            new = session((number + 1) * 1_000 + racer, now)
            calls.append(
                each.redeem_link(messages[1].digest, new) if by_link else each.redeem_code(ANA, messages[0].digest, new)
            )
        results = await concurrently(*calls)
        won_by_link += [by_link for by_link, result in zip(racers, results, strict=True) if result is not None]
        assert len(won_by_link) == number + 1
        assert await store.count_try(ANA, LIMITS, now) is None
    assert set(won_by_link) == {False, True}, "one of the two didn't take part in the race"


async def test_token_is_invalid_for_calls_after_its_revocation(store: Store, other_store: Store) -> None:
    for number in range(ROUNDS):
        now = NOW + number * HOUR
        message = await sent(store, link(number, now))
        new = session(1_000 + number, now)
        assert await store.redeem_link(message.digest, new) is not None
        race = Revocation(new.token_digest, now)
        await concurrently(
            *(race.use((store, other_store)[racer % 2]) for racer in range(CONCURRENT)), race.revoke(store)
        )
        assert {(False, True), (True, False)} <= race.uses
        assert (True, True) not in race.uses


class Revocation:
    """A race between the revocation of a token and its uses.

    It records whether each use came after it and succeeded.
    """

    def __init__(self, token_digest: bytes, now: Instant) -> None:
        self.uses: set[tuple[bool, bool]] = set()
        self._used = asyncio.Event()
        self._token_digest = token_digest
        self._now = now
        self._revoked = False

    async def revoke(self, store: Store) -> None:
        """Revoke the token after its first use."""
        await self._used.wait()
        await store.revoke_token(self._token_digest)
        self._revoked = True

    async def use(self, store: Store) -> None:
        """Use the token until a use starts after the revocation."""
        was_revoked = False
        while not was_revoked:
            was_revoked = self._revoked
            lets_in = await user_of_token(store, self._token_digest, self._now) is not None
            self.uses.add((was_revoked, lets_in))
            self._used.set()
            await asyncio.sleep(0)


async def test_concurrent_sign_ins_and_logouts_leave_each_token_in_its_last_state(store: Store) -> None:
    async def sign_in(message: Send, new: NewSession, and_out_again: bool) -> None:
        assert await store.redeem_link(message.digest, new) is not None
        if and_out_again:
            await store.revoke_token(new.token_digest)

    for number in range(ROUNDS):
        racers = range(number * CONCURRENT, (number + 1) * CONCURRENT)
        messages = [await sent(store, link(racer, email=f"user-{racer}@example.test")) for racer in racers]
        sessions = [session(1_000_000 + racer) for racer in racers]
        odd = [racer % 2 == 1 for racer in racers]
        await concurrently(*(sign_in(*each) for each in zip(messages, sessions, odd, strict=True)))
        let_in = [await user_of_token(store, new.token_digest, NOW) is not None for new in sessions]
        assert let_in == [not each for each in odd]


@pytest.mark.parametrize(("networks", "limit"), [(1, 10), (2, 20), (CONCURRENT, 30)])
async def test_concurrent_emails_respect_the_hourly_limits(
    store: Store, other_store: Store, networks: int, limit: int
) -> None:
    numbers = count()
    for number in range(ROUNDS):
        calls = []
        for racer in range(CONCURRENT):
            kind, each = (code, link)[racer // 2 % 2], (store, other_store)[racer % 2]
            message = kind(next(numbers), NOW, f"user-{number}@example.test", b"%16d" % (racer % networks))
            calls.append(each.claim_send(message, HOURLY_LIMITS_ONLY))
        results = await concurrently(*calls)
        assert results.count(Claimed(codes_stopped=False)) == limit
        assert results.count(TooSoon(NOW, HOUR, by_last_email=False)) == CONCURRENT - limit


async def test_emails_undone_concurrently_free_exactly_their_number(store: Store) -> None:
    async def send(message: Send, and_undo: bool) -> bool:
        """Return whether the email stays recorded."""
        if isinstance(await store.claim_send(message, HOURLY_LIMITS_ONLY), TooSoon):
            return False
        if and_undo:
            await store.undo_send(message)
        return not and_undo

    numbers = count()
    for number in range(ROUNDS):
        email = f"user-{number}@example.test"
        stored = sum(
            await concurrently(*(send(code(next(numbers), email=email), racer % 2 == 1) for racer in range(CONCURRENT)))
        )
        afterwards = [await send(code(next(numbers), email=email), and_undo=False) for _ in range(11)]
        assert stored + sum(afterwards) == 10


async def test_concurrent_tries_are_compared_at_most_100_times(
    store: Store, other_store: Store, guesser: Guesser
) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10)
    for number in range(ROUNDS // 2):
        email = f"user-{number}@example.test"
        compared = 0
        for _ in range(14):
            tries = [
                (store, other_store)[racer % 2].count_try(email, guesser.limits, guesser.now + MINUTE)
                for racer in range(CONCURRENT)
            ]
            # A new code arrives during the tries.
            results = await concurrently(*tries[:5], guesser.send(code, email), *tries[5:])
            compared += len([result for result in results if isinstance(result, Try)])
        assert compared == 100
