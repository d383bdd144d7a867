"""Durations: parsing, and adding them to instants."""

from datetime import UTC, datetime

import pytest

from tickover.api import durations
from tickover.api.durations import Duration, add_months


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("2 yrs", Duration(years=2)),
        ("1mo", Duration(months=1)),
        ("999999 days", Duration(days=999_999)),
        ("0 days", Duration()),
        ("+ 2 weeks", Duration(weeks=2)),
        ("  1y6mo  ", Duration(years=1, months=6)),
        ("1 year, 6 months", Duration(years=1, months=6)),
        ("3 days and 2 months", Duration(months=2, days=3)),
        ("1y 2mo 3w 4d 5h 6min 7s", Duration(1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_durations_are_parsed(text: str, duration: Duration) -> None:
    assert durations.parse(text) == duration
    assert duration.is_zero is (duration == Duration())


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "+", "1", "month", "a month", "-1 day", "++1 day", "1.5 days", "1 fortnight", "1000000 days",
        "1m", "1 m", "5M", "1h 5m",
        "1 day 2 days", "1 d 2 days", "1 day,", ", 1 day", "and 1 day", "1 day and", "1 day or 2 h", "٣ days", "1 day!",
    ],
)  # fmt: skip
def test_invalid_durations_are_rejected_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a duration such as 1mo, 2w, 10 days or 1y 6mo$"):
        durations.parse(text)


@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ("2028-01-31", 1, "2028-02-29"),
        ("2028-02-29", 12, "2029-02-28"),
        ("2027-12-15", 1, "2028-01-15"),
        ("2027-03-31", -1, "2027-02-28"),
        ("0001-01-01", 9998 * 12 + 11, "9999-12-01"),
    ],
)
def test_months_follow_the_calendar(start: str, months: int, end: str) -> None:
    moved = add_months(datetime.fromisoformat(f"{start}T09:30:00.000001Z"), months)
    assert moved == datetime.fromisoformat(f"{end}T09:30:00.000001Z")


@pytest.mark.parametrize(
    "duration",
    [
        Duration(years=999_999),
        Duration(months=999_999),
        Duration(weeks=999_999),
        Duration(days=10**12),
        Duration(years=7972, days=366),
    ],
)
def test_durations_past_the_year_9999_overflow(duration: Duration) -> None:
    with pytest.raises(OverflowError):
        duration.add_to(datetime(2027, 1, 1, tzinfo=UTC))


def test_months_are_added_before_days() -> None:
    start = datetime(2027, 1, 31, 23, 30, tzinfo=UTC)
    assert Duration(months=1, days=1, minutes=45).add_to(start) == datetime(2027, 3, 2, 0, 15, tzinfo=UTC)
