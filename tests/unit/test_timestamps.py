"""Timestamps: parsing, writing and calendar years."""

from datetime import UTC, datetime, timedelta

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
        pytest.param("2027-01-31T09:00:00Z", NINE, id="the usual form"),
        pytest.param("2027-01-31t09:00:00Z", NINE, id="lower-case t"),
        pytest.param("2027-01-31T09:00:00z", NINE, id="lower-case z"),
        pytest.param("2027-01-31t09:00:00z", NINE, id="both in lower case"),
        pytest.param("2027-01-31T09:00:00+00:00", NINE, id="zero offset"),
        pytest.param("2027-01-31T09:00:00-00:00", NINE, id="zero offset with a minus"),
        pytest.param("2027-01-31T14:30:00+05:30", NINE, id="offset of hours and minutes"),
        pytest.param("2027-01-31T01:00:00-08:00", NINE, id="offset to the west"),
        pytest.param("2027-02-01T08:59:00+23:59", NINE, id="largest offset to the east"),
        pytest.param("2027-01-30T09:01:00-23:59", NINE, id="largest offset to the west"),
        pytest.param("2027-01-01T00:30:00+01:00", datetime(2026, 12, 31, 23, 30, tzinfo=UTC), id="into the last year"),
        pytest.param("2026-12-31T23:30:00-01:00", datetime(2027, 1, 1, 0, 30, tzinfo=UTC), id="into the next year"),
        pytest.param("2028-02-29T00:00:00Z", datetime(2028, 2, 29, tzinfo=UTC), id="29 February"),
        pytest.param("2000-02-29T00:00:00Z", datetime(2000, 2, 29, tzinfo=UTC), id="29 February of a century"),
        pytest.param("2027-01-31T00:00:00Z", datetime(2027, 1, 31, tzinfo=UTC), id="first second of a day"),
        pytest.param("2027-01-31T23:59:59Z", datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC), id="last second of a day"),
        pytest.param("0001-01-01T00:00:00Z", FIRST, id="first instant"),
        pytest.param("0001-01-01T00:30:00+00:30", FIRST, id="first instant with an offset"),
        pytest.param("9999-12-31T23:59:59.999999Z", LAST, id="last instant"),
        pytest.param("9999-12-31T23:29:59.999999-00:30", LAST, id="last instant with an offset"),
        pytest.param("9999-12-31T23:59:59.9999999Z", LAST, id="past the last instant, but cut to it"),
    ],
)
def test_timestamp_is_parsed(text: str, expected: Instant) -> None:
    read = timestamps.parse(text)
    assert read == expected
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    ("fraction", "microsecond"),
    [
        pytest.param("", 0, id="none"),
        pytest.param(".0", 0, id="zero"),
        pytest.param(".000000", 0, id="six zeros"),
        pytest.param(".5", 500_000, id="tenths"),
        pytest.param(".05", 50_000, id="leading zero"),
        pytest.param(".123456", 123_456, id="a microsecond"),
        pytest.param(".1234569", 123_456, id="the seventh digit is cut"),
        pytest.param(".9999999", 999_999, id="nines are cut, not carried"),
        pytest.param(".0000009", 0, id="less than a microsecond"),
        pytest.param("." + "9" * 1000, 999_999, id="a thousand digits"),
    ],
)
@pytest.mark.parametrize("offset", ["Z", "z", "+02:00"])
def test_fraction_is_truncated_to_the_microsecond(fraction: str, microsecond: int, offset: str) -> None:
    read = timestamps.parse(f"2027-01-31T09:00:07{fraction}{offset}")
    assert (read.second, read.microsecond) == (7, microsecond)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2016-12-31T23:59:60Z", AFTER_LEAP_SECOND, id="in UTC"),
        pytest.param("2016-12-31t23:59:60z", AFTER_LEAP_SECOND, id="in lower case"),
        pytest.param("2017-01-01T05:29:60+05:30", AFTER_LEAP_SECOND, id="offset to the east"),
        pytest.param("2016-12-31T15:59:60-08:00", AFTER_LEAP_SECOND, id="offset to the west"),
        pytest.param("2016-12-31T23:59:60.5Z", AFTER_LEAP_SECOND + timedelta(seconds=0.5), id="with a fraction"),
        pytest.param("2016-12-31T23:59:60.000001Z", AFTER_LEAP_SECOND.replace(microsecond=1), id="with a microsecond"),
        pytest.param("2016-12-31T23:59:60.9999999Z", AFTER_LEAP_SECOND.replace(microsecond=999_999), id="cut"),
        pytest.param("2027-03-14T23:59:60Z", datetime(2027, 3, 15, tzinfo=UTC), id="on any day"),
    ],
)
def test_second_60_at_the_end_of_a_utc_day_is_the_next_second(text: str, expected: Instant) -> None:
    read = timestamps.parse(text)
    assert read == expected
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2016-12-31T09:00:60Z", id="in the morning"),
        pytest.param("2016-12-31T23:58:60Z", id="a minute early"),
        pytest.param("2017-01-01T00:59:60Z", id="an hour late"),
        pytest.param("2016-12-31T23:59:60+01:00", id="at the end of a local day to the east"),
        pytest.param("2016-12-31T23:59:60-08:00", id="at the end of a local day to the west"),
        pytest.param("2017-01-01T05:30:60+05:30", id="a minute after the end of the UTC day"),
    ],
)
def test_second_60_elsewhere_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^second 60 exists only at 23:59:60 UTC$"):
        timestamps.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0001-01-01T00:00:00+00:01", id="a minute before the first instant"),
        pytest.param("0001-01-01T23:58:59.999999+23:59", id="a microsecond before the first instant"),
        pytest.param("9999-12-31T23:59:59-00:01", id="a minute after the last second"),
        pytest.param("9999-12-31T23:59:60Z", id="the last leap second"),
        pytest.param("9999-12-31T15:59:60-08:00", id="the last leap second with an offset"),
    ],
)
def test_instant_outside_years_0001_to_9999_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="years 0001 to 9999"):
        timestamps.parse(text)


