"""The parameters of listTestClocks."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET, json

from tickover.api.errors import Fault, Rejection
from tickover.server.operations.list_test_clocks import ListEntry
from tickover.server.rpc.decode import decode, try_fast_decode
from tickover.server.rpc.envelope import decode_params

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
CURSOR = "cursor_01a2d11f02007129903ac1d45597fdf1"
EXPECTED_CURSOR = "must be a nextCursor from a listTestClocks result"
EXPECTED_TEXT = "must be text without U+0000 and lone surrogates"
NO_TEXT = "must be a string"
TOO_MANY = ("max", "must be at most 100")
TOO_FEW = ("min", "must be at least 1")
NOT_WHOLE = ("type", "must be a whole number")


def faults_of(params: Any) -> list[Fault]:
    return decode(ListEntry, params if isinstance(params, bytes) else json.encode(params), NOW)[0]


# limit


@pytest.mark.parametrize(
    ("number", "limit"),
    [
        pytest.param("1", 1, id="one"),
        pytest.param("20", 20, id="as usual"),
        pytest.param("99", 99, id="one less than the most"),
        pytest.param("100", 100, id="the most"),
        pytest.param("1.0", 1, id="one, with a fraction"),
        pytest.param("20.0", 20, id="as usual, with a fraction"),
        pytest.param("100.000", 100, id="the most, with a fraction"),
        pytest.param("1e2", 100, id="the most, with an exponent"),
        pytest.param("2E+1", 20, id="another exponent"),
        pytest.param("2000e-2", 20, id="a negative exponent"),
    ],
)
def test_limit_is_1_to_100(number: str, limit: int) -> None:
    params = b'{"limit":%b}' % number.encode()
    assert faults_of(params) == []
    assert decode_params(ListEntry, "listTestClocks", params, NOW).limit == limit


def test_default_limit_is_20() -> None:
    assert decode_params(ListEntry, "listTestClocks", b"{}", NOW) == ListEntry(20, UNSET)


@pytest.mark.parametrize(
    ("number", "wrong", "got"),
    [
        pytest.param("0", TOO_FEW, 0, id="none"),
        pytest.param("0.0", TOO_FEW, 0.0, id="none, with a fraction"),
        pytest.param("-0.0", TOO_FEW, 0.0, id="minus zero"),
        pytest.param("-1", TOO_FEW, -1, id="fewer than none"),
        pytest.param("-99999999999999999999", TOO_FEW, -1e20, id="far fewer"),
        pytest.param("101", TOO_MANY, 101, id="one too many"),
        pytest.param("101.0", TOO_MANY, 101.0, id="one too many, with a fraction"),
        pytest.param("999999999999999999", TOO_MANY, 999_999_999_999_999_999, id="18 digits"),
        pytest.param("9223372036854775808", TOO_MANY, 9.223372036854775808e18, id="64 bits"),
        pytest.param("1e300", TOO_MANY, 1e300, id="300 digits, in short"),
        pytest.param("1" + "0" * 400, TOO_MANY, UNSET, id="400 digits"),
        pytest.param("-1" + "0" * 400, TOO_FEW, UNSET, id="minus 400 digits"),
        pytest.param("1e400", TOO_MANY, UNSET, id="above any double"),
        pytest.param("0.5", NOT_WHOLE, 0.5, id="a half"),
        pytest.param("20.5", NOT_WHOLE, 20.5, id="broken"),
        pytest.param("100.5", NOT_WHOLE, 100.5, id="broken, and too many"),
        pytest.param("5e-324", NOT_WHOLE, 5e-324, id="next to nothing"),
        pytest.param("true", NOT_WHOLE, True, id="true"),
        pytest.param("false", NOT_WHOLE, False, id="false"),
        pytest.param('"20"', NOT_WHOLE, "20", id="string"),
        pytest.param("[20]", NOT_WHOLE, UNSET, id="array"),
        pytest.param("{}", NOT_WHOLE, UNSET, id="object"),
        pytest.param("null", ("null", "must not be null; omit it"), None, id="null"),
    ],
)
def test_other_limits_are_rejected(number: str, wrong: tuple[str, str], got: Any) -> None:
    params = b'{"limit":%b}' % number.encode()
    assert faults_of(params) == [Fault("limit", *wrong, got)]
    with pytest.raises(Rejection):
        decode_params(ListEntry, "listTestClocks", params, NOW)


# cursor


@pytest.mark.parametrize("cursor", [CURSOR, "cursor_" + "0" * 32, "cursor_" + "f" * 32])
def test_cursor_is_accepted(cursor: str) -> None:
    params = decode_params(ListEntry, "listTestClocks", json.encode({"cursor": cursor}), NOW)
    assert params == ListEntry(20, cursor)


@pytest.mark.parametrize(
    ("cursor", "rule", "message", "got"),
    [
        pytest.param("", "format", EXPECTED_CURSOR, "", id="empty"),
        pytest.param(CURSOR[:-1], "format", EXPECTED_CURSOR, CURSOR[:-1], id="a digit short"),
        pytest.param(CURSOR + "0", "format", EXPECTED_CURSOR, CURSOR + "0", id="a digit long"),
        pytest.param(CURSOR.upper(), "format", EXPECTED_CURSOR, CURSOR.upper(), id="upper case"),
        pytest.param(CURSOR[7:], "format", EXPECTED_CURSOR, CURSOR[7:], id="no prefix"),
        pytest.param(CURSOR + "\0", "format", EXPECTED_TEXT, CURSOR + "\0", id="U+0000"),
        pytest.param(7, "type", NO_TEXT, 7, id="number"),
        pytest.param([CURSOR], "type", NO_TEXT, UNSET, id="array"),
        pytest.param(None, "null", "must not be null; omit it", None, id="null"),
    ],
)
def test_invalid_cursor_is_rejected(cursor: Any, rule: str, message: str, got: Any) -> None:
    assert faults_of({"cursor": cursor}) == [Fault("cursor", rule, message, got)]


def test_long_cursor_is_truncated_in_the_fault() -> None:
    (fault,) = faults_of({"cursor": "x" * 100_000})
    assert isinstance(fault.got, str)
    assert len(fault.got) <= 200


def test_all_faults_of_a_page_are_listed() -> None:
    found = faults_of({"limit": 0, "cursor": "1", "page": 2})
    assert [(fault.path, fault.rule) for fault in found] == [
        ("page", "unknown"),
        ("limit", "min"),
        ("cursor", "format"),
    ]
    assert found[0].message == "is not a known parameter; available: limit, cursor, labels, details"


@pytest.mark.parametrize(
    ("params", "at_once"),
    [
        pytest.param({}, True, id="nothing"),
        pytest.param({"limit": 100}, True, id="a large page"),
        pytest.param({"limit": 1, "cursor": CURSOR}, True, id="the next page"),
        pytest.param({"limit": 20.0}, False, id="a whole number with a fraction"),
        pytest.param({"limit": 101}, False, id="a page too large"),
        pytest.param({"cursor": "cursor_1"}, False, id="an invalid cursor"),
    ],
)
def test_usual_parameters_take_the_fast_path(params: Any, at_once: bool) -> None:
    assert (try_fast_decode(ListEntry, json.encode(params), NOW) is not None) is at_once
