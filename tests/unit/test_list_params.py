"""The parameters of listTestClocks."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET, json

from tickover.api.errors import Fault
from tickover.server.operations.list_test_clocks import ListEntry
from tickover.server.rpc.decode import decode

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
CURSOR = "cursor_01a2d11f02007129903ac1d45597fdf1"
EXPECTED_CURSOR = "must be a nextCursor from a listTestClocks result"
TOO_MANY = ("max", "must be at most 100")
TOO_FEW = ("min", "must be at least 1")
NOT_WHOLE = ("type", "must be a whole number")


@pytest.mark.parametrize(
    ("params", "limit", "cursor"),
    [
        ("{}", 20, UNSET),
        ('{"limit":1}', 1, UNSET),
        ('{"limit":100.000}', 100, UNSET),
        ('{"limit":1e2}', 100, UNSET),
        ('{"limit":2000e-2}', 20, UNSET),
        (f'{{"cursor":"{CURSOR}"}}', 20, CURSOR),
    ],
)
def test_limit_is_20_or_1_to_100(params: str, limit: int, cursor: Any) -> None:
    assert decode(ListEntry, params.encode(), NOW) == ([], ListEntry(limit, cursor))


@pytest.mark.parametrize(
    ("number", "wrong", "got"),
    [
        ("0", TOO_FEW, 0),
        ("-0.0", TOO_FEW, 0.0),
        ("-1" + "0" * 400, TOO_FEW, UNSET),
        ("101", TOO_MANY, 101),
        ("101.0", TOO_MANY, 101.0),
        ("9223372036854775808", TOO_MANY, 9.223372036854775808e18),
        ("1e400", TOO_MANY, UNSET),
        ("20.5", NOT_WHOLE, 20.5),
        ("100.5", NOT_WHOLE, 100.5),
        ("5e-324", NOT_WHOLE, 5e-324),
        ("true", NOT_WHOLE, True),
        ('"20"', NOT_WHOLE, "20"),
        ("null", ("null", "must not be null; omit it"), None),
    ],
)
def test_other_limits_are_rejected(number: str, wrong: tuple[str, str], got: Any) -> None:
    faults, _ = decode(ListEntry, b'{"limit":%b}' % number.encode(), NOW)
    assert faults == [Fault("limit", *wrong, got)]


@pytest.mark.parametrize(
    ("cursor", "rule", "message", "got"),
    [
        (CURSOR[:-1], "format", EXPECTED_CURSOR, CURSOR[:-1]),
        (CURSOR + "\0", "format", "must be text without U+0000 and lone surrogates", CURSOR + "\0"),
        ("x" * 100_000, "format", EXPECTED_CURSOR, "x" * 199 + "…"),
        ([CURSOR], "type", "must be a string", UNSET),
        (None, "null", "must not be null; omit it", None),
    ],
)
def test_invalid_cursor_is_rejected(cursor: Any, rule: str, message: str, got: Any) -> None:
    faults, _ = decode(ListEntry, json.encode({"cursor": cursor}), NOW)
    assert faults == [Fault("cursor", rule, message, got)]