MISSHAPEN = [
    pytest.param("", id="nothing"),
    pytest.param("2027-01-31", id="date alone"),
    pytest.param("09:00:00Z", id="time alone"),
    pytest.param("2027-01-31T09:00:00", id="no offset"),
    pytest.param("2027-01-31 09:00:00Z", id="space for the T"),
    pytest.param("2027-01-31_09:00:00Z", id="underscore for the T"),
    pytest.param("2027-01-31T09:00Z", id="no seconds"),
    pytest.param("2027-01-31T09Z", id="no minutes"),
    pytest.param("2027-01-31T09:00:00+0530", id="offset without its colon"),
    pytest.param("2027-01-31T09:00:00+05", id="offset of hours alone"),
    pytest.param("2027-01-31T09:00:00+05:30:00", id="offset with seconds"),
    pytest.param("2027-01-31T09:00:00+05:60", id="offset of sixty minutes"),
    pytest.param("2027-01-31T09:00:00\u221205:30", id="offset with a typographic minus"),
    pytest.param("2027-01-31T09:00:00 Z", id="space before the Z"),
    pytest.param("2027-01-31T09:00:00ZZ", id="two Zs"),
    pytest.param("2027-01-31T09:00:00[UTC]", id="name of a zone"),
    pytest.param("2027-01-31T09:00:00Z[Europe/Berlin]", id="Z and the name of a zone"),
    pytest.param("20270131T090000Z", id="basic form of ISO 8601"),
    pytest.param("2027-W04-7T09:00:00Z", id="week date"),
    pytest.param("2027-031T09:00:00Z", id="day of the year"),
    pytest.param("+2027-01-31T09:00:00Z", id="signed year"),
    pytest.param("-001-01-31T09:00:00Z", id="year before Christ"),
    pytest.param("12027-01-31T09:00:00Z", id="year of five digits"),
    pytest.param("227-01-31T09:00:00Z", id="year of three digits"),
    pytest.param("2027-1-31T09:00:00Z", id="month of one digit"),
    pytest.param("2027-01-31T9:00:00Z", id="hour of one digit"),
    pytest.param("2027-01-31T09:00:00.Z", id="point without digits"),
    pytest.param("2027-01-31T09:00:00,5Z", id="comma for the point"),
    pytest.param("2027-01-31T09:00:00.5.5Z", id="two fractions"),
    pytest.param("2027-01-31T09:00:00Z\n", id="line break at the end"),
    pytest.param("2027-01-31T09:00:00.5Z\n", id="line break after a fraction"),
    pytest.param("\n2027-01-31T09:00:00Z", id="line break at the start"),
    pytest.param(" 2027-01-31T09:00:00Z", id="space at the start"),
    pytest.param("2027-01-31T09:00:00Z ", id="space at the end"),
    pytest.param("2027-01-31T09:00:00Z\0", id="U+0000 at the end"),
    pytest.param("২০২৭-০১-৩১T০৯:০০:০০Z", id="Bengali digits"),
    pytest.param("2027-01-31T09:00:0০Z", id="one Bengali digit"),
    pytest.param("2027-01-31T09:00:00.৫Z", id="Bengali digit in the fraction"),
    pytest.param("2027-01-31T09:00:00+০5:30", id="Bengali digit in the offset"),
    pytest.param("1801386000", id="seconds since 1970"),
    pytest.param("Sun, 31 Jan 2027 09:00:00 GMT", id="form of HTTP"),
    pytest.param("now", id="word"),
]

