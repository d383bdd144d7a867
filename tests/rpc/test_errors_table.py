"""Every reason: its code, HTTP status, data and headers, and a call that causes it."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.rpc.builders import call, login, open_buggy_world, reason_of, send, transaction, wrong
from tests.support.openrpc_document import document, resolve, validation_errors
from tests.support.world import HttpResponse, World, open_world
from tickover.api.errors import Reason
from tickover.api.limits import MAX_BODY

NOON = "2027-01-01T12:00:00Z"


class Row(NamedTuple):
    code: int
    status: int
    details: tuple[str, ...] = ()
    """The other members of `data`."""
    headers: tuple[str, ...] = ()
    """Headers of this error."""


_WAIT = {"details": ("retryAfterSeconds",), "headers": ("retry-after",)}
TABLE = {
    Reason.PARSE_ERROR: Row(-32700, 400),
    Reason.INVALID_REQUEST: Row(-32600, 400),
    Reason.METHOD_NOT_FOUND: Row(-32601, 200),
    Reason.INVALID_PARAMS: Row(-32602, 200, details=("errors",)),
    Reason.UNAUTHENTICATED: Row(-32001, 401, headers=("www-authenticate",)),
    Reason.FORBIDDEN: Row(-32003, 403),
    Reason.CLOCK_NOT_FOUND: Row(-32004, 200),
    Reason.CLOCK_EXPIRED: Row(-32010, 200),
    Reason.TIME_BEFORE_CURRENT: Row(-32011, 200, details=("currentFrozenTime",)),
    Reason.TIME_AFTER_MAX: Row(-32012, 200, details=("maxTime",)),
    Reason.ITEM_NOT_PENDING: Row(-32013, 200, details=("itemIds",)),
    Reason.LOGIN_REFUSED: Row(-32020, 200),
    Reason.RESEND_TOO_SOON: Row(-32005, 429, **_WAIT),
    Reason.RATE_LIMITED: Row(-32005, 429, **_WAIT),
    Reason.MAIL_NOT_SENT: Row(-32030, 200),
    Reason.UNAVAILABLE: Row(-32050, 503, **_WAIT),
    Reason.INTERNAL: Row(-32603, 500, details=("requestId",)),
    Reason.METHOD_NOT_ALLOWED: Row(-32600, 405, headers=("allow",)),
    Reason.UNSUPPORTED_MEDIA_TYPE: Row(-32600, 415),
    Reason.BODY_TOO_LARGE: Row(-32600, 413, headers=("connection",)),
}
_HEADERS_OF_EVERY_RESPONSE = {
    "cache-control",
    "content-length",
    "content-type",
    "date",
    "x-content-type-options",
    "x-request-id",
}


async def _read_only_token(world: World) -> str:
    token = await world.sign_in()
    created = await world.result("createAccessToken", {"name": "CI", "readOnly": True}, token)
    return str(created["token"])


# Calls: a method, its parameters and a token

Call = tuple[str, Any, str | None]


async def _send(world: World) -> Call:
    return "sendLoginCodeEmail", send(), None


async def _send_again(world: World) -> Call:
    await world.send_code()
    return await _send(world)


async def _send_without_an_outbox(world: World) -> Call:
    shutil.rmtree(world.outbox)
    return await _send(world)


async def _send_without_a_store(world: World) -> Call:
    await world.store.close()
    return await _send(world)


async def _unknown_method(world: World) -> Call:
    return "no.such", {}, None


async def _missing_params(world: World) -> Call:
    return "sendLoginCodeEmail", {}, None


async def _create_without_a_token(world: World) -> Call:
    return "createTestClock", {}, None


async def _create_with_a_read_only_token(world: World) -> Call:
    return "createTestClock", {}, await _read_only_token(world)


async def _create_in_a_world_with_a_bug(world: World) -> Call:
    return "createTestClock", {}, await world.sign_in()


async def _create_a_second_clock(world: World) -> Call:
    token = await world.sign_in()
    await world.create(token)
    return "createTestClock", {}, token


async def _cancel_a_posted_item(world: World) -> Call:
    token = await world.sign_in()
    clock = await world.create(token, frozenTime=NOON, transactions=[transaction(at=NOON)])
    return "amendTestClock", {"id": clock["id"], "cancel": [clock["transactions"][0]["id"]]}, token


async def _wrong_code(world: World) -> Call:
    return "loginByEmailVerification", login(wrong(await world.send_code())), None


def _advance(frozen_time: str, end_of_id: str = "", days: int = 0) -> Callable[[World], Awaitable[Call]]:
    """Create a clock at noon, wait, and advance it, perhaps with another end of its id."""

    async def prepare(world: World) -> Call:
        token = await world.sign_in()
        id = (await world.create(token, frozenTime=NOON))["id"]
        world.pass_time(days=days)
        return "advanceTestClock", {"id": id[: len(id) - len(end_of_id)] + end_of_id, "frozenTime": frozen_time}, token

    return prepare


_CALLS: dict[Reason, Callable[[World], Awaitable[Call]]] = {
    Reason.METHOD_NOT_FOUND: _unknown_method,
    Reason.INVALID_PARAMS: _missing_params,
    Reason.UNAUTHENTICATED: _create_without_a_token,
    Reason.FORBIDDEN: _create_with_a_read_only_token,
    Reason.CLOCK_NOT_FOUND: _advance("2027-01-02T00:00:00Z", end_of_id="0000"),
    Reason.CLOCK_EXPIRED: _advance("2027-01-02T00:00:00Z", days=7),
    Reason.TIME_BEFORE_CURRENT: _advance("2027-01-01T11:59:59Z"),
    Reason.TIME_AFTER_MAX: _advance("2037-01-01T12:00:01Z"),
    Reason.ITEM_NOT_PENDING: _cancel_a_posted_item,
    Reason.LOGIN_REFUSED: _wrong_code,
    Reason.RESEND_TOO_SOON: _send_again,
    Reason.RATE_LIMITED: _create_a_second_clock,
    Reason.MAIL_NOT_SENT: _send_without_an_outbox,
    Reason.UNAVAILABLE: _send_without_a_store,
    Reason.INTERNAL: _create_in_a_world_with_a_bug,
}
_REQUESTS: dict[Reason, Callable[[World], Awaitable[HttpResponse]]] = {
    Reason.PARSE_ERROR: lambda world: world.post(b"{"),
    Reason.INVALID_REQUEST: lambda world: world.post({"id": 1}),
    Reason.METHOD_NOT_ALLOWED: lambda world: world.request("GET", "/rpc"),
    Reason.UNSUPPORTED_MEDIA_TYPE: lambda world: world.request("POST", "/rpc", b"{}", {"Content-Type": "text/plain"}),
    Reason.BODY_TOO_LARGE: lambda world: world.post(b" " * (MAX_BODY + 1)),
}


async def provoke(reason: Reason, folder: Path, in_a_batch: bool = False) -> HttpResponse:
    """Cause the error in a new world in this folder."""
    is_bug = reason is Reason.INTERNAL
    async with open_buggy_world(folder) if is_bug else open_world(folder, max_clocks_per_user=1) as world:
        if reason in _REQUESTS:
            return await _REQUESTS[reason](world)
        method, params, token = await _CALLS[reason](world)
        one = call(method, params)
        return await world.post([one] if in_a_batch else one, token)


def check_described(reason: Reason, error: Any) -> None:
    """Fail if the OpenRPC document describes the error in another way."""
    assert validation_errors(document()["x-reasons"][reason]["data"], error["data"], closed=True) == []
    described = [resolve(listed) for each in document()["methods"] for listed in each["errors"]]
    merged = [each for each in described if reason in each["data"]["properties"]["reason"]["enum"]]
    # No described method has this error.
    assert bool(merged) == (reason is not Reason.METHOD_NOT_FOUND)
    for each in merged:
        assert error["code"] == each["code"]
        assert validation_errors(each["data"], error["data"], closed=True) == []


@pytest.mark.parametrize("reason", Reason)
async def test_error_response_has_documented_form(tmp_path: Path, reason: Reason) -> None:
    row = TABLE[reason]
    response = await provoke(reason, tmp_path)
    assert reason_of(response) == reason
    assert response.status == row.status
    assert set(response.headers) == {*_HEADERS_OF_EVERY_RESPONSE, *row.headers}
    assert response.headers["content-type"] == "application/json"
    assert response.json.keys() == {"jsonrpc", "error", "id"}
    error = response.json["error"]
    assert error.keys() == {"code", "message", "data"}
    assert error["code"] == row.code
    assert set(error["data"]) == {"reason", *row.details}
    assert error["message"], "the message says what to do"
    check_described(reason, error)
    wait = error["data"].get("retryAfterSeconds")
    assert response.headers.get("retry-after") == (None if wait is None else str(wait))


@pytest.mark.parametrize("reason", [reason for reason in _CALLS if TABLE[reason].status != 200])
async def test_error_in_a_batch_has_status_200(tmp_path: Path, reason: Reason) -> None:
    response = await provoke(reason, tmp_path, in_a_batch=True)
    assert response.status == 200
    assert set(response.headers) == _HEADERS_OF_EVERY_RESPONSE
    (member,) = response.json
    assert member["error"]["code"] == TABLE[reason].code
    assert member["error"]["data"]["reason"] == reason
    assert set(member["error"]["data"]) == {"reason", *TABLE[reason].details}
