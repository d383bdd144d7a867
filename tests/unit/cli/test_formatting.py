"""Tests of the formatting of text, amounts, times and IDs."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tickover.cli import formatting


@pytest.mark.parametrize(
    ("value", "shown", "with_sign"),
    [
        ("0", "0.00", "0.00"),
        ("1000", "1 000.00", "+1 000.00"),
        ("-1150.5", "−1 150.50", "−1 150.50"),
        ("1E+9", "1 000 000 000.00", "+1 000 000 000.00"),
        ("1E-7", "0.0000001", "+0.0000001"),
    ],
)
def test_amount_has_two_decimals_and_grouped_thousands(value: str, shown: str, with_sign: str) -> None:
    assert (formatting.amount(Decimal(value)), formatting.signed_amount(Decimal(value))) == (shown, with_sign)


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (datetime(2027, 2, 1, tzinfo=UTC), "2027-02-01"),
        (datetime(2027, 2, 1, 9, 30, tzinfo=UTC), "2027-02-01 09:30 UTC"),
        (datetime(2027, 2, 1, 9, 30, 1, tzinfo=UTC), "2027-02-01 09:30:01 UTC"),
        (datetime(2027, 2, 1, 0, 0, 0, 1, tzinfo=UTC), "2027-02-01 00:00:00.000001 UTC"),
        (datetime(2027, 2, 1, 1, tzinfo=timezone(timedelta(hours=1))), "2027-02-01"),
    ],
)
def test_timestamp_omits_zero_parts(at: datetime, shown: str) -> None:
    assert formatting.timestamp(at) == shown


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (timedelta(days=6, hours=23, minutes=59), "6 d 23 h"),
        (timedelta(days=1, minutes=5), "1 d"),
        (timedelta(hours=23, minutes=59, seconds=59), "23 h 59 min"),
        (timedelta(seconds=59), "< 1 min"),
    ],
)
def test_duration_has_its_two_largest_units(length: timedelta, shown: str) -> None:
    assert formatting.duration(length) == shown


def test_short_id_is_the_end_of_the_id() -> None:
    assert formatting.short_id("clock_01a2d11f-0200-7129-903a-c1d45597fdf1") == "clock_…5597fdf1"
    assert formatting.short_id("something\x1belse") == "something�else"
