"""Reading fast: what is read at once, and what is left to the slow reading, which alone knows every form."""

from datetime import UTC, datetime

import pytest
from msgspec import json

from tickover.core.clocks import AdvanceEntry, ScheduleEntry
from tickover.core.reading import read, read_at_once

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
TRANSACTION = {"at": "2027-03-02T00:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"}


def advance(frozen_time: str) -> bytes:
    return b'{"id":"clock_1","frozenTime":%b}' % frozen_time.encode()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('"2027-03-01T00:00:00Z"', id="whole seconds"),
        pytest.param('"2027-03-01T00:00:00.5Z"', id="a fraction"),
        pytest.param('"2027-03-01T00:00:00.000Z"', id="milliseconds, as JavaScript writes them"),
        pytest.param('"2027-03-01T00:00:00.123456Z"', id="microseconds"),
        pytest.param('"2027-03-01T00:00:00+00:00"', id="an offset of zero, as Python writes it"),
        pytest.param('"2027-03-01T00:00:00.123456+00:00"', id="microseconds and an offset of zero"),
    ],
)
def test_the_forms_that_programs_write_are_read_at_once(written: str) -> None:
    params = read_at_once(AdvanceEntry, advance(written), NOW)
    assert ([], params) == read(AdvanceEntry, advance(written), NOW)
    assert params is not None
    assert params.frozen_time.utcoffset().total_seconds() == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('"2027-03-01T00:00:00+01:00"', id="another offset"),
        pytest.param('"2027-03-01T00:00:00-00:00"', id="minus zero"),
        pytest.param('"2027-03-01T00:00:00.1234567Z"', id="seven digits"),
        pytest.param('"2027-03-01t00:00:00z"', id="small letters"),
        pytest.param('"2027-03-01 00:00:00Z"', id="a space for the T"),
        pytest.param('"2027-03-01T00:00:00+0000"', id="an offset without its colon"),
        pytest.param('"2027-03-01T00:00:00+00"', id="an offset of hours"),
        pytest.param('"2027-03-01T00:00:00"', id="no offset"),
        pytest.param('"2027-03-01"', id="a date"),
        pytest.param('"2027-03-01T00:00Z"', id="no seconds"),
        pytest.param('"2016-12-31T23:59:60Z"', id="second 60"),
        pytest.param('"2027-02-30T00:00:00Z"', id="a day that no year has"),
        pytest.param('"\\u0032027-03-01 00:00:00Z"', id="first digit escaped"),
        pytest.param('"202\\u0037-03-01 00:00:00Z"', id="fourth digit escaped"),
        pytest.param('"2027\\u002d03-01 00:00:00Z"', id="dash escaped"),
        pytest.param('"2027\\u002D03-01 00:00:00Z"', id="dash escaped in capitals"),
        pytest.param('"2027-03-01\\u002000:00:00Z"', id="space escaped"),
        pytest.param('"2027-03-01T00:00:00\\u005a"', id="Z escaped"),
    ],
)
def test_other_moments_are_left_to_the_slow_reading(written: str) -> None:
    assert read_at_once(AdvanceEntry, advance(written), NOW) is None
    assert read_at_once(AdvanceEntry, advance(written).replace(b":", b" :\n\t"), NOW) is None


@pytest.mark.parametrize("currency", ["EU1", "eur", "EUr", "ÄÖÜ", "EUR ", "E R", "\u0415UR", "ⅠⅡⅢ"])
def test_a_currency_that_may_be_none_is_left_to_the_slow_reading(currency: str) -> None:
    written = json.encode({"transactions": [TRANSACTION, TRANSACTION | {"currency": currency}]})
    assert read_at_once(ScheduleEntry, written, NOW) is None


@pytest.mark.parametrize("name", ["a\\u0000b", "\\ud800"])
def test_a_text_that_may_hold_what_no_text_may_is_left_to_the_slow_reading(name: str) -> None:
    written = json.encode({"goals": [{"name": "A name", "targetAmount": 1}]}).replace(b"A name", name.encode())
    assert read_at_once(ScheduleEntry, written, NOW) is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Zürich, naïve, 东京, 🎉", id="other letters"),
        pytest.param('caf\u00e9 "Paris" \\ \n\t', id="what JSON escapes"),
        pytest.param("Invoice 2027-03-01", id="a date within"),
        pytest.param("Z", id="the letter that moments end with"),
    ],
)
def test_a_name_like_any_other_is_read_at_once(name: str) -> None:
    written = json.encode({"transactions": [TRANSACTION | {"name": name}]})
    params = read_at_once(ScheduleEntry, written, NOW)
    assert params is not None
    assert params.transactions[0].name == name


def test_nothing_at_all_is_read_at_once() -> None:
    assert read_at_once(ScheduleEntry, b"{}", NOW) == ScheduleEntry()