IMPOSSIBLE = [
    pytest.param("2027-00-31T09:00:00Z", id="month 0"),
    pytest.param("2027-13-31T09:00:00Z", id="month 13"),
    pytest.param("2027-01-00T09:00:00Z", id="day 0"),
    pytest.param("2027-01-32T09:00:00Z", id="day 32"),
    pytest.param("2027-04-31T09:00:00Z", id="31 April"),
    pytest.param("2027-02-29T09:00:00Z", id="29 February of a common year"),
    pytest.param("1900-02-29T09:00:00Z", id="29 February of a common century"),
    pytest.param("2027-02-29T23:59:60Z", id="leap second of a nonexistent day"),
    pytest.param("2027-01-31T24:00:00Z", id="hour 24"),
    pytest.param("2027-01-31T24:00:00.0Z", id="hour 24 with a fraction"),
    pytest.param("2027-01-31T24:59:60+01:00", id="hour 24 of a leap second"),
    pytest.param("2027-01-31T25:00:00+01:00", id="hour 25"),
    pytest.param("2027-01-31T09:60:00Z", id="minute 60"),
    pytest.param("2027-01-31T09:00:61Z", id="second 61"),
    pytest.param("2027-01-31T09:00:99.5Z", id="second 99"),
    pytest.param("2027-01-31T09:00:00+24:00", id="offset of a day to the east"),
    pytest.param("2027-01-31T09:00:00-24:00", id="offset of a day to the west"),
    pytest.param("2027-01-31T09:00:00+99:59", id="offset of four days"),
    pytest.param("0000-01-01T00:00:00Z", id="year 0"),
]


