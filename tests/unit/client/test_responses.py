"""Responses become results, rejections, or InvalidResponse with a message that names the URL."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.system.client.servers import CLOCK
from tickover.api.clocks import Snapshot
from tickover.client import ClientError, Fault, InvalidResponse, Rejection, never_below
from tickover.client.calls import expand_scenario, get_clock, latest_email
from tickover.client.rpc_messages import Response

URL = "http://x.test/rpc"
PAGE = "<!doctype html><title>It works!</title>"
SECRET = "tko_secret_token"
GOAL = {
    "id": "goal_1", "name": "Trip", "targetAmount": 1, "currentAmount": 1, "remainingAmount": 0,
    "progressPercent": 100, "contributions": [], "upcomingContributions": [],
}  # fmt: skip

NOT_TICKOVER = (
    "returned HTTP status {} and no JSON-RPC response."
    " Check that the URL is the address of a Tickover server, without /rpc."
)
NOT_DECODED = "sent a response that this client can't decode{}."
WRONG_ID = "returned the response to another call. Check for a faulty proxy in front of the server."
UNKNOWN_ERROR = "returned an error that this client doesn't know."


def decode(content: bytes | str, status: int = 200) -> Snapshot:
    """Decode the response to a call. `@ID` in it is the id of the call."""
    call = get_clock("clock_1")
    id = json.loads(call.request.content)["id"]
    written = content if isinstance(content, bytes) else content.replace("@ID", str(id)).encode()
    return call.decode(Response(URL, status, written))


def envelope(**members: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "@ID", **members}).replace('"@ID"', "@ID")


def clock(**members: Any) -> str:
    return envelope(result={"clock": {**CLOCK, **members}})


def error(reason: Any, **details: Any) -> dict[str, Any]:
    return {"code": -32000, "message": "No.", "data": {"reason": reason, **details}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(PAGE, NOT_TICKOVER.format(200), id="HTML page"),
        pytest.param(b'{"jsonrpc": "2.0", "id": "\xff"}', NOT_TICKOVER.format(200), id="invalid UTF-8"),
        pytest.param('{"jsonrpc":' * 100_000, NOT_TICKOVER.format(200), id="nested too deeply"),
        pytest.param(envelope(error={"code": 1, "message": "x"}), NOT_TICKOVER.format(200), id="no reason"),
        pytest.param(envelope(id=-1, result={"clock": CLOCK}), WRONG_ID, id="wrong id"),
        pytest.param(envelope(error=error("UNKNOWN_REASON")), UNKNOWN_ERROR, id="unknown reason"),
        pytest.param(
            envelope(error=error("INVALID_PARAMS", errors=[{"path": "x"}])), UNKNOWN_ERROR, id="incomplete fault"
        ),
        pytest.param(envelope(result={}), NOT_DECODED.format(""), id="no clock"),
        pytest.param(clock(status=SECRET), NOT_DECODED.format(" (at `$.clock.status`)"), id="unknown status"),
    ],
)
def test_invalid_response_raises_with_the_url(content: bytes | str, message: str) -> None:
    with pytest.raises(InvalidResponse) as caught:
        decode(content)
    assert isinstance(caught.value, ClientError)
    assert str(caught.value) == f"{URL} {message}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("prefix", ["https://me:password@", "//me@", "https://"])
@pytest.mark.parametrize("suffix", ["", "?token=/secret@", "#token=/secret@", "?a#token=secret"])
def test_redirect_shows_no_secret(prefix: str, suffix: str) -> None:
    location = f"{prefix}other.test/rpc{suffix}"
    shown = f"{'https:' if prefix[0] == 'h' else ''}//other.test/rpc"
    with pytest.raises(InvalidResponse, match=rf" redirects to {shown}\. The client doesn't follow redirects\."):
        get_clock("clock_1").decode(Response(URL, 302, b"", location=location))


def test_mailbox_error_raises_rejection() -> None:
    content = json.dumps({"jsonrpc": "2.0", "id": None, "error": error("INVALID_REQUEST")})
    with pytest.raises(Rejection, match=r"^No\.$"):
        latest_email("ana@example.test").decode(Response(URL, 400, content.encode()))


@pytest.mark.parametrize("status", [200, 401, 429, 500])
@pytest.mark.parametrize("id", ["@ID", None])
def test_error_raises_rejection_at_any_http_status(id: str | None, status: int) -> None:
    """The id is null if the server couldn't parse the request."""
    content = envelope(id=id, error=error("RATE_LIMITED", retryAfterSeconds=45))
    with pytest.raises(Rejection) as caught:
        decode(content, status)
    assert (caught.value.details, caught.value.faults) == ({"retryAfterSeconds": 45}, ())


def test_faults_are_decoded() -> None:
    errors = [
        {"path": "id", "rule": "required", "message": "is required"},
        {"path": "at", "rule": "format", "message": "no", "got": 5, "and": "more"},
    ]
    with pytest.raises(Rejection) as caught:
        decode(envelope(error=error("INVALID_PARAMS", errors=errors)))
    assert caught.value.faults == (Fault("id", "required", "is required"), Fault("at", "format", "no", 5))


@pytest.mark.parametrize("digits", ["0.1", "1.10", "1000000000", "1e-7", "-0.3", "1e400", "5e-324", "1.7976931e308"])
def test_amounts_are_exact_decimals(digits: str) -> None:
    [goal] = decode(clock(goals=[{**GOAL, "currentAmount": "N"}]).replace('"N"', digits)).goals
    assert str(goal.current_amount) == str(Decimal(digits))


def test_plan_of_a_scenario_has_its_expectations_and_exact_balances() -> None:
    call = expand_scenario("")
    params = {"frozenTime": "2027-01-01T00:00:00Z", "openingBalances": {"EUR": 0.1}}
    result = {"params": params, "expectations": [{"balance": {"currency": "EUR", "atLeast": 0.3}}]}
    content = json.dumps({"jsonrpc": "2.0", "id": json.loads(call.request.content)["id"], "result": result})
    plan = call.decode(Response(URL, 200, content.encode()))
    assert plan.frozen_time == datetime(2027, 1, 1, tzinfo=UTC)
    assert (plan.opening_balances, plan.expectations) == ({"EUR": Decimal("0.1")}, (never_below("EUR", 0.3),))
