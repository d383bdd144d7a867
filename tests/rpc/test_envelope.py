"""JSON-RPC 2.0: requests, ids, the order of checks, and hostile bodies."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import (
    OMITTED,
    BuggyStore,
    call,
    goal,
    id_bytes,
    login,
    open_buggy_world,
    raw_call,
    reason_of,
    send,
    transaction,
)
from tests.support.cases import each_case
from tests.support.world import HttpResponse, World

UNKNOWN = "no.such.method"


# Invalid JSON


@each_case(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b" \r\n\t", id="white space alone"),
        pytest.param(b"{", id="an object cut short"),
        pytest.param(b'{"jsonrpc": "2.0", "method": "x", "id"', id="a call cut short"),
        pytest.param(b'[{"jsonrpc": "2.0", "method": "x", "id": 1}', id="a batch cut short"),
        pytest.param(b'{"id": 1,}', id="a trailing comma"),
        pytest.param(b"[1,,2]", id="two commas"),
        pytest.param(b"{} {}", id="two documents"),
        pytest.param(b"{'id': 1}", id="single quotes"),
        pytest.param(b"{id: 1}", id="a bare name"),
        pytest.param(b"{} // why", id="a comment"),
        pytest.param(b'{"id": NaN}', id="NaN"),
        pytest.param(b'{"id": Infinity}', id="Infinity"),
        pytest.param(b'{"id": 01}', id="a leading zero"),
        pytest.param(b'{"id": +1}', id="a plus sign"),
        pytest.param(b'{"id": .5}', id="a bare point"),
        pytest.param(b'{"id": 1.}', id="a point without digits"),
        pytest.param(b'{"id": 1e}', id="an exponent without digits"),
        pytest.param(b'{"id": -}', id="a bare minus"),
        pytest.param(b'{"id": tru}', id="half a literal"),
        pytest.param(b'{"id": "a\nb"}', id="a bare line break in a string"),
        pytest.param(b'{"id": "\x00"}', id="a bare U+0000 in a string"),
        pytest.param(b'{"id": "\\q"}', id="an unknown escape"),
        pytest.param(b'{"\\q": 1}', id="an unknown escape in a name"),
        pytest.param(b'{"id": "\\u00g0"}', id="a broken unicode escape"),
        pytest.param(b"\xef\xbb\xbf{}", id="a byte order mark"),
        pytest.param("{}".encode("utf-16"), id="UTF-16"),
        pytest.param(b'{"id": "\xff"}', id="invalid UTF-8"),
        pytest.param(b'{"id": "\xc0\xaf"}', id="overlong UTF-8"),
        pytest.param(b'{"id": "\xed\xa0\x80"}', id="a surrogate in UTF-8"),
        pytest.param(b'{"id": "\xc3', id="UTF-8 cut short"),
        pytest.param(b"\x0c{}", id="a form feed before it"),
        pytest.param(b"\xc2\xa0{}", id="a no-break space before it"),
        pytest.param(b"[" * 100_000, id="nested deeply and cut short"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="nested too deeply"),
    ],
)
async def test_invalid_json_is_a_parse_error(world: World, body: bytes) -> None:
    response = await world.post(body)
    assert response.status == 400
    assert response.json.keys() == {"jsonrpc", "error", "id"}
    assert (response.json["jsonrpc"], response.json["id"]) == ("2.0", None)
    assert response.json["error"]["code"] == -32700
    assert response.json["error"]["data"] == {"reason": "PARSE_ERROR"}


# Invalid requests

_NOT_STRINGS: list[Any] = [None, True, 0, 2.0, [], {}]


@each_case("body", [b"null", b"true", b"1", b'"createTestClock"', b"{}"])
async def test_invalid_request_is_rejected_with_id_null(world: World, body: bytes) -> None:
    response = await world.post(body)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32600, None)
    assert response.json["error"]["data"] == {"reason": "INVALID_REQUEST"}


@each_case(
    ("member", "value"),
    [
        *[("jsonrpc", value) for value in (OMITTED, *_NOT_STRINGS, "", "2", "1.0", "2.0 ", "2.00")],
        *[("method", value) for value in (OMITTED, *_NOT_STRINGS)],
        *[("params", value) for value in (None, True, False, 0, 1.5, "", "{}")],
    ],
)
async def test_error_for_invalid_member_repeats_the_id(world: World, member: str, value: Any) -> None:
    invalid = {**call("createTestClock", {}, "my id"), member: value}
    response = await world.post({name: value for name, value in invalid.items() if value is not OMITTED})
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", "my id")
    assert member in response.json["error"]["message"]


@each_case("written", ["true", "false", "[]", "[1]", "{}", '{"a": 1}', r'"\ud800"', r'"\u0000"'])
async def test_invalid_id_is_rejected_with_id_null(world: World, written: str) -> None:
    response = await world.post(raw_call("createTestClock", "{}", written))
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)


async def test_invalid_call_without_id_is_rejected(world: World) -> None:
    response = await world.post({"jsonrpc": "1.0", "method": "createTestClock"})
    assert (response.status, reason_of(response), response.json["id"]) == (400, "INVALID_REQUEST", None)


# Ids

IDS = [
    "1", "0", "-1", "1.0", "1e3", "1E+3", "-0", "-0.0", "1.50", "12345678901234567890123456789", "1e999", "9" * 4000,
    '""', '"a"', '"1"', '"é"', r'"\u00e9"', r'"\"\\\/\b\f\n\r\t"', r'"\ud83d\ude00"', '"😀"', r'"\\u0000"', "null",
]  # fmt: skip


@each_case("written", IDS)
async def test_result_repeats_the_id_byte_for_byte(world: World, token: str, written: str) -> None:
    response = await world.post(raw_call("createTestClock", "{}", written), token)
    assert response.json.keys() == {"jsonrpc", "result", "id"}
    assert response.json["jsonrpc"] == "2.0"
    assert id_bytes(response) == written.encode()


@each_case("written", IDS)
async def test_error_repeats_the_id_byte_for_byte(world: World, written: str) -> None:
    response = await world.post(raw_call(UNKNOWN, "{}", f" {written}\n"))
    assert response.json.keys() == {"jsonrpc", "error", "id"}
    assert id_bytes(response) == written.encode()


# Params


async def test_missing_params_are_empty_params(world: World, token: str) -> None:
    response = await world.post(call("createTestClock"), token)
    assert response.json["result"]["clock"]["frozenTime"] == "2027-01-01T12:01:00Z"


@each_case("params", [[], [{}], ["2027-01-01T12:00:00Z"]])
async def test_params_by_position_are_rejected(world: World, token: str, params: Any) -> None:
    response = await world.call("createTestClock", params, token)
    assert (response.status, response.json["error"]["code"], reason_of(response)) == (200, -32602, "INVALID_PARAMS")
    assert [fault["path"] for fault in response.json["error"]["data"]["errors"]] == ["params"]


# Methods


@each_case(
    "method",
    ["", " createTestClock", "createTestClock ", "createtestclock", "CreateTestClock", "rpc.", "rpc.no-such", "rpc",
     "__class__", "user_of", "create_test_clock", "\0", "é", "x" * 100_000],
)  # fmt: skip
@each_case("params", [{}, [1]])
async def test_unknown_method_needs_no_token(world: World, method: str, params: Any) -> None:
    response = await world.call(method, params)
    assert (response.status, response.json["error"]["code"]) == (200, -32601)
    assert response.json["error"]["data"] == {"reason": "METHOD_NOT_FOUND"}


async def test_escapes_in_names_and_values_are_decoded(world: World, token: str) -> None:
    body = rb'{"\u006asonrpc": "2.\u0030", "metho\u0064": "create\u0054estClock", "params": {}, "id": 1}'
    assert "clock" in (await world.post(body, token)).json["result"]


# Order of checks


async def test_first_failing_check_decides(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2027-01-01T12:00:00Z")
    bad = {"id": clock["id"], "frozenTime": "yesterday"}
    before = {"id": clock["id"], "frozenTime": "2026-01-01T00:00:00Z"}
    elsewhere = {"id": clock["id"][:-1] + "g", "frozenTime": "2026-01-01T00:00:00Z"}

    async def reason(method: str, params: Any, token: str | None) -> str:
        return reason_of(await world.call(method, params, token))

    assert await reason(UNKNOWN, bad, None) == "METHOD_NOT_FOUND"
    assert await reason("advanceTestClock", bad, None) == "UNAUTHENTICATED"
    assert await reason("advanceTestClock", [], None) == "UNAUTHENTICATED"
    assert await reason("advanceTestClock", bad, token) == "INVALID_PARAMS"
    assert await reason("advanceTestClock", elsewhere, token) == "CLOCK_NOT_FOUND"
    assert await reason("advanceTestClock", before, token) == "TIME_BEFORE_CURRENT"
    world.pass_time(days=7)
    assert await reason("advanceTestClock", bad, token) == "INVALID_PARAMS"
    assert await reason("advanceTestClock", before, token) == "CLOCK_EXPIRED"
    assert await reason("advanceTestClock", before, None) == "UNAUTHENTICATED"


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer tko_" + "A" * 43, "Basic YTpi", ""])
async def test_public_operation_ignores_invalid_token(world: World, header: str) -> None:
    response = await world.post(call("sendLoginCodeEmail", send()), None, Authorization=header)
    assert response.json["result"] == {"message": "ok"}
    code = str(world.emails()[-1]["Subject"])[:6]
    response = await world.post(call("loginByEmailVerification", login(code)), None, Authorization=header)
    assert response.json["result"].keys() == {"token", "userId"}


# Invalid text, numbers and nesting


@each_case(
    ("method", "params", "path"),
    [
        ("createTestClock", {"frozenTime": "X"}, "frozenTime"),
        ("createTestClock", {"transactions": [transaction(name="aXb")]}, "transactions[0].name"),
        ("createTestClock", {"transactions": [transaction(category="X")]}, "transactions[0].category"),
        ("createTestClock", {"transactions": [transaction(currency="EUX")]}, "transactions[0].currency"),
        ("createTestClock", {"transactions": [transaction(type="INCOMEX")]}, "transactions[0].type"),
        ("createTestClock", {"goals": [goal(name="X")]}, "goals[0].name"),
        ("sendLoginCodeEmail", send("anaX@example.test"), "email"),
        ("loginByEmailVerification", login("12345X"), "code"),
    ],
)
@each_case("lone", [r"\ud800", r"\udfff", r"\uDE00\uD83D", r"\u0000"])
async def test_lone_surrogate_and_nul_are_faults_of_their_field(
    world: World, token: str, method: str, params: Any, path: str, lone: str
) -> None:
    response = await world.post(raw_call(method, json.dumps(params).replace("X", lone)), token)
    assert [fault["path"] for fault in response.json["error"]["data"]["errors"]] == [path]


async def test_surrogate_pair_is_valid_next_to_a_lone_surrogate(world: World, token: str) -> None:
    params = r'{"goals": [{"name": "\ud83d\ude00", "targetAmount": 1}], "\\\ud800": 1}'
    faults = (await world.post(raw_call("createTestClock", params), token)).json["error"]["data"]["errors"]
    assert [(fault["path"], fault["rule"]) for fault in faults] == [("\\\0", "unknown")]
    clock = await world.create(token, goals=[goal(name="😀")])
    assert clock["goals"][0]["name"] == "😀"


@each_case("number", ["1e999", "-1e999", "1" + "0" * 5000, "-" + "9" * 5000, "12345678901234567890"])
@each_case(
    "params",
    ['{"frozenTime": %s}', '{"goals": %s}', '{"goals": [%s]}', '{"goals": [{"name": "x", "targetAmount": %s}]}',
     '{"goals": [{"name": %s, "targetAmount": 1}]}', '{"transactions": [{"type": %s}]}', '{"x": %s}'],
)  # fmt: skip
async def test_number_out_of_range_is_rejected(world: World, token: str, params: str, number: str) -> None:
    response = await world.post(raw_call("createTestClock", params % number), token)
    assert (response.status, reason_of(response)) == (200, "INVALID_PARAMS")


_CREATE = '"jsonrpc": "2.0", "method": "createTestClock"'


@each_case(
    ("before", "after"),
    [
        pytest.param(f'{{{_CREATE}, "id": 1, "params": {{"goals": ', "}}", id="in a field"),
        pytest.param(f'{{{_CREATE}, "id": 1, "params": {{"x": ', "}}", id="in an unknown field"),
        pytest.param(f'{{{_CREATE}, "id": ', "}", id="in the id"),
        pytest.param('{"jsonrpc": "2.0", "method": "no.such", "id": 1, "more": ', "}", id="beside the members"),
        pytest.param(f'[{{{_CREATE}, "id": 1, "params": {{"x": ', "}}]", id="in a batch"),
        pytest.param("", "", id="alone"),
    ],
)
async def test_deep_nesting_is_not_an_internal_error(world: World, token: str, before: str, after: str) -> None:
    """Try every depth around the limit."""
    for depth in range(850, 1010):
        response = await world.post((before + "[" * depth + "]" * depth + after).encode(), token)
        assert response.status in (200, 400), depth
        assert b"INTERNAL" not in response.body, depth


# Internal errors


def _assert_internal(error: Any, response: HttpResponse) -> None:
    assert error["code"] == -32603
    assert error["data"] == {"reason": "INTERNAL", "requestId": response.headers["x-request-id"]}
    assert BuggyStore.DETAIL not in error["message"]
    assert "Runtime" not in error["message"]


async def test_internal_error_contains_only_the_request_id(tmp_path: Path) -> None:
    async with open_buggy_world(tmp_path) as world:
        token = await world.sign_in()
        response = await world.post(call("createTestClock", {}), token)
        assert (response.status, response.json["id"]) == (500, 7)
        _assert_internal(response.json["error"], response)
        notification = await world.post(call("createTestClock", {}, OMITTED), token)
        assert (notification.status, notification.body) == (204, b"")


async def test_internal_error_in_a_batch_does_not_affect_other_calls(tmp_path: Path) -> None:
    async with open_buggy_world(tmp_path) as world:
        token = await world.sign_in()
        calls = [call("createTestClock", {}, 1), call("sendLoginCodeEmail", send(), 2)]
        response = await world.post(calls, token)
        assert response.status == 200
        _assert_internal(response.json[0]["error"], response)
        assert response.json[1] == {"jsonrpc": "2.0", "result": {"message": "ok"}, "id": 2}
