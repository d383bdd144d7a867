"""Every store: limits on emails and on consecutive failures, and their order if the wall clock is set back."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest
from msgspec.structs import replace

from tests.store.values import (
    ANA,
    BEN,
    DAY,
    HOUR,
    HOURLY_LIMITS_ONLY,
    MICROSECOND,
    MINUTE,
    NOW,
    SECOND,
    code,
    code_limits,
    delaying_email,
    digest,
    link,
    redeem,
    sent,
    session,
    user,
)
from tickover.api.limits import RESEND_INTERVAL
from tickover.api.timestamps import Instant
from tickover.server.sign_in.login_emails import CountedAttempt, LoginEmail
from tickover.server.sign_in.resend_limits import EmailRecorded, SendLimits, TooSoon
from tickover.server.storage.store import Store

HERE, THERE = b"network: here...", b"network: there.."
Kind = Callable[..., LoginEmail]
_codes_and_links = pytest.mark.parametrize("kind", [code, link])
_HOURLY = TooSoon(NOW, HOUR, by_last_email=False)


# The interval: an email delays the next one to its address


@pytest.mark.parametrize("first", [code, link])
@pytest.mark.parametrize("second", [code, link])
async def test_email_delays_the_next_one_to_its_address_for_a_minute(store: Store, first: Kind, second: Kind) -> None:
    await sent(store, first(1))
    for after in (timedelta(0), RESEND_INTERVAL - MICROSECOND):
        assert await delaying_email(store, second(2, NOW + after)) == NOW
    assert await delaying_email(store, second(3, NOW + RESEND_INTERVAL)) is None
    assert await delaying_email(store, second(4, NOW + RESEND_INTERVAL + SECOND)) == NOW + RESEND_INTERVAL


async def test_code_that_is_not_mailed_neither_waits_nor_delays_others(store: Store) -> None:
    fixed = replace(code(1), is_mailed=False)
    await sent(store, fixed)
    await sent(store, link(2))
    for _ in range(2):
        await sent(store, fixed)
    assert await delaying_email(store, link(3, NOW + SECOND)) == NOW
    assert await redeem(store, fixed, session(1)) == user(1)


async def test_code_that_is_not_mailed_counts_for_the_hourly_limits(store: Store) -> None:
    for number in range(2):
        fixed = replace(code(number, NOW + number * SECOND), is_mailed=False)
        outcome = await store.record_email(fixed, SendLimits(sends_an_hour=1))
        assert outcome == (_HOURLY if number else EmailRecorded(codes_stopped=False))


async def test_interval_is_for_the_exact_address(store: Store) -> None:
    odd = ["ana@x.test", "Ana@x.test", '"ana"@x.test', "a%@x.test", "a_@x.test", "änä@x.test", '"ana "@x.test']
    for number, email in enumerate(odd):
        await sent(store, code(number, email=email))
    for number, email in enumerate(odd):
        assert await store.count_attempt(email, code_limits(), NOW) == CountedAttempt(digest(number), NOW)


@pytest.mark.parametrize("allow_resend", [False, True])
async def test_revoking_a_token_can_let_the_next_email_follow_at_once(store: Store, allow_resend: bool) -> None:
    for number, email in ((1, ANA), (2, BEN)):
        await sent(store, code(number, email=email))
        await store.redeem_code(email, digest(number), session(number))
    assert await store.revoke_token(session(1).token_digest, allow_resend=allow_resend)
    assert not await store.revoke_token(digest(3), allow_resend=allow_resend)
    assert await delaying_email(store, code(4, email=ANA)) == (None if allow_resend else NOW)
    assert await delaying_email(store, code(5, email=BEN)) == NOW


@_codes_and_links
async def test_deleted_email_delays_nothing_and_its_secret_is_invalid(store: Store, kind: Kind) -> None:
    await sent(store, code(2, email=BEN))
    deleted = await sent(store, kind(1))
    for _ in range(2):
        await store.delete_email(deleted)
    assert await store.count_attempt(ANA, code_limits(), NOW) is None
    assert await redeem(store, deleted, session(7)) is None
    await sent(store, code(3))
    assert await delaying_email(store, code(4, NOW + SECOND, email=BEN)) == NOW
    assert await store.count_attempt(BEN, code_limits(), NOW) == CountedAttempt(digest(2), NOW)


# Hourly limits


@pytest.mark.parametrize(
    ("limits", "networks", "limit"),
    [
        pytest.param(SendLimits(), 3, 30, id="thirty from three networks"),
        pytest.param(SendLimits(sends_an_hour_from_one_network=1), 7, 7, id="one from each of seven networks"),
        pytest.param(SendLimits(sends_an_hour_from_one_network=0), 1, 30, id="no limit for a network"),
        pytest.param(SendLimits(sends_an_hour=0), 40, 40, id="no limit in total"),
    ],
)
async def test_hourly_limits_on_emails(store: Store, limits: SendLimits, networks: int, limit: int) -> None:
    results = [
        await store.record_email(code(number, NOW + number * MINUTE, network=b"%16d" % (number % networks)), limits)
        for number in range(40)
    ]
    assert results[:limit] == [EmailRecorded(codes_stopped=False)] * limit
    assert [result for result in results[limit:] if not isinstance(result, TooSoon) or result.by_last_email] == []


async def test_hour_starts_with_the_oldest_counted_email(store: Store) -> None:
    for number in range(10):
        await sent(store, code(number, NOW + number * MINUTE, network=HERE))
    await sent(store, code(10, NOW + 10 * MINUTE, network=THERE))
    for number in range(3):
        leaves = NOW + number * MINUTE
        held = code(20 + number, leaves + HOUR - MICROSECOND, network=HERE)
        assert await store.record_email(held, HOURLY_LIMITS_ONLY) == TooSoon(leaves, HOUR, by_last_email=False)
        await sent(store, code(30 + number, leaves + HOUR, network=HERE), HOURLY_LIMITS_ONLY)


async def test_wait_is_until_both_limits_allow(store: Store) -> None:
    for number in range(30):
        network = b"%16d" % number if number < 20 else HERE
        await sent(store, code(number, NOW + number * MINUTE, network=network), HOURLY_LIMITS_ONLY)
    later = NOW + 30 * MINUTE
    for network, since in ((HERE, NOW + 20 * MINUTE), (THERE, NOW)):
        held = await store.record_email(code(30, later, network=network), HOURLY_LIMITS_ONLY)
        assert held == TooSoon(since, HOUR, by_last_email=False)


async def test_rejected_or_deleted_email_does_not_count(store: Store) -> None:
    for number in range(40, 60):
        await store.delete_email(await sent(store, code(number), HOURLY_LIMITS_ONLY))
    for number in range(10):
        # An email with unknown delivery counts.
        await store.allow_resend(await sent(store, code(number, NOW + number * SECOND), HOURLY_LIMITS_ONLY))
    for number in range(10, 40):
        assert isinstance(await store.record_email(link(number, NOW + MINUTE), HOURLY_LIMITS_ONLY), TooSoon)
        assert await store.redeem_link(digest(number), session(99, NOW + MINUTE)) is None
    assert await store.count_attempt(ANA, SendLimits(), NOW + MINUTE) == CountedAttempt(digest(9), NOW + 9 * SECOND)
    await sent(store, code(40, NOW + HOUR), HOURLY_LIMITS_ONLY)


@_codes_and_links
async def test_sign_in_resets_both_counts_of_its_address(store: Store, kind: Kind) -> None:
    later = NOW + MINUTE

    async def fill(start: int) -> None:
        for number in range(start, start + 30):
            network = HERE if number < start + 10 else b"%16d" % number
            await sent(store, kind(number, NOW + number * MICROSECOND, network=network), HOURLY_LIMITS_ONLY)
        for network in (HERE, THERE):
            held = await store.record_email(code(1000, later, network=network), HOURLY_LIMITS_ONLY)
            assert isinstance(held, TooSoon)

    await fill(0)
    bens = await sent(store, link(2000, email=BEN), HOURLY_LIMITS_ONLY)
    assert await redeem(store, bens, session(98, later)) is not None
    assert isinstance(await store.record_email(code(1001, later, network=THERE), HOURLY_LIMITS_ONLY), TooSoon)
    assert await redeem(store, kind(29, NOW + 29 * MICROSECOND), session(99, later)) is not None
    await fill(100)


# Consecutive failures


class Guesser:
    """A user whom only a limit of ten failures stops. Emails are sent a second apart."""

    limits = SendLimits(timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0, failures_in_a_row=10)

    def __init__(self, store: Store) -> None:
        self.now = NOW
        self._store = store
        self._numbers = count()

    async def send(self, kind: Kind = code, email: str = ANA) -> tuple[LoginEmail, EmailRecorded | TooSoon]:
        self.now += SECOND
        message = kind(next(self._numbers), self.now, email)
        return message, await self._store.record_email(message, self.limits)

    async def try_code(self, email: str = ANA) -> bool:
        """Return whether the store compares an attempt with the newest code."""
        return await self._store.count_attempt(email, self.limits, self.now) is not None

    async def fail(self, times: int, email: str = ANA) -> None:
        """Make this many counted attempts, five for each code."""
        for done in range(0, times, 5):
            await self.send(code, email)
            for _ in range(min(5, times - done)):
                assert await self.try_code(email)

    async def sign_in(self, kind: Kind) -> None:
        message, _ = await self.send(kind)
        assert await redeem(self._store, message, session(1_000_000 + next(self._numbers), self.now)) is not None


@pytest.fixture
def guesser(store: Store) -> Guesser:
    return Guesser(store)


async def test_recording_an_email_returns_whether_codes_are_stopped(guesser: Guesser) -> None:
    await guesser.fail(9)
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=False)
    assert await guesser.try_code()
    for kind, email, stopped in ((code, ANA, True), (link, ANA, True), (code, BEN, False)):
        assert (await guesser.send(kind, email))[1] == EmailRecorded(codes_stopped=stopped)
        assert await guesser.try_code(email) != stopped


@_codes_and_links
async def test_sign_in_resets_failures(guesser: Guesser, kind: Kind) -> None:
    await guesser.fail(9)
    await guesser.sign_in(kind)
    await guesser.fail(10)
    await guesser.send()
    assert not await guesser.try_code()


async def test_link_enables_later_codes_but_not_earlier_ones(guesser: Guesser) -> None:
    await guesser.fail(10)
    await guesser.sign_in(link)
    assert not await guesser.try_code()
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=False)
    assert await guesser.try_code()


async def test_attempts_without_a_live_code_are_not_failures(store: Store, guesser: Guesser) -> None:
    assert not any([await guesser.try_code() for _ in range(20)])
    await guesser.fail(5)
    assert not any([await guesser.try_code() for _ in range(20)])
    await guesser.send()
    assert await store.count_attempt(ANA, guesser.limits, guesser.now + HOUR) is None
    await guesser.fail(5)
    await guesser.send()
    assert not await guesser.try_code()


async def test_failed_sign_in_or_sweep_does_not_reset_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(10)
    assert await store.redeem_link(digest(9_999), session(9_999)) is None
    assert await store.redeem_code(ANA, digest(9_999), session(9_999)) is None
    guesser.now += timedelta(days=1_000)
    while await store.sweep(guesser.now, 10):
        pass
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=True)


# The order of sending


_SET_BACK = [timedelta(minutes=11), HOUR, DAY]


async def _newest_code(store: Store, now: Instant) -> bytes | None:
    counted = await store.count_attempt(ANA, code_limits(), now)
    return counted.digest if counted else None


@pytest.mark.parametrize("set_back", _SET_BACK, ids=str)
async def test_last_code_is_the_newest_after_the_wall_clock_was_set_back(store: Store, set_back: timedelta) -> None:
    then = NOW - set_back
    older, newer = await sent(store, code(1)), await sent(store, code(2, then))
    assert await store.count_attempt(ANA, code_limits(), then) == CountedAttempt(newer.digest, then)
    assert await store.redeem_code(ANA, older.digest, session(1, then)) is None
    assert await store.redeem_code(ANA, newer.digest, session(1, then)) == user(1)


async def test_sweep_never_makes_an_older_code_the_newest(store: Store) -> None:
    """The newer code has the earlier timestamp, so it is swept first."""
    await sent(store, code(1))
    await sent(store, code(2, NOW - HOUR))
    assert await _newest_code(store, NOW + MINUTE) is None, "it has expired"
    while await store.sweep(NOW + MINUTE, 1):
        pass
    assert await _newest_code(store, NOW + MINUTE) is None
    # Codes that were sent later stay.
    newest = await sent(store, code(3, NOW + 2 * MINUTE))
    while await store.sweep(NOW + 3 * MINUTE, 1):
        pass
    assert await _newest_code(store, NOW + 3 * MINUTE) == newest.digest


@pytest.mark.parametrize("ana_is_first", [True, False])
async def test_sweep_keeps_the_codes_of_other_addresses(store: Store, ana_is_first: bool) -> None:
    ana, expired = code(1), code(2, NOW - HOUR, BEN)
    for email in (ana, expired) if ana_is_first else (expired, ana):
        await sent(store, email)
    while await store.sweep(NOW + MINUTE, 1):
        pass
    assert await _newest_code(store, NOW + MINUTE) == ana.digest


# The limits of an address


async def test_hourly_limit_counts_emails_in_the_order_of_sending(store: Store) -> None:
    """The last email has the earliest timestamp, because the wall clock was set back by five minutes."""
    limits = SendLimits(resend_interval=timedelta(0), sends_an_hour=2, sends_an_hour_from_one_network=0)
    first, second = NOW + 5 * MINUTE, NOW
    for number, sent_at in enumerate((first, second)):
        assert isinstance(await store.record_email(code(number, sent_at), limits), EmailRecorded)
        await store.allow_resend(code(number, sent_at))
    rejected = await store.record_email(code(3, NOW + 6 * MINUTE), limits)
    assert rejected == TooSoon(first, HOUR, by_last_email=False)


@pytest.mark.parametrize(
    ("set_back", "delays"),
    [
        pytest.param(timedelta(seconds=1), True, id="a second"),
        pytest.param(timedelta(minutes=9), True, id="nine minutes"),
        pytest.param(timedelta(minutes=10), False, id="ten minutes"),
        pytest.param(DAY, False, id="a day"),
    ],
)
async def test_timestamp_far_in_the_future_delays_nothing(store: Store, set_back: timedelta, delays: bool) -> None:
    await sent(store, code(1))
    outcome = await store.record_email(code(2, NOW - set_back), SendLimits())
    assert isinstance(outcome, TooSoon) == delays
    if isinstance(outcome, TooSoon):
        assert outcome.retry_after_seconds(NOW - set_back) == 60


async def test_failures_with_a_lifetime_expire_after_the_last_one(guesser: Guesser) -> None:
    """Nobody can lock an address for ever whose link can't be mailed."""
    guesser.limits = replace(guesser.limits, failure_lifetime=HOUR)
    await guesser.fail(9)
    guesser.now += HOUR - 2 * SECOND  # the next email takes a second
    await guesser.fail(1)
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=True)
    assert not await guesser.try_code()
    guesser.now += HOUR - 3 * SECOND
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=True)
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=False)
    # They count from the beginning again.
    await guesser.fail(10)
    assert (await guesser.send())[1] == EmailRecorded(codes_stopped=True)
