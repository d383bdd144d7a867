"""Every store: emails and codes are ordered by sending, even if the wall clock is set back."""

from datetime import timedelta

import pytest

from tests.store.values import ANA, BEN, DAY, HOUR, MINUTE, NOW, code, code_limits, sent, session, user
from tickover.api.timestamps import Instant
from tickover.server.sign_in.logins import Claimed, CountedAttempt, Limits, TooSoon
from tickover.server.storage.store import Store

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
    limits = Limits(resend_interval=timedelta(0), sends_an_hour=2, sends_an_hour_from_one_network=0)
    first, second = NOW + 5 * MINUTE, NOW
    for number, sent_at in enumerate((first, second)):
        assert isinstance(await store.claim_send(code(number, sent_at), limits), Claimed)
        await store.allow_resend(code(number, sent_at))
    rejected = await store.claim_send(code(3, NOW + 6 * MINUTE), limits)
    assert rejected == TooSoon(first, HOUR, by_last_email=False)


@pytest.mark.parametrize(
    ("set_back", "holds"),
    [
        pytest.param(timedelta(seconds=1), True, id="a second"),
        pytest.param(timedelta(minutes=9), True, id="nine minutes"),
        pytest.param(timedelta(minutes=10), False, id="ten minutes"),
        pytest.param(DAY, False, id="a day"),
    ],
)
async def test_timestamp_far_in_the_future_holds_no_slot(store: Store, set_back: timedelta, holds: bool) -> None:
    await sent(store, code(1))
    claimed = await store.claim_send(code(2, NOW - set_back), Limits())
    assert isinstance(claimed, TooSoon) == holds
    if isinstance(claimed, TooSoon):
        assert claimed.retry_after_seconds(NOW - set_back) == 60
