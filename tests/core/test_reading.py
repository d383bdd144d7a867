"""Reading fast: what is read at once, and what is left to the slow reading, which alone knows every form."""

from datetime import UTC, datetime

import pytest
from msgspec import json

from tickover.server.domain import email_addresses
from tickover.server.domain.clock_params import (
    AdvanceTestClockParams,
    CreateTestClockParams,
    DeleteTestClockParams,
    ForkTestClockParams,
    GetTestClockParams,
)
from tickover.server.domain.logins import LoginByEmailVerificationParams
from tickover.server.domain.params import Params
from tickover.server.jsonrpc.decode import decode, try_fast_decode

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
    params = try_fast_decode(AdvanceTestClockParams, advance(written), NOW)
    assert ([], params) == decode(AdvanceTestClockParams, advance(written), NOW)
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
    assert try_fast_decode(AdvanceTestClockParams, advance(written), NOW) is None
    assert try_fast_decode(AdvanceTestClockParams, advance(written).replace(b":", b" :\n\t"), NOW) is None


@pytest.mark.parametrize("currency", ["EU1", "eur", "EUr", "ÄÖÜ", "EUR ", "E R", "\u0415UR", "ⅠⅡⅢ"])
def test_a_currency_that_may_be_none_is_left_to_the_slow_reading(currency: str) -> None:
    written = json.encode({"transactions": [TRANSACTION, TRANSACTION | {"currency": currency}]})
    assert try_fast_decode(CreateTestClockParams, written, NOW) is None


@pytest.mark.parametrize("name", ["a\\u0000b", "\\ud800"])
def test_a_text_that_may_hold_what_no_text_may_is_left_to_the_slow_reading(name: str) -> None:
    written = json.encode({"goals": [{"name": "A name", "targetAmount": 1}]}).replace(b"A name", name.encode())
    assert try_fast_decode(CreateTestClockParams, written, NOW) is None


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
    params = try_fast_decode(CreateTestClockParams, written, NOW)
    assert params is not None
    assert params.transactions[0].name == name


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        pytest.param(b'{"id":"clock_1"}', GetTestClockParams("clock_1"), id="getTestClock"),
        pytest.param(
            b'{"id":"clock_1","at":"2027-01-01T12:00:00Z"}', GetTestClockParams("clock_1", NOW), id="with an instant"
        ),
        pytest.param(b'{"id":"clock_1"}', ForkTestClockParams("clock_1"), id="forkTestClock"),
        pytest.param(
            b'{"id":"clock_1","at":"2027-01-01T12:00:00Z"}', ForkTestClockParams("clock_1", NOW), id="at an instant"
        ),
        pytest.param(b'{"id":"clock_1"}', DeleteTestClockParams("clock_1"), id="deleteTestClock"),
    ],
)
def test_what_is_asked_of_one_clock_is_read_at_once(written: bytes, read_as: Params) -> None:
    assert try_fast_decode(type(read_as), written, NOW) == read_as
    assert decode(type(read_as), written, NOW) == ([], read_as)


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        pytest.param(GetTestClockParams, b'{"id":"1","at":"2027-01-01"}', id="an instant that is none"),
        pytest.param(
            ForkTestClockParams, b'{"id":"1","at":"2027-01-01T12:00:00+01:00"}', id="an instant with an offset"
        ),
        pytest.param(
            DeleteTestClockParams, b'{"id":"1","at":"2027-01-01T12:00:00Z"}', id="an instant where there is none"
        ),
        pytest.param(DeleteTestClockParams, b"{}", id="nothing where something is needed"),
    ],
)
def test_anything_else_that_is_asked_is_left_to_the_slow_reading(kind: type[Params], written: bytes) -> None:
    assert try_fast_decode(kind, written, NOW) is None


def test_nothing_at_all_is_read_at_once() -> None:
    assert try_fast_decode(CreateTestClockParams, b"{}", NOW) == CreateTestClockParams()


def test_what_is_no_object_at_all_is_explained_and_nothing_is_read() -> None:
    faults, params = decode(CreateTestClockParams, b"[[]]", NOW)
    assert params is None
    assert [fault.rule for fault in faults] == ["type"]


# Between fields, to the microsecond

_FOR_SURE, _IN_DOUBT, _REFUSED = "at once", "slowly", "not at all"


def _how_it_is_read(params: object, now: datetime = NOW) -> str:
    written = json.encode(params)
    at_once = try_fast_decode(CreateTestClockParams, written, now)
    faults, _ = decode(CreateTestClockParams, written, now)
    if at_once is not None:
        assert faults == []
        return _FOR_SURE
    return _REFUSED if faults else _IN_DOUBT


@pytest.mark.parametrize(
    ("start", "how"),
    [
        pytest.param("2027-01-01T12:00:00Z", _FOR_SURE, id="now"),
        pytest.param("2036-12-31T23:59:59.999999Z", _FOR_SURE, id="the last instant of the ninth year"),
        pytest.param("2037-01-01T00:00:00Z", _IN_DOUBT, id="in the tenth year"),
        pytest.param("2037-01-01T12:00:00Z", _IN_DOUBT, id="ten years on"),
        pytest.param("2037-01-01T12:00:00.000001Z", _REFUSED, id="an instant more"),
        pytest.param("2018-01-01T00:00:00Z", _FOR_SURE, id="the first instant nine years back"),
        pytest.param("2017-12-31T23:59:59.999999Z", _IN_DOUBT, id="ten years back in the calendar"),
        pytest.param("2017-01-01T12:00:00Z", _IN_DOUBT, id="ten years back"),
        pytest.param("2017-01-01T11:59:59.999999Z", _REFUSED, id="an instant more back"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"transactions": [], "goals": []}], ids=["alone", "with empty lists"])
