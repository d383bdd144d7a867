"""The fast path of decoding: which parameters take it, and which are left to `explain`."""

from datetime import UTC, datetime

import pytest
from msgspec import json

from tickover.api.clocks import NewClock
from tickover.api.fields import Params
from tickover.server.operations.advance_test_clock import AdvanceEntry
from tickover.server.operations.delete_test_clock import DeleteEntry
from tickover.server.operations.fork_test_clock import ForkEntry
from tickover.server.operations.get_test_clock import GetEntry
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.rpc.decode import decode, try_fast_decode
from tickover.server.sign_in import email_addresses

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
def test_usual_timestamps_take_the_fast_path(written: str) -> None:
    params = try_fast_decode(AdvanceEntry, advance(written), NOW)
    assert ([], params) == decode(AdvanceEntry, advance(written), NOW)
    assert params is not None
    assert params.frozen_time.utcoffset().total_seconds() == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('"2027-03-01T00:00:00+01:00"', id="another offset"),
        pytest.param('"2027-03-01T00:00:00-00:00"', id="minus zero"),
        pytest.param('"2027-03-01T00:00:00.1234567Z"', id="seven digits"),
        pytest.param('"2027-03-01t00:00:00z"', id="lowercase t and z"),
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
def test_unusual_timestamps_take_the_slow_path(written: str) -> None:
    assert try_fast_decode(AdvanceEntry, advance(written), NOW) is None
    assert try_fast_decode(AdvanceEntry, advance(written).replace(b":", b" :\n\t"), NOW) is None


@pytest.mark.parametrize("currency", ["EU1", "eur", "EUr", "ÄÖÜ", "EUR ", "E R", "\u0415UR", "ⅠⅡⅢ"])
def test_unusual_currency_takes_the_slow_path(currency: str) -> None:
    written = json.encode({"transactions": [TRANSACTION, TRANSACTION | {"currency": currency}]})
    assert try_fast_decode(NewClock, written, NOW) is None


@pytest.mark.parametrize("name", ["a\\u0000b", "\\ud800"])
def test_text_with_possible_u_0000_takes_the_slow_path(name: str) -> None:
    written = json.encode({"goals": [{"name": "A name", "targetAmount": 1}]}).replace(b"A name", name.encode())
    assert try_fast_decode(NewClock, written, NOW) is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Zürich, naïve, 东京, 🎉", id="other scripts"),
        pytest.param('caf\u00e9 "Paris" \\ \n\t', id="what JSON escapes"),
        pytest.param("Invoice 2027-03-01", id="a date within"),
        pytest.param("Z", id="Z alone"),
    ],
)
def test_usual_name_takes_the_fast_path(name: str) -> None:
    written = json.encode({"transactions": [TRANSACTION | {"name": name}]})
    params = try_fast_decode(NewClock, written, NOW)
    assert params is not None
    assert params.transactions[0].name == name


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        pytest.param(b'{"id":"clock_1"}', GetEntry("clock_1"), id="getTestClock"),
        pytest.param(b'{"id":"clock_1","at":"2027-01-01T12:00:00Z"}', GetEntry("clock_1", NOW), id="with an instant"),
        pytest.param(b'{"id":"clock_1"}', ForkEntry("clock_1"), id="forkTestClock"),
        pytest.param(b'{"id":"clock_1","at":"2027-01-01T12:00:00Z"}', ForkEntry("clock_1", NOW), id="at an instant"),
        pytest.param(b'{"id":"clock_1"}', DeleteEntry("clock_1"), id="deleteTestClock"),
    ],
)
def test_params_of_one_clock_take_the_fast_path(written: bytes, read_as: Params) -> None:
    assert try_fast_decode(type(read_as), written, NOW) == read_as
    assert decode(type(read_as), written, NOW) == ([], read_as)


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        pytest.param(GetEntry, b'{"id":"1","at":"2027-01-01"}', id="an invalid instant"),
        pytest.param(ForkEntry, b'{"id":"1","at":"2027-01-01T12:00:00+01:00"}', id="an instant with an offset"),
        pytest.param(DeleteEntry, b'{"id":"1","at":"2027-01-01T12:00:00Z"}', id="an instant that is unknown"),
        pytest.param(DeleteEntry, b"{}", id="missing id"),
    ],
)
def test_invalid_params_take_the_slow_path(kind: type[Params], written: bytes) -> None:
    assert try_fast_decode(kind, written, NOW) is None


def test_empty_params_take_the_fast_path() -> None:
    assert try_fast_decode(NewClock, b"{}", NOW) == NewClock()


def test_params_other_than_object_are_none() -> None:
    faults, params = decode(NewClock, b"[[]]", NOW)
    assert params is None
    assert [fault.rule for fault in faults] == ["type"]


# Combinations of fields

_FAST, _SLOW, _REJECTED = "at once", "slowly", "not at all"


def _how_it_is_read(params: object, now: datetime = NOW) -> str:
    written = json.encode(params)
    at_once = try_fast_decode(NewClock, written, now)
    faults, _ = decode(NewClock, written, now)
    if at_once is not None:
        assert faults == []
        return _FAST
    return _REJECTED if faults else _SLOW


