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
