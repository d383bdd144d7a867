"""Every reason: its code, HTTP status, data and headers, and a call that causes it."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.rpc.builders import BUG_DETAIL, call, login, open_buggy_world, reason_of, send, transaction, wrong
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
    "content-type",
    "date",
    "x-content-type-options",
    "x-request-id",
}


async def _public_call(world: World, reason: Reason) -> tuple[str, Any]:
    """Return a call that causes the error without a token: a method and its parameters."""
    match reason:
        case Reason.METHOD_NOT_FOUND:
            return "no.such", {}
        case Reason.INVALID_PARAMS:
            return "sendLoginCodeEmail", {}
        case Reason.UNAUTHENTICATED:
            return "createTestClock", {}
        case Reason.LOGIN_REFUSED:
            return "loginByEmailVerification", login(wrong(await world.send_code()))
        case Reason.RESEND_TOO_SOON:
            await world.send_code()
        case Reason.MAIL_NOT_SENT:
            shutil.rmtree(world.outbox)
        case Reason.UNAVAILABLE:
            await world.store.close()
    return "sendLoginCodeEmail", send()


async def _call_with_token(world: World, token: str, reason: Reason) -> tuple[str, Any]:
    """Return a call that causes the error with a token. In the world of INTERNAL, every creation fails."""
    if reason in (Reason.FORBIDDEN, Reason.INTERNAL):
        return "createTestClock", {}
    clock = await world.create(token, frozenTime=NOON, transactions=[transaction(at=NOON)])
    if reason is Reason.RATE_LIMITED:
        return "createTestClock", {}
    if reason is Reason.ITEM_NOT_PENDING:
        return "amendTestClock", {"id": clock["id"], "cancel": [clock["transactions"][0]["id"]]}
    world.pass_time(days=7 if reason is Reason.CLOCK_EXPIRED else 0)
    unknown = f"{clock['id'][:-4]}0000"
    id = unknown if reason is Reason.CLOCK_NOT_FOUND else clock["id"]
    to = {Reason.TIME_BEFORE_CURRENT: "2027-01-01T11:59:59Z", Reason.TIME_AFTER_MAX: "2037-01-01T12:00:01Z"}
    return "advanceTestClock", {"id": id, "frozenTime": to.get(reason, "2027-01-02T00:00:00Z")}


WITH_TOKEN = {
    Reason.FORBIDDEN,
    Reason.CLOCK_NOT_FOUND,
    Reason.CLOCK_EXPIRED,
    Reason.TIME_BEFORE_CURRENT,
    Reason.TIME_AFTER_MAX,
    Reason.ITEM_NOT_PENDING,
    Reason.RATE_LIMITED,
    Reason.INTERNAL,
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
        token = None
        if reason in WITH_TOKEN:
            token = await world.sign_in()
            one = call(*await _call_with_token(world, token, reason))
        else:
            one = call(*await _public_call(world, reason))
        if reason is Reason.FORBIDDEN:
            read_only = {"name": "CI", "readOnly": True}
            token = (await world.result("createAccessToken", read_only, token))["token"]
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
    assert error["data"].get("requestId") in (None, response.headers["x-request-id"])
    assert BUG_DETAIL not in error["message"]
    wait = error["data"].get("retryAfterSeconds")
    assert response.headers.get("retry-after") == (None if wait is None else str(wait))


@pytest.mark.parametrize("reason", [each for each in Reason if each not in _REQUESTS and TABLE[each].status != 200])
async def test_error_in_a_batch_has_status_200(tmp_path: Path, reason: Reason) -> None:
    response = await provoke(reason, tmp_path, in_a_batch=True)
    assert response.status == 200
    assert set(response.headers) == _HEADERS_OF_EVERY_RESPONSE
    (member,) = response.json
    assert member["error"]["code"] == TABLE[reason].code
    assert member["error"]["data"]["reason"] == reason
    assert set(member["error"]["data"]) == {"reason", *TABLE[reason].details}
