"""Timestamps: parsing, writing and calendar years."""

from datetime import UTC, datetime

import pytest

from tickover.api import timestamps
from tickover.api.timestamps import Instant

NINE = datetime(2027, 1, 31, 9, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
AFTER_LEAP_SECOND = datetime(2017, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2000-02-29T00:00:00Z", datetime(2000, 2, 29, tzinfo=UTC), id="29 February of a century"),
        pytest.param("0001-01-01T00:30:00+00:30", FIRST, id="first instant with an offset"),
        pytest.param("9999-12-31T23:29:59.999999-00:30", LAST, id="last instant with an offset"),
        pytest.param("9999-12-31T23:59:59.9999999Z", LAST, id="past the last instant, but cut to it"),
        pytest.param("2016-12-31T23:59:60Z", AFTER_LEAP_SECOND, id="leap second"),
        pytest.param("2017-01-01T05:29:60+05:30", AFTER_LEAP_SECOND, id="leap second with an offset"),
        pytest.param("2016-12-31T23:59:60.9999999Z", AFTER_LEAP_SECOND.replace(microsecond=999_999), id="fraction"),
        pytest.param("2027-03-14T23:59:60Z", datetime(2027, 3, 15, tzinfo=UTC), id="leap second of any day"),
    ],
)
def test_timestamp_is_parsed(text: str, expected: Instant) -> None:
    """test_properties.py writes random instants in every form, with all kinds of offsets and fractions."""
    read = timestamps.parse(text)
    assert read == expected
    assert read.tzinfo is UTC


SECOND_60 = r"^second 60 exists only at 23:59:60 UTC$"
OTHER_YEAR = "years 0001 to 9999"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("2016-12-31T23:58:60Z", SECOND_60, id="a minute early"),
        pytest.param("2017-01-01T00:59:60Z", SECOND_60, id="an hour late"),
        pytest.param("2016-12-31T23:59:60-08:00", SECOND_60, id="at the end of a local day"),
        pytest.param("0001-01-01T00:00:00+00:01", OTHER_YEAR, id="a minute before the first instant"),
        pytest.param("0001-01-01T23:58:59.999999+23:59", OTHER_YEAR, id="a microsecond before the first instant"),
        pytest.param("9999-12-31T23:59:59-00:01", OTHER_YEAR, id="a minute after the last second"),
        pytest.param("9999-12-31T23:59:60Z", OTHER_YEAR, id="the last leap second"),
    ],
)
def test_other_leap_seconds_and_years_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timestamps.parse(text)


@pytest.mark.parametrize(
    "value",
    [
        "", "2027-01-31", "2027-01-31T09:00:00", "2027-01-31 09:00:00Z", "2027-01-31T09:00Z",
        "2027-01-31T09:00:00+0530", "2027-01-31T09:00:00+05:30:00", "2027-01-31T09:00:00+05:60",
        "2027-01-31T09:00:00ZZ", "2027-01-31T09:00:00Z[Europe/Berlin]", "20270131T090000Z", "2027-W04-7T09:00:00Z",
        "12027-01-31T09:00:00Z", "2027-1-31T09:00:00Z", "2027-01-31T09:00:00.Z", "2027-01-31T09:00:00,5Z",
        "2027-01-31T09:00:00Z\n", "2027-01-31T09:00:00.5Z\n", " 2027-01-31T09:00:00Z", "2027-01-31T09:00:00Z\0",
        "2027-01-31T09:00:0০Z", "2027-01-31T09:00:00.৫Z", "2027-01-31T09:00:00+০5:30",
        None, True, 1_801_386_000, ["2027-01-31T09:00:00Z"], b"2027-01-31T09:00:00Z", NINE,
    ],
)  # fmt: skip
def test_other_forms_are_rejected(value: object) -> None:
    with pytest.raises(ValueError, match=r"^must be an RFC 3339 timestamp with an offset, such as .*Z$"):
        timestamps.parse(value)


@pytest.mark.parametrize(
    "text",
    [
        "2027-00-31T09:00:00Z", "2027-13-31T09:00:00Z", "2027-01-00T09:00:00Z", "2027-04-31T09:00:00Z",
        "1900-02-29T09:00:00Z", "2027-02-29T23:59:60Z", "2027-01-31T24:00:00Z", "2027-01-31T24:00:00.0Z",
        "2027-01-31T24:59:60+01:00", "2027-01-31T09:60:00Z", "2027-01-31T09:00:61Z", "2027-01-31T09:00:00+24:00",
        "2027-01-31T09:00:00-24:00", "0000-01-01T00:00:00Z",
    ],
)  # fmt: skip
def test_nonexistent_date_or_time_is_rejected_without_mentioning_python(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*timedelta).*(must|range)"):
        timestamps.parse(text)


def test_instant_converts_to_microseconds_since_1970() -> None:
    """test_properties.py converts any instant there and back."""
    assert timestamps.to_micros(NINE) == 1_801_386_000_000_000


@pytest.mark.parametrize(
    ("instant", "years", "expected"),
    [
        pytest.param("2027-01-31T09:00:00.000001Z", -10, "2017-01-31T09:00:00.000001Z", id="same day and time"),
        pytest.param("2028-02-29T12:30:00Z", 10, "2038-02-28T12:30:00Z", id="29 February goes to the 28th"),
        pytest.param("2028-02-29T12:30:00Z", -10, "2018-02-28T12:30:00Z", id="29 February goes back to the 28th"),
        pytest.param("2028-02-29T12:30:00Z", 4, "2032-02-29T12:30:00Z", id="29 February stays where there is one"),
        pytest.param("9989-12-31T23:59:59.999999Z", 10, "9999-12-31T23:59:59.999999Z", id="up to the last instant"),
    ],
)
def test_years_are_calendar_years(instant: str, years: int, expected: str) -> None:
    assert timestamps.write(timestamps.years_after(timestamps.parse(instant), years)) == expected