@pytest.mark.parametrize(
    ("start", "how"),
    [
        pytest.param("2027-01-01T12:00:00Z", _FAST, id="now"),
        pytest.param("2036-12-31T23:59:59.999999Z", _FAST, id="the last instant of the ninth year"),
        pytest.param("2037-01-01T00:00:00Z", _SLOW, id="in the tenth year"),
        pytest.param("2037-01-01T12:00:00Z", _SLOW, id="ten years on"),
        pytest.param("2037-01-01T12:00:00.000001Z", _REJECTED, id="an instant more"),
        pytest.param("2018-01-01T00:00:00Z", _FAST, id="the first instant nine years back"),
        pytest.param("2017-12-31T23:59:59.999999Z", _SLOW, id="ten years back in the calendar"),
        pytest.param("2017-01-01T12:00:00Z", _SLOW, id="ten years back"),
        pytest.param("2017-01-01T11:59:59.999999Z", _REJECTED, id="an instant more back"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"transactions": [], "goals": []}])
def test_start_must_be_within_ten_years(start: str, how: str, more: dict[str, object]) -> None:
    assert _how_it_is_read({"frozenTime": start, **more}) == how


@pytest.mark.parametrize(
    ("start", "at", "how"),
    [
        pytest.param("2027-03-01T00:00:00Z", "2027-03-01T00:00:00Z", _FAST, id="at the start"),
        pytest.param(
            "2027-03-01T00:00:00Z", "2027-02-28T23:59:59.999999Z", _REJECTED, id="an instant before the start"
        ),
        pytest.param("2027-03-01T00:00:00Z", "2037-03-01T00:00:00Z", _FAST, id="at the end"),
        pytest.param("2027-03-01T00:00:00Z", "2037-03-01T00:00:00.000001Z", _REJECTED, id="an instant after the end"),
        pytest.param("2028-02-29T09:00:00Z", "2038-02-28T09:00:00Z", _FAST, id="at the end after 29 February"),
        pytest.param("2028-02-29T09:00:00Z", "2038-02-28T09:00:00.000001Z", _REJECTED, id="an instant after that"),
        pytest.param("2028-02-28T09:00:00Z", "2028-02-29T09:00:00Z", _FAST, id="on 29 February"),
        pytest.param(None, "2027-01-01T12:00:00Z", _FAST, id="now, which is the start"),
        pytest.param(None, "2027-01-01T11:59:59.999999Z", _REJECTED, id="an instant before now"),
        pytest.param(None, "2037-01-01T12:00:00Z", _FAST, id="at the end of what starts now"),
        pytest.param(None, "2037-01-01T12:00:00.000001Z", _REJECTED, id="an instant after what starts now"),
    ],
)
@pytest.mark.parametrize("kind", ["transaction", "contribution"])
def test_item_must_be_between_start_and_end(kind: str, start: str | None, at: str, how: str) -> None:
    params: dict[str, object] = {} if start is None else {"frozenTime": start}
    # At any position among valid items.
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


def test_clock_that_starts_now_on_29_february_ends_on_28_february() -> None:
    now = datetime(2028, 2, 29, 12, tzinfo=UTC)
    for at, how in (("2038-02-28T12:00:00Z", _FAST), ("2038-02-28T12:00:00.000001Z", _REJECTED)):
        assert _how_it_is_read({"transactions": [TRANSACTION | {"at": at}]}, now) == how


@pytest.mark.parametrize(
    ("initial", "how"),
    [
        (0, _FAST),
        (9.99, _FAST),
        pytest.param(10, _FAST, id="the target itself"),
        pytest.param(10.0, _FAST, id="the target as a float"),
        pytest.param(10.01, _REJECTED, id="more than the target"),
    ],
)
def test_initial_amount_is_at_most_the_target(initial: float, how: str) -> None:
    goals = [{"name": name, "targetAmount": 10, "initialAmount": initial} for name in ("one", "other")]
    for some in (goals, [{"name": "good", "targetAmount": 1}, *goals], [*goals, {"name": "good", "targetAmount": 1}]):
        assert _how_it_is_read({"goals": some}) == how


# Addresses


UNUSUAL = ["Ana@Example.test", "ana@bücher.test", '"a b"@x.test', "ana@x.test.", "a@" + "\ufdfa" * 60, "ana@127.0.0.1"]


@pytest.mark.parametrize("email", UNUSUAL, ids=ascii)
@pytest.mark.parametrize("times", [1, 1000])
def test_library_is_called_at_most_once_for_an_address(monkeypatch: pytest.MonkeyPatch, email: str, times: int) -> None:
    asked = []

    def ask(text: str) -> email_addresses.EmailAddress:
        asked.append(text)
        return email_addresses.EmailAddress(text)

    monkeypatch.setattr(email_addresses, "_parse_any", ask)
    member = b'"email":%b,' % json.encode(email)
    written = b'{%b"code":"123456","authenticationMethod":"EMAIL_CODE"}' % (member * times)
    decode(VerificationEntry, written, NOW)
    assert asked == [email]


def test_library_is_not_called_for_a_long_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(email_addresses, "_parse_any", pytest.fail)
    written = json.encode({"email": "a@" + "\ufdfa" * 85, "code": "123456", "authenticationMethod": "EMAIL_CODE"})
    faults, _ = decode(VerificationEntry, written, NOW)
    assert [(fault.path, fault.rule) for fault in faults] == [("email", "format")]
