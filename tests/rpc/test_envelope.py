"""JSON-RPC 2.0: requests, ids, the order of checks, and hostile bodies."""

import json
from typing import Any

import pytest

from tests.rpc.builders import (
    OMITTED,
    call,
    id_bytes,
    login,
    raw_call,
    reason_of,
    send,
    transaction,
)
from tests.support.world import World
from tickover.api.limits import MAX_NESTING

UNKNOWN = "no.such.method"


# Invalid JSON

NOT_JSON = {
    "nothing": b"",
    "a call cut short": b'{"jsonrpc": "2.0", "method": "x", "id"',
    "NaN": b'{"id": NaN}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a surrogate in UTF-8": b'{"id": "\xed\xa0\x80"}',
    "nested too deeply": b"[" * 30_000 + b"]" * 30_000,
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
async def test_invalid_json_is_a_parse_error(world: World, body: bytes) -> None:
    response = await world.post(body)
    assert response.status == 400
    assert response.json.keys() == {"jsonrpc", "error", "id"}
    assert (response.json["jsonrpc"], response.json["id"]) == ("2.0", None)
    assert response.json["error"]["code"] == -32700
    assert response.json["error"]["data"] == {"reason": "PARSE_ERROR"}


# Invalid requests


@pytest.mark.parametrize("body", [b"null", b"1", b'"createTestClock"', b"{}"])
async def test_invalid_request_is_rejected_with_id_null(world: World, body: bytes) -> None:
    response = await world.post(body)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32600, None)
    assert response.json["error"]["data"] == {"reason": "INVALID_REQUEST"}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        *[("jsonrpc", value) for value in (OMITTED, None, 2.0, "", "1.0", "2.0 ")],
        *[("method", value) for value in (OMITTED, None, 0, [])],
        *[("params", value) for value in (None, False, 0, "{}")],
    ],
)
async def test_error_for_invalid_member_repeats_the_id(world: World, member: str, value: Any) -> None:
    invalid = {**call("createTestClock", {}, "my id"), member: value}
    response = await world.post({name: value for name, value in invalid.items() if value is not OMITTED})
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", "my id")
    assert member in response.json["error"]["message"]


@pytest.mark.parametrize("written", ["true", "[1]", '{"a": 1}', r'"\ud800"', r'"\u0000"'])
async def test_invalid_id_is_rejected_with_id_null(world: World, written: str) -> None:
    response = await world.post(raw_call("createTestClock", "{}", written))
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)


# Ids

IDS = [
    "1", "-0.0", "1E+3", "1.50", "12345678901234567890123456789", "1e999", "9" * 4000,
    '""', '"é"', r'"\u00e9"', r'"\"\\\/\b\f\n\r\t"', r'"\ud83d\ude00"', r'"\\u0000"', "null",
]  # fmt: skip


@pytest.mark.parametrize("written", IDS, ids=lambda written: written[:30])
async def test_response_repeats_the_id_byte_for_byte(world: World, token: str, written: str) -> None:
    for method, outcome in (("getCurrentUser", "result"), (UNKNOWN, "error")):
        response = await world.post(raw_call(method, "{}", f" {written}\n"), token)
        assert response.json.keys() == {"jsonrpc", outcome, "id"}
        assert response.json["jsonrpc"] == "2.0"
        assert id_bytes(response) == written.encode()


# Params


@pytest.mark.parametrize("params", [[], [{}]])
async def test_params_by_position_are_rejected(world: World, token: str, params: Any) -> None:
    response = await world.call("createTestClock", params, token)
    assert (response.status, response.json["error"]["code"], reason_of(response)) == (200, -32602, "INVALID_PARAMS")
    assert [fault["path"] for fault in response.json["error"]["data"]["errors"]] == ["params"]


# Methods


@pytest.mark.parametrize(
    "method",
    ["", "createTestClock ", "createtestclock", "rpc.no-such", "__class__", "create_test_clock", "\0", "x" * 60_000],
    ids=lambda method: method[:20],
)
@pytest.mark.parametrize("params", [{}, [1]], ids=["by name", "by position"])
async def test_unknown_method_needs_no_token(world: World, method: str, params: Any) -> None:
    response = await world.call(method, params)
    assert (response.status, response.json["error"]["code"]) == (200, -32601)
    assert response.json["error"]["data"] == {"reason": "METHOD_NOT_FOUND"}


# Order of checks


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer tko_" + "A" * 43, "Basic YTpi", ""])
async def test_public_operation_ignores_invalid_token(world: World, header: str) -> None:
    response = await world.post(call("sendLoginCodeEmail", send()), None, Authorization=header)
    assert response.json["result"] == {"message": "ok"}
    code = str(world.emails()[-1]["Subject"])[:6]
    response = await world.post(call("loginByEmailVerification", login(code)), None, Authorization=header)
    assert response.json["result"].keys() == {"token", "userId"}


# Invalid text, numbers and nesting


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("createTestClock", {"transactions": [transaction(name="aXb")]}, "transactions[0].name"),
        ("createTestClock", {"transactions": [transaction(type="INCOMEX")]}, "transactions[0].type"),
        ("createTestClock", {"labels": {"a": "X"}}, "labels.a"),
        ("sendLoginCodeEmail", send("anaX@example.test"), "email"),
        ("loginByEmailVerification", login("12345X"), "code"),
    ],
)
@pytest.mark.parametrize("lone", [r"\ud800", r"\uDE00\uD83D", r"\u0000"])
async def test_lone_surrogate_and_nul_are_faults_of_their_field(
    world: World, token: str, method: str, params: Any, path: str, lone: str
) -> None:
    response = await world.post(raw_call(method, json.dumps(params).replace("X", lone)), token)
    assert [fault["path"] for fault in response.json["error"]["data"]["errors"]] == [path]


_CREATE = '"jsonrpc": "2.0", "method": "createTestClock"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f'{{{_CREATE}, "id": 1, "params": {{"goals": ', "}}", id="in a field"),
        pytest.param(f'{{{_CREATE}, "id": ', "}", id="in the id"),
        pytest.param(f'[{{{_CREATE}, "id": 1, "params": {{"x": ', "}}]", id="in a batch"),
        pytest.param("", "", id="alone"),
    ],
)
async def test_deep_nesting_is_not_an_internal_error(world: World, token: str, before: str, after: str) -> None:
    for depth in range(MAX_NESTING - 9, MAX_NESTING + 2):
        response = await world.post((before + "[" * depth + "]" * depth + after).encode(), token)
        assert response.status in (200, 400), depth
        assert b"INTERNAL" not in response.body, depth


@pytest.mark.parametrize("has_token", [True, False])
async def test_large_body_is_decoded_only_with_a_valid_token(world: World, token: str, has_token: bool) -> None:
    body = b'{"jsonrpc":"2.0","id":7,"method":"rpc.discover","params":{"x":"%b"}}' % (b"\\ud800" * 15_000)
    response = await world.post(body, token if has_token else "tko_" + "x" * 43)
    expected = (200, "INVALID_PARAMS", 7) if has_token else (401, "UNAUTHENTICATED", None)
    assert (response.status, response.json["error"]["data"]["reason"], response.json["id"]) == expected
    small = body.replace(b"\\ud800" * 15_000, b"\\ud800" * 10_000)
    assert (await world.post(small)).json["id"] == 7
