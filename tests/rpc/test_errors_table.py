"""Every reason: its code, HTTP status, data and headers, and a call that causes it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.rpc.builders import (
    call,
    login,
    open_buggy_world,
    open_failing_mail_world,
    reason_of,
    send,
    transaction,
    wrong,
)
from tests.support.world import HttpResponse, World, open_world
from tickover.api.errors import Reason
from tickover.api.limits import MAX_BODY
from tickover.server.rpc.reasons import REASONS
from tickover.server.sign_in.mail.mailer import MailRejected


class Row(NamedTuple):
    decision: int
    reason: str
    code: int
    status: int
    details: tuple[str, ...] = ()
    """The other members of `data`."""
    headers: tuple[str, ...] = ()
    """Headers of this error."""


class Place(NamedTuple):
    """Where to open a world."""

    folder: Path
    database_url: str


@pytest.fixture
def place(tmp_path: Path, database_url: str) -> Place:
    return Place(tmp_path, database_url)


TABLE = [
    Row(1, "PARSE_ERROR", -32700, 400),
    Row(2, "INVALID_REQUEST", -32600, 400),
    Row(3, "METHOD_NOT_FOUND", -32601, 200),
    Row(4, "INVALID_PARAMS", -32602, 200, details=("errors",)),
    Row(5, "UNAUTHENTICATED", -32001, 401, headers=("www-authenticate",)),
    Row(53, "FORBIDDEN", -32003, 403),
    Row(6, "CLOCK_NOT_FOUND", -32004, 200),
    Row(7, "CLOCK_EXPIRED", -32010, 200),
    Row(8, "TIME_BEFORE_CURRENT", -32011, 200, details=("currentFrozenTime",)),
    Row(9, "TIME_AFTER_MAX", -32012, 200, details=("maxTime",)),
    Row(52, "ITEM_NOT_PENDING", -32013, 200, details=("itemIds",)),
    Row(10, "LOGIN_REFUSED", -32020, 200),
    Row(11, "RESEND_TOO_SOON", -32005, 429, details=("retryAfterSeconds",), headers=("retry-after",)),
    Row(12, "RATE_LIMITED", -32005, 429, details=("retryAfterSeconds",), headers=("retry-after",)),
    Row(13, "MAIL_NOT_SENT", -32030, 200),
    Row(14, "UNAVAILABLE", -32050, 503, details=("retryAfterSeconds",), headers=("retry-after",)),
    Row(15, "INTERNAL", -32603, 500, details=("requestId",)),
    Row(16, "METHOD_NOT_ALLOWED", -32600, 405, headers=("allow",)),
    Row(16, "UNSUPPORTED_MEDIA_TYPE", -32600, 415),
    Row(16, "BODY_TOO_LARGE", -32600, 413, headers=("connection",)),
]
_BEFORE_A_BATCH_IS_SEEN = (1, 16)
_HEADERS_OF_EVERY_RESPONSE = {
    "cache-control",
    "content-length",
    "content-type",
    "date",
    "x-content-type-options",
    "x-request-id",
}


def test_table_has_exactly_the_reasons() -> None:
    assert [row.reason for row in TABLE] == [reason.value for reason in Reason]
    assert REASONS.keys() == set(Reason)
    assert PROVOKED.keys() == set(Reason)


@pytest.mark.parametrize("row", TABLE)
def test_reason_has_documented_code_and_status(row: Row) -> None:
    meaning = REASONS[Reason(row.reason)]
    assert (meaning.code, meaning.http_status) == (row.code, row.status)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.reason)
async def test_error_response_has_documented_form(place: Place, row: Row) -> None:
    response = await PROVOKED[Reason(row.reason)](place, False)
    assert reason_of(response) == row.reason
    assert response.status == row.status
    assert set(response.headers) == {*_HEADERS_OF_EVERY_RESPONSE, *row.headers}
    assert response.headers["content-type"] == "application/json"
    assert response.json.keys() == {"jsonrpc", "error", "id"}
    error = response.json["error"]
    assert error.keys() == {"code", "message", "data"}
    assert error["code"] == row.code
    assert set(error["data"]) == {"reason", *row.details}
    assert error["message"], "the message says what to do"
    wait = error["data"].get("retryAfterSeconds")
    assert response.headers.get("retry-after") == (None if wait is None else str(wait))


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.decision not in _BEFORE_A_BATCH_IS_SEEN], ids=lambda row: row.reason
)
async def test_error_in_a_batch_has_status_200(place: Place, row: Row) -> None:
    response = await PROVOKED[Reason(row.reason)](place, True)
    assert response.status == 200
    assert set(response.headers) == _HEADERS_OF_EVERY_RESPONSE
    (member,) = response.json
    assert member["error"]["code"] == row.code
    assert member["error"]["data"]["reason"] == row.reason
    assert set(member["error"]["data"]) == {"reason", *row.details}


# A function for each reason that causes it, in its own world, with a single call or a batch.

Provoke = Callable[[Place, bool], Awaitable[HttpResponse]]
PROVOKED: dict[Reason, Provoke] = {}


def provokes(reason: Reason) -> Callable[[Provoke], Provoke]:
    def keep(provoke: Provoke) -> Provoke:
        PROVOKED[reason] = provoke
        return provoke

    return keep


async def post(world: World, method: str, params: object, in_a_batch: bool, token: str | None = None) -> HttpResponse:
    one = call(method, params)
    return await world.post([one] if in_a_batch else one, token)


@provokes(Reason.PARSE_ERROR)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await world.post(b"{")


@provokes(Reason.INVALID_REQUEST)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await world.post([{"id": 1}] if in_a_batch else {"id": 1})


@provokes(Reason.METHOD_NOT_FOUND)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await post(world, "no.such", {}, in_a_batch)


@provokes(Reason.INVALID_PARAMS)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await post(world, "sendLoginCodeEmail", {}, in_a_batch)


@provokes(Reason.UNAUTHENTICATED)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await post(world, "createTestClock", {}, in_a_batch)


@provokes(Reason.FORBIDDEN)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        params = {"name": "CI", "readOnly": True}
        token = (await world.result("createAccessToken", params, await world.sign_in()))["token"]
        return await post(world, "createTestClock", {}, in_a_batch, token)


def _advance_to(reason: Reason, frozen_time: str, spoil: Callable[[str], str] = str, days: int = 0) -> None:
    """Create a clock at noon of 1 January 2027, wait, and advance it with an id changed by `spoil`."""

    @provokes(reason)
    async def _(place: Place, in_a_batch: bool) -> HttpResponse:
        async with open_world(*place) as world:
            token = await world.sign_in()
            clock = await world.create(token, frozenTime="2027-01-01T12:00:00Z")
            world.pass_time(days=days)
            params = {"id": spoil(clock["id"]), "frozenTime": frozen_time}
            return await post(world, "advanceTestClock", params, in_a_batch, token)


_advance_to(Reason.CLOCK_NOT_FOUND, "2027-01-02T00:00:00Z", lambda good: good[:-4] + "0000")
_advance_to(Reason.CLOCK_EXPIRED, "2027-01-02T00:00:00Z", days=7)
_advance_to(Reason.TIME_BEFORE_CURRENT, "2027-01-01T11:59:59Z")
_advance_to(Reason.TIME_AFTER_MAX, "2037-01-01T12:00:01Z")


@provokes(Reason.ITEM_NOT_PENDING)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        token = await world.sign_in()
        at = "2027-01-01T12:00:00Z"
        clock = await world.create(token, frozenTime=at, transactions=[transaction(at=at)])
        params = {"id": clock["id"], "cancel": [clock["transactions"][0]["id"]]}
        return await post(world, "amendTestClock", params, in_a_batch, token)


@provokes(Reason.LOGIN_REFUSED)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await post(world, "loginByEmailVerification", login(wrong(await world.send_code())), in_a_batch)


@provokes(Reason.RESEND_TOO_SOON)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        await world.send_code()
        return await post(world, "sendLoginCodeEmail", send(), in_a_batch)


@provokes(Reason.RATE_LIMITED)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place, max_clocks_per_user=1) as world:
        token = await world.sign_in()
        await world.create(token)
        return await post(world, "createTestClock", {}, in_a_batch, token)


@provokes(Reason.MAIL_NOT_SENT)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_failing_mail_world(*place) as (world, mailer):
        mailer.error = MailRejected
        return await post(world, "sendLoginCodeEmail", send(), in_a_batch)


@provokes(Reason.UNAVAILABLE)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        await world.store.close()
        return await post(world, "sendLoginCodeEmail", send(), in_a_batch)


@provokes(Reason.INTERNAL)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_buggy_world(place.folder) as world:
        return await post(world, "createTestClock", {}, in_a_batch, await world.sign_in())


@provokes(Reason.METHOD_NOT_ALLOWED)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await world.request("GET", "/rpc")


@provokes(Reason.UNSUPPORTED_MEDIA_TYPE)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await world.request("POST", "/rpc", b"{}", {"Content-Type": "text/plain"})


@provokes(Reason.BODY_TOO_LARGE)
async def _(place: Place, in_a_batch: bool) -> HttpResponse:
    async with open_world(*place) as world:
        return await world.post(b" " * (MAX_BODY + 1))
