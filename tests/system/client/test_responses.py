"""Invalid responses raise InvalidResponse with a message that names the URL."""

import json
import re
from typing import Any

import pytest

from tests.support.cases import each_case
from tests.system.client.clients import OpenClient, catch, resolve
from tests.system.client.servers import (
    CLOCK,
    EMAIL,
    ScriptedServer,
    Step,
    reject,
    respond_endlessly,
    respond_with,
    result,
    scripted_server,
)
from tickover.client import ClientError, Fault, InvalidResponse, Reason, Rejection, Unreachable
from tickover.client.calls import discover
from tickover.client.messages import Response

PAGE = "<!doctype html><title>It works!</title>"
TOKEN = "tko_secret_token"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CLOCK.items() if key != name}


def envelope(**members: Any) -> Step:
    """Respond with these members. `id` is the id of the call by default."""

    def step(handler: Any, call: Any) -> None:
        handler.respond(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], **members}))

    return step


async def catch_invalid_response(open_client: OpenClient, server: ScriptedServer) -> InvalidResponse:
    async with open_client(server.url, TOKEN) as client:
        error: InvalidResponse = await catch(InvalidResponse, lambda: client.get_clock("clock_1"))
    assert isinstance(error, ClientError)
    assert str(error).startswith(f"{server.url}/rpc ")
    assert TOKEN not in str(error)
    assert error.__cause__ is None
    assert len(server.requests) == 1, "an invalid response is not retried"
    return error


NOT_TICKOVER = (
    "returned HTTP status {} and no JSON-RPC response."
    " Check that the URL is the address of a Tickover server, without /rpc."
)
NOT_DECODED = "sent a response that this client can't decode{}. Check that the versions of client and server match."
WRONG_ID = "returned the response to another call. Check for a faulty proxy in front of the server."
UNKNOWN_ERROR = "returned an error that this client doesn't know. Upgrade the client."


@each_case(
    ("step", "message"),
    [
        pytest.param(respond_with(PAGE, content_type="text/html"), NOT_TICKOVER.format(200), id="HTML page"),
        pytest.param(respond_with(PAGE, 404, "text/html"), NOT_TICKOVER.format(404), id="HTML page with status 404"),
        pytest.param(respond_with("Bad gateway", 502, "text/plain"), NOT_TICKOVER.format(502), id="gateway error"),
        pytest.param(respond_with(""), NOT_TICKOVER.format(200), id="empty"),
        pytest.param(respond_with("null"), NOT_TICKOVER.format(200), id="null"),
        pytest.param(respond_with("[]"), NOT_TICKOVER.format(200), id="batch"),
        pytest.param(respond_with('{"jsonrpc": "2.0", "id": 1, "resu'), NOT_TICKOVER.format(200), id="truncated"),
        pytest.param(respond_with(b'{"jsonrpc": "2.0", "id": "\xff"}'), NOT_TICKOVER.format(200), id="invalid UTF-8"),
        pytest.param(respond_with('{"jsonrpc":' * 100_000), NOT_TICKOVER.format(200), id="nested too deeply"),
        pytest.param(respond_with('{"id": 1, "result": {}}'), NOT_TICKOVER.format(200), id="no jsonrpc member"),
        pytest.param(respond_endlessly, NOT_TICKOVER.format(200), id="endless body"),
        pytest.param(envelope(), NOT_TICKOVER.format(200), id="neither result nor error"),
        pytest.param(envelope(error={"code": 1}), NOT_TICKOVER.format(200), id="incomplete error"),
        pytest.param(envelope(error={"code": 1, "message": "x"}), NOT_TICKOVER.format(200), id="no reason"),
        pytest.param(envelope(id=-1, result={"clock": CLOCK}), WRONG_ID, id="wrong id"),
        pytest.param(envelope(id=None, result={"clock": CLOCK}), WRONG_ID, id="no id"),
        pytest.param(
            envelope(id=-1, error={"code": 1, "message": "x", "data": {"reason": "CLOCK_NOT_FOUND"}}),
            WRONG_ID, id="wrong id in an error",
        ),
        pytest.param(reject("UNKNOWN_REASON"), UNKNOWN_ERROR, id="unknown reason"),
        pytest.param(reject(["INTERNAL"]), UNKNOWN_ERROR, id="reason is not a string"),  # type: ignore[arg-type]
        pytest.param(reject("INVALID_PARAMS", errors=[{"path": "x"}]), UNKNOWN_ERROR, id="incomplete fault"),
        pytest.param(result({}), NOT_DECODED.format(""), id="no clock"),
        pytest.param(result({"clock": without("goals")}), NOT_DECODED.format(" (at `$.clock`)"), id="no goals"),
        pytest.param(
            result({"clock": {**CLOCK, "status": TOKEN}}), NOT_DECODED.format(" (at `$.clock.status`)"),
            id="unknown status that equals the token",
        ),
        pytest.param(
            result({"clock": {**CLOCK, "frozenTime": "today"}}), NOT_DECODED.format(" (at `$.clock.frozenTime`)"),
            id="invalid timestamp",
        ),
    ],
)  # fmt: skip
async def test_invalid_response_raises_with_the_url(open_client: OpenClient, step: Step, message: str) -> None:
    with scripted_server(step) as server:
        assert str(await catch_invalid_response(open_client, server)) == f"{server.url}/rpc {message}"


