"""Every store: the limits on emails and consecutive failures."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.store.emails import HERE, HOURLY_LIMITS_ONLY, LIMITS, THERE, Guesser, code, link, sent
from tests.store.values import ANA, BEN, HOUR, MICROSECOND, MINUTE, NOW, SECOND, digest, session
from tickover.server.sign_in.logins import Claimed, CountedAttempt, Limits, TooSoon
from tickover.server.storage.store import Store

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
    assert await store.count_attempt(ANA, LIMITS, NOW + MINUTE) == CountedAttempt(digest(9), NOW + 9 * SECOND)
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


@pytest.fixture
def guesser(store: Store) -> Guesser:
    return Guesser(store)


async def test_a_hundred_consecutive_tries_are_compared_and_no_more(guesser: Guesser) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, failures_in_a_row=LIMITS.failures_in_a_row)
    await guesser.fail(99)
    await guesser.send()
    assert [await guesser.try_code() for _ in range(4)] == [True, False, False, False]


async def test_claim_returns_whether_codes_are_stopped(guesser: Guesser) -> None:
    await guesser.fail(9)
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()
    assert (await guesser.send(code))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(link))[1] == Claimed(codes_stopped=True)
    assert (await guesser.send(code, BEN))[1] == Claimed(codes_stopped=False)


async def test_newer_codes_are_stopped_too(guesser: Guesser) -> None:
    await guesser.fail(10)
    for _ in range(3):
        await guesser.send()
        assert not await guesser.try_code()


async def test_other_addresses_are_not_stopped(guesser: Guesser) -> None:
    await guesser.fail(10)
    await guesser.fail(10, BEN)
    await guesser.send(code, "cleo@example.test")
    assert await guesser.try_code("cleo@example.test")


@pytest.mark.parametrize("by_link", [False, True], ids=["with a code", "with a link"])
@pytest.mark.parametrize("failures", [1, 9])
async def test_sign_in_resets_failures(guesser: Guesser, failures: int, by_link: bool) -> None:
    await guesser.fail(failures)
    await guesser.sign_in(by_link)
    await guesser.fail(10)
    await guesser.send()
    assert not await guesser.try_code()


async def test_link_enables_later_codes_but_not_earlier_ones(guesser: Guesser) -> None:
    await guesser.fail(9)
    await guesser.send()
    assert await guesser.try_code()
    await guesser.sign_in(by_link=True)
    assert not await guesser.try_code()
    assert (await guesser.send())[1] == Claimed(codes_stopped=False)
    assert await guesser.try_code()


async def test_tries_without_a_live_code_are_not_failures(store: Store, guesser: Guesser) -> None:
    assert not any([await guesser.try_code() for _ in range(20)])
    await guesser.fail(5)
    assert not any([await guesser.try_code() for _ in range(20)])
    await guesser.send()
    assert await store.count_attempt(ANA, guesser.limits, guesser.now + HOUR) is None
    await guesser.fail(5)
    await guesser.send()
    assert not await guesser.try_code()


async def test_failed_redemption_does_not_reset_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(10)
    assert await store.redeem_link(digest(9_999), session(9_999)) is None
    assert await store.redeem_code(ANA, digest(9_999), session(9_999)) is None
    await guesser.send()
    assert not await guesser.try_code()


async def test_sweep_does_not_reset_failures(store: Store, guesser: Guesser) -> None:
    await guesser.fail(10)
    guesser.now += timedelta(days=1_000)
    while await store.sweep(guesser.now, 10):
        pass
    assert (await guesser.send())[1] == Claimed(codes_stopped=True)


@pytest.mark.parametrize("limit", [1, 3, 101])
async def test_limit_on_failures_is_configurable(guesser: Guesser, limit: int) -> None:
    guesser.limits = msgspec.structs.replace(guesser.limits, code_tries=10, failures_in_a_row=limit)
    compared = 0
    for _ in range(limit // 10 + 2):
        await guesser.send()
        compared += sum([await guesser.try_code() for _ in range(10)])
    assert compared == limit
