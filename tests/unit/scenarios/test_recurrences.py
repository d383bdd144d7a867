"""The days of recurrences, compared with examples and with a slow model."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.scenarios.strategies import Phrase, instants, parse_instant, phrases, starts
from tickover.api import timestamps
from tickover.scenarios.phrases import parse

many_examples = settings(max_examples=60, deadline=None, derandomize=True)


def first_days(phrase: str, first: str, count: int) -> str:
    """Return the first days of the recurrence from `first` as `MM-DD`."""
    begin = date.fromisoformat(first)
    ordinals = parse(phrase).with_default_day(begin).ordinals(begin.toordinal(), date.max.toordinal())
    return " ".join(f"{date.fromordinal(day):%m-%d}" for day, _ in zip(ordinals, range(count), strict=False))


@pytest.mark.parametrize(
    ("phrase", "first", "days"),
    [
        pytest.param("every month", "2027-01-31", "01-31 02-28 03-31 04-30", id="on its day, without drift"),
        pytest.param("every month on the 30th and 31st", "2027-02-01", "02-28 03-30 03-31", id="two days that are one"),
        pytest.param("every quarter", "2027-11-30", "11-30 02-29 05-30", id="quarters through a leap day"),
        pytest.param("every year", "2028-02-29", "02-29 02-28 02-28 02-28 02-29", id="on the date of the first day"),
        pytest.param("every 4 years on 29 February", "2028-02-29", "02-29 02-29 02-29", id="leap years alone"),
        pytest.param("every Friday", "9999-12-30", "12-31", id="the calendar's last week"),
        pytest.param("every Saturday", "9999-12-31", "", id="past the calendar's last day"),
        pytest.param("every month on the 1st", "9999-12-02", "", id="past the calendar's last month"),
        pytest.param("every year on 1 January", "9999-01-02", "", id="past the calendar's last year"),
        pytest.param("every week on Monday", "0001-01-01", "01-01 01-08", id="the calendar's first day"),
    ],
)  # fmt: skip
def test_days_of_recurrences(phrase: str, first: str, days: str) -> None:
    """The model below has all phrases with days, and dates far from the ends of the calendar."""
    assert first_days(phrase, first, len(days.split()) or 1) == days


@many_examples
@given(phrases, st.dates(date(1890, 1, 1), date(2110, 1, 1)), st.integers(0, 800))
def test_the_days_match_the_model(drawn: Phrase, first: date, length: int) -> None:
    last = first + timedelta(days=length)
    found = parse(drawn.words).ordinals(first.toordinal(), last.toordinal())
    assert [date.fromordinal(day) for day in found] == list(drawn.days(first, last)), drawn.words


@many_examples
@given(phrases, starts, st.integers(0, 500), st.integers(0, 300), st.integers(1, 40))
def test_occurrences_before_the_start_count_towards_times(
    drawn: Phrase, start: datetime, before: int, after: int, count: int
) -> None:
    since, until = start - timedelta(days=before), start + timedelta(days=after)
    timing = {"from": timestamps.write(since), "until": timestamps.write(until), "times": count, "time": "00:00"}
    first = since.date() + timedelta(days=since.time() > time())
    occurrences = [datetime.combine(day, time(), UTC) for day in drawn.days(first, until.date())][:count]
    assert instants(start, "1 year", every=drawn.words, **timing) == [
        found for found in occurrences if start <= found <= until
    ]


@pytest.mark.parametrize(
    ("start", "every", "expected"),
    [
        pytest.param("2027-01-01T08:00:00Z", "Friday", "2027-01-01", id="exactly at the start"),
        pytest.param("2027-01-01T08:00:00.000001Z", "Friday", "2027-01-08", id="a microsecond late"),
        pytest.param("2027-01-01T09:00:00Z", "second Friday", "2027-01-08", id="so the count begins a week later"),
        pytest.param("2027-01-31T09:00:00Z", "month", "2027-02-28", id="and still means the 31st"),
        pytest.param("2027-01-01T09:00:00+02:00", "day", "2027-01-01", id="in UTC it is 07:00"),
    ],
)
def test_the_first_occurrence_is_at_or_after_the_start(start: str, every: str, expected: str) -> None:
    assert instants(start, every=every, times=3)[0] == parse_instant(expected)