@pytest.mark.parametrize("text", MISSHAPEN)
def test_text_in_another_form_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be an RFC 3339 timestamp with an offset, such as .*Z$"):
        timestamps.parse(text)


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_nonexistent_date_or_time_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"must|range"):
        timestamps.parse(text)


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_error_message_does_not_mention_python(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*timedelta)"):
        timestamps.parse(text)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param(True, id="true"),
        pytest.param(0, id="zero"),
        pytest.param(1_801_386_000, id="seconds since 1970"),
        pytest.param(1_801_386_000.5, id="broken number"),
        pytest.param([], id="array"),
        pytest.param(["2027-01-31T09:00:00Z"], id="array of a timestamp"),
        pytest.param({}, id="object"),
        pytest.param(b"2027-01-31T09:00:00Z", id="bytes"),
        pytest.param(NINE, id="datetime"),
    ],
)
def test_value_other_than_string_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match="must be an RFC 3339 timestamp"):
        timestamps.parse(value)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        pytest.param(NINE, "2027-01-31T09:00:00Z", id="whole second"),
        pytest.param(NINE.replace(microsecond=500_000), "2027-01-31T09:00:00.500000Z", id="half a second"),
        pytest.param(NINE.replace(microsecond=1), "2027-01-31T09:00:00.000001Z", id="one microsecond"),
        pytest.param(FIRST, "0001-01-01T00:00:00Z", id="first instant"),
        pytest.param(LAST, "9999-12-31T23:59:59.999999Z", id="last instant"),
    ],
)
def test_instant_is_written_in_utc_and_round_trips(instant: Instant, text: str) -> None:
    assert timestamps.write(instant) == text
    assert timestamps.parse(text) == instant


@pytest.mark.parametrize(
    ("instant", "micros"),
    [
        pytest.param(datetime(1970, 1, 1, tzinfo=UTC), 0, id="1970"),
        pytest.param(datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1, id="a microsecond later"),
        pytest.param(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1, id="a microsecond earlier"),
        pytest.param(NINE, 1_801_386_000_000_000, id="2027"),
        pytest.param(FIRST, -62_135_596_800_000_000, id="first instant"),
        pytest.param(LAST, 253_402_300_799_999_999, id="last instant"),
    ],
)
def test_instant_converts_to_microseconds_since_1970(instant: Instant, micros: int) -> None:
    assert timestamps.to_micros(instant) == micros
    assert timestamps.from_micros(micros) == instant


@pytest.mark.parametrize(
    ("instant", "years", "expected"),
    [
        pytest.param("2027-01-31T09:00:00.000001Z", 10, "2037-01-31T09:00:00.000001Z", id="same day and time"),
        pytest.param("2027-01-31T09:00:00.000001Z", -10, "2017-01-31T09:00:00.000001Z", id="the other way"),
        pytest.param("2028-02-28T23:59:59Z", 10, "2038-02-28T23:59:59Z", id="28 February stays"),
        pytest.param("2028-02-29T12:30:00Z", 10, "2038-02-28T12:30:00Z", id="29 February goes to the 28th"),
        pytest.param("2028-02-29T12:30:00Z", -10, "2018-02-28T12:30:00Z", id="29 February goes back to the 28th"),
        pytest.param("2028-02-29T12:30:00Z", 4, "2032-02-29T12:30:00Z", id="29 February stays where there is one"),
        pytest.param("2028-02-29T12:30:00Z", -28, "2000-02-29T12:30:00Z", id="29 February stays in 2000"),
        pytest.param("2028-03-01T00:00:00Z", 10, "2038-03-01T00:00:00Z", id="1 March stays"),
        pytest.param("2026-02-28T00:00:00Z", 10, "2036-02-28T00:00:00Z", id="28 February of a leap year to come"),
        pytest.param("9989-12-31T23:59:59.999999Z", 10, "9999-12-31T23:59:59.999999Z", id="up to the last instant"),
        pytest.param("0011-01-01T00:00:00Z", -10, "0001-01-01T00:00:00Z", id="back to the first instant"),
    ],
)
def test_years_are_calendar_years(instant: str, years: int, expected: str) -> None:
    assert timestamps.write(timestamps.years_after(timestamps.parse(instant), years)) == expected


def test_default_is_ten_years() -> None:
    assert timestamps.years_after(NINE) == datetime(2037, 1, 31, 9, tzinfo=UTC)
