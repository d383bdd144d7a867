"""The fast path of decoding: which parameters take it, and which are left to `explain`."""

from datetime import UTC, datetime

import pytest
from msgspec import json

from tickover.api.clocks import NewClock
from tickover.server.operations.advance_test_clock import AdvanceEntry
from tickover.server.operations.login_by_email_verification import VerificationEntry
from tickover.server.rpc.decode import decode, try_fast_decode
from tickover.server.sign_in import email_addresses
from tickover.server.sign_in.email_addresses import EmailAddress

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
TRANSACTION = {"at": "2027-03-02T00:00:00Z", "name": "Rent", "amount": 900, "currency": "EUR", "type": "EXPENSE"}


def advance(frozen_time: str) -> bytes:
    return b'{"id":"clock_1","frozenTime":%b}' % frozen_time.encode()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('"2027-03-01T00:00:00Z"', id="whole seconds"),
        pytest.param('"2027-03-01T00:00:00.000Z"', id="milliseconds, as JavaScript writes them"),
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
    ("start", "how"),
    [
        pytest.param("2036-12-31T23:59:59.999999Z", "fast", id="the last instant of the ninth year"),
        pytest.param("2037-01-01T12:00:00Z", "slow", id="ten years on"),
        pytest.param("2037-01-01T12:00:00.000001Z", "rejected", id="an instant more"),
        pytest.param("2018-01-01T00:00:00Z", "fast", id="the first instant nine years back"),
        pytest.param("2017-01-01T12:00:00Z", "slow", id="ten years back"),
        pytest.param("2017-01-01T11:59:59.999999Z", "rejected", id="an instant more back"),
    ],
)
def test_start_must_be_within_ten_years(start: str, how: str) -> None:
    written = json.encode({"frozenTime": start})
    faults, _ = decode(NewClock, written, NOW)
    is_fast = try_fast_decode(NewClock, written, NOW) is not None
    assert (is_fast, bool(faults)) == (how == "fast", how == "rejected")


@pytest.mark.parametrize(
    "email", ["Ana@Example.test", "ana@bücher.test", '"a b"@x.test', "ana@x.test.", "a@" + "\ufdfa" * 60], ids=ascii
)
@pytest.mark.parametrize("times", [1, 1000])
def test_library_is_called_at_most_once_for_an_address(monkeypatch: pytest.MonkeyPatch, email: str, times: int) -> None:
    asked = []

    def ask(text: str) -> EmailAddress:
        asked.append(text)
        return EmailAddress(text)

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


@pytest.mark.parametrize(
    ("name", "is_fast"),
    [
        pytest.param("Zürich, naïve, 东京, 🎉", True, id="other scripts"),
        pytest.param('caf\\u00e9 \\"Paris\\" \\\\ \\n\\t', True, id="what JSON escapes"),
        pytest.param("a\\u0000b", False, id="U+0000"),
        pytest.param("\\ud800", False, id="lone surrogate"),
    ],
)
def test_usual_name_takes_the_fast_path(name: str, is_fast: bool) -> None:
    written = json.encode({"transactions": [TRANSACTION | {"name": "NAME"}]}).replace(b"NAME", name.encode())
    assert (try_fast_decode(NewClock, written, NOW) is not None) is is_fast