@each_case("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(open_client: OpenClient, status: int) -> None:
    with (
        scripted_server(respond_with("{}")) as other,
        scripted_server(respond_with("", status, Location=f"{other.url}/rpc?x=1")) as server,
    ):
        error = await catch_invalid_response(open_client, server)
        message = f"redirects to {other.url}. The client doesn't follow redirects. Use the URL that it redirects to."
        assert str(error) == f"{server.url}/rpc {message}"
        assert other.requests == []


@each_case(("path", "base_path"), [("/tickover/rpc", "/tickover"), ("/elsewhere?secret=1", "")])
async def test_a_redirect_is_reported_with_its_base_path(open_client: OpenClient, path: str, base_path: str) -> None:
    with scripted_server(respond_with("", 301, Location=f"https://apps.example.test{path}")) as server:
        error = await catch_invalid_response(open_client, server)
    assert f"redirects to https://apps.example.test{base_path}. The client doesn't" in str(error)


@each_case("location", ["mailto:ana@example.test", "http://elsewhere.test:port"])
async def test_a_redirect_to_an_invalid_url_raises_unreachable(open_client: OpenClient, location: str) -> None:
    with scripted_server(respond_with("", 302, Location=location)) as server:
        async with open_client(server.url, TOKEN, retries=0) as client:
            error = await catch(Unreachable, client.list_page)
        assert str(error).startswith(f"{server.url} closed the connection or doesn't speak HTTP.")


@each_case(
    ("step", "message"),
    [
        (respond_with(PAGE, 404, "text/html"), NOT_TICKOVER.format(404)),
        (respond_with("Oh dear", 500, "text/plain"), NOT_TICKOVER.format(500)),
        (respond_with('{"jsonrpc": "2.0", "id": null, "result": {}}', 404), NOT_TICKOVER.format(404)),
        (respond_with(json.dumps({**EMAIL, "sentAt": 5})), NOT_DECODED.format(" (at `$.sentAt`)")),
    ],
)
async def test_invalid_mailbox_response_raises_with_the_url(open_client: OpenClient, step: Step, message: str) -> None:
    with scripted_server(step) as server:
        async with open_client(server.url) as client:
            error = await catch(InvalidResponse, lambda: client.latest_email("a@example.test"))
        assert str(error) == f"{server.url}/mailbox/latest?to=a%40example.test {message}"


async def test_a_mailbox_error_raises_rejection(open_client: OpenClient) -> None:
    with scripted_server(reject("INVALID_REQUEST", 400)) as server:
        async with open_client(server.url) as client:
            error = await catch(Rejection, lambda: client.latest_email("a@example.test"))
        assert error.reason is Reason.INVALID_REQUEST


@each_case("status", [200, 401, 429, 500])
async def test_an_error_raises_rejection_at_any_http_status(open_client: OpenClient, status: int) -> None:
    with scripted_server(reject("RATE_LIMITED", status, retryAfterSeconds=45)) as server:
        async with open_client(server.url) as client:
            error = await catch(Rejection, lambda: client.get_clock("clock_1"))
        assert (error.reason, error.message) == (Reason.RATE_LIMITED, "It is RATE_LIMITED.")
        assert (error.details, error.faults) == ({"retryAfterSeconds": 45}, ())
        assert len(server.requests) == 1


@each_case("reason", Reason)
def test_every_reason_is_decoded(reason: Reason) -> None:
    error = {"code": -32000, "message": "No.", "data": {"reason": reason}}
    response = Response("http://x/rpc", 200, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())
    with pytest.raises(Rejection, match=r"^No\.$") as caught:
        discover().decode(response)
    assert caught.value.reason is reason


async def test_an_error_may_have_no_id(open_client: OpenClient) -> None:
    error = {"code": -32600, "message": "Too large.", "data": {"reason": "BODY_TOO_LARGE"}}
    with scripted_server(envelope(id=None, error=error)) as server:
        async with open_client(server.url) as client:
            assert (await catch(Rejection, client.discover)).reason is Reason.BODY_TOO_LARGE


async def test_faults_are_decoded(open_client: OpenClient) -> None:
    errors = [
        {"path": "id", "rule": "required", "message": "is required"},
        {"path": "at", "rule": "format", "message": "no", "got": 5, "and": "more"},
    ]
    with scripted_server(reject("INVALID_PARAMS", errors=errors)) as server:
        async with open_client(server.url) as client:
            error = await catch(Rejection, lambda: client.get_clock("clock_1"))
    assert error.faults == (Fault("id", "required", "is required"), Fault("at", "format", "no", 5))


async def test_unknown_members_are_ignored(open_client: OpenClient) -> None:
    clock = {**CLOCK, "colour": "blue", "goals": [], "pendingTransactions": []}
    with scripted_server(result({"clock": clock, "more": 1})) as server:
        async with open_client(server.url) as client:
            assert (await resolve(client.get_clock("clock_1"))).id == "clock_1"


@each_case("digits", ["0.1", "1.10", "1000000000", "12345678.12", "1e-7", "-0.3"])
async def test_amounts_are_exact_decimals(open_client: OpenClient, digits: str) -> None:
    names = ("targetAmount", "currentAmount", "remainingAmount", "progressPercent")
    members = ", ".join(f'"{name}": {digits}' for name in names)
    goal = f'{{"id": "1", "name": "Trip", {members}, "contributions": [], "upcomingContributions": []}}'

    def step(handler: Any, call: Any) -> None:
        content = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"clock": CLOCK}})
        handler.respond(200, re.sub(r'"goals": \[\]', f'"goals": [{goal}]', content))

    with scripted_server(step) as server:
        async with open_client(server.url) as client:
            (got,) = (await resolve(client.get_clock("clock_1"))).goals
    amounts = {got.target_amount, got.current_amount, got.remaining_amount, got.progress_percent}
    assert {str(amount).replace("E", "e") for amount in amounts} == {digits}