def test_how_far_away_a_start_may_be(start: str, how: str, more: dict[str, object]) -> None:
    assert _how_it_is_read({"frozenTime": start, **more}) == how


@pytest.mark.parametrize(
    ("start", "at", "how"),
    [
        pytest.param("2027-03-01T00:00:00Z", "2027-03-01T00:00:00Z", _FOR_SURE, id="at the start"),
        pytest.param("2027-03-01T00:00:00Z", "2027-02-28T23:59:59.999999Z", _REFUSED, id="an instant before the start"),
        pytest.param("2027-03-01T00:00:00Z", "2037-03-01T00:00:00Z", _FOR_SURE, id="at the end"),
        pytest.param("2027-03-01T00:00:00Z", "2037-03-01T00:00:00.000001Z", _REFUSED, id="an instant after the end"),
        pytest.param("2028-02-29T09:00:00Z", "2038-02-28T09:00:00Z", _FOR_SURE, id="at the end after 29 February"),
        pytest.param("2028-02-29T09:00:00Z", "2038-02-28T09:00:00.000001Z", _REFUSED, id="an instant after that"),
        pytest.param("2028-02-28T09:00:00Z", "2028-02-29T09:00:00Z", _FOR_SURE, id="on 29 February"),
        pytest.param(None, "2027-01-01T12:00:00Z", _FOR_SURE, id="now, which is the start"),
        pytest.param(None, "2027-01-01T11:59:59.999999Z", _REFUSED, id="an instant before now"),
        pytest.param(None, "2037-01-01T12:00:00Z", _FOR_SURE, id="at the end of what starts now"),
        pytest.param(None, "2037-01-01T12:00:00.000001Z", _REFUSED, id="an instant after what starts now"),
    ],
)
@pytest.mark.parametrize("kind", ["transaction", "contribution"])
def test_an_item_lies_between_start_and_end(kind: str, start: str | None, at: str, how: str) -> None:
    params: dict[str, object] = {} if start is None else {"frozenTime": start}
    # Among others that are in order, at whatever place.
    within = "2029-01-01T00:00:00Z"
    for ats in ([at], [within, at], [at, within], [within, at, within]):
        if kind == "transaction":
            params["transactions"] = [TRANSACTION | {"at": each} for each in ats]
        else:
            contributions = [{"at": each, "amount": 1} for each in ats]
            params["goals"] = [
                {"name": "Empty", "targetAmount": 1, "contributions": []},
                {"name": "Bicycle", "targetAmount": 1, "contributions": contributions},
            ]
        assert _how_it_is_read(params) == how


def test_a_start_on_29_february_ends_on_28_february_for_now_too() -> None:
    now = datetime(2028, 2, 29, 12, tzinfo=UTC)
    for at, how in (("2038-02-28T12:00:00Z", _FOR_SURE), ("2038-02-28T12:00:00.000001Z", _REFUSED)):
        assert _how_it_is_read({"transactions": [TRANSACTION | {"at": at}]}, now) == how


@pytest.mark.parametrize(
    ("initial", "how"),
    [
        (0, _FOR_SURE),
        (9.99, _FOR_SURE),
        pytest.param(10, _FOR_SURE, id="the target itself"),
        pytest.param(10.0, _FOR_SURE, id="the target itself, written otherwise"),
        pytest.param(10.01, _REFUSED, id="more than the target"),
    ],
)
def test_a_goal_begins_with_its_target_at_most(initial: float, how: str) -> None:
    goals = [{"name": name, "targetAmount": 10, "initialAmount": initial} for name in ("one", "other")]
    for some in (goals, [{"name": "good", "targetAmount": 1}, *goals], [*goals, {"name": "good", "targetAmount": 1}]):
        assert _how_it_is_read({"goals": some}) == how


# Addresses


UNUSUAL = ["Ana@Example.test", "ana@bücher.test", '"a b"@x.test', "ana@x.test.", "a@" + "\ufdfa" * 60, "ana@127.0.0.1"]


@pytest.mark.parametrize("email", UNUSUAL, ids=ascii)
@pytest.mark.parametrize("times", [1, 1000])
def test_the_library_is_asked_at_most_once_for_an_address(
    monkeypatch: pytest.MonkeyPatch, email: str, times: int
) -> None:
    asked = []

    def ask(text: str) -> email_addresses.EmailAddress:
        asked.append(text)
        return email_addresses.EmailAddress(text)

    monkeypatch.setattr(email_addresses, "_parse_any", ask)
    member = b'"email":%b,' % json.encode(email)
    written = b'{%b"code":"123456","authenticationMethod":"EMAIL_CODE"}' % (member * times)
    decode(LoginByEmailVerificationParams, written, NOW)
    assert asked == [email]


def test_an_address_that_is_too_long_is_never_shown_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(email_addresses, "_parse_any", pytest.fail)
    written = json.encode({"email": "a@" + "\ufdfa" * 85, "code": "123456", "authenticationMethod": "EMAIL_CODE"})
    faults, _ = decode(LoginByEmailVerificationParams, written, NOW)
    assert [(fault.path, fault.rule) for fault in faults] == [("email", "format")]
