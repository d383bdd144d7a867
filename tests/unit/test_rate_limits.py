"""Limits of calls and emails: token buckets, and the wait after an email."""

from datetime import datetime, timedelta

import pytest

from tests.support.world import NOW
from tickover.server.sign_in import rate_limits
from tickover.server.sign_in.rate_limits import Buckets
from tickover.server.sign_in.resend_limits import TooSoon

ANA = "203.0.113.7"
BEN = "203.0.113.8"


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def drained(burst: int, refill: float, now: datetime = NOW) -> Buckets:
    """Buckets after Ana has emptied hers."""
    buckets = Buckets(burst, refill)
    assert [buckets.take(ANA, now) for _ in range(burst)] == [0] * burst
    return buckets


def taken(buckets: Buckets, now: datetime, client: str = ANA) -> int:
    """Count how many tokens the client can take at this instant."""
    count = 0
    while buckets.take(client, now) == 0:
        count += 1
    return count


@pytest.mark.parametrize(("burst", "refill"), [(0, 5), (300, 0)])
def test_0_disables_the_limit(burst: int, refill: float) -> None:
    buckets = Buckets(burst, refill)
    assert {buckets.take(ANA, NOW) for _ in range(1000)} == {0}


@pytest.mark.parametrize(
    ("burst", "refill", "passed", "again"),
    [
        pytest.param(10, 5, 0.199999, 0, id="just before one is back"),
        pytest.param(10, 5, 0.2, 1, id="when one is back"),
        pytest.param(10, 5, 86_400, 10, id="never more than the burst"),
        pytest.param(1, 1_000_000, 0.000001, 1, id="as fast as may be set"),
    ],
)
def test_bucket_refills_over_time(burst: int, refill: float, passed: float, again: int) -> None:
    assert taken(drained(burst, refill), after(passed)) == again


def test_rejected_call_takes_no_token() -> None:
    buckets = drained(1, 1)
    assert [buckets.take(ANA, after(0.25 * quarter)) for quarter in range(1, 5)] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("set_back", "a_second_later"),
    [pytest.param(3600, 5, id="a new time"), pytest.param(599, 0, id="a small step, as between servers")],
)
def test_wall_clock_set_back_refills_nothing(set_back: float, a_second_later: int) -> None:
    buckets = drained(10, 5)
    assert buckets.take(ANA, after(-set_back)) == 1
    assert taken(buckets, after(-set_back)) == 0
    assert taken(buckets, after(1 - set_back)) == a_second_later


@pytest.mark.parametrize(
    ("refill", "passed", "wait"),
    [
        pytest.param(1_000_000, 0, 1, id="never less than 1"),
        pytest.param(0.999, 0, 2, id="just over a second is 2"),
        pytest.param(0.5, 0.999999, 2, id="just over one second left"),
        pytest.param(0.001, 0, 1000, id="a thousand seconds"),
    ],
)
def test_wait_is_whole_seconds(refill: float, passed: float, wait: int) -> None:
    seconds = drained(1, refill).take(ANA, after(passed))
    assert seconds == wait
    assert isinstance(seconds, int)


# Too many clients


def test_active_client_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_MAX_CLIENTS", 100)
    buckets = drained(1, 1)
    buckets.take(BEN, NOW)
    assert buckets.take(ANA, NOW) == 1
    for number in range(99):
        buckets.take(f"client {number}", NOW)
    assert buckets.take(ANA, NOW) == 1
    assert buckets.take(BEN, NOW) == 0


# The wait after an email


@pytest.mark.parametrize(
    ("passed", "wait"),
    [
        pytest.param(timedelta(microseconds=999_999), 60, id="just before a second has passed"),
        pytest.param(timedelta(seconds=1), 59, id="after a second"),
        pytest.param(timedelta(seconds=59, microseconds=999_999), 1, id="a microsecond left"),
        pytest.param(timedelta(hours=1), 1, id="long over"),
        pytest.param(timedelta(microseconds=-1), 60, id="taken a microsecond from now, by another server"),
    ],
)
def test_wait_is_1_to_60_seconds(passed: timedelta, wait: int) -> None:
    found = TooSoon(NOW, timedelta(seconds=60), by_last_email=True).retry_after_seconds(NOW + passed)
    assert found == wait
    assert isinstance(found, int)
