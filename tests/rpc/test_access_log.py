"""The access log, and the debug log of calls. They contain no text of callers."""

import logging
from typing import Any

import pytest

from tests.support.log_capture import LogCapture
from tests.support.world import ANA, World, send_request
from tickover.server.http1.http_messages import BAD_REQUEST, Request

SECRET = b"a secret of the client"
JSON = {b"content-type": b"application/json", b"authorization": b"Bearer " + SECRET, b"x-forwarded-for": SECRET}
CALL = b'{"jsonrpc":"2.0","id":1,"method":"getCurrentUser","params":{}}'


@pytest.fixture
def capture(world: World) -> LogCapture:
    capture = LogCapture()
    world.handler._access_log = capture.log
    return capture


@pytest.mark.parametrize(
    ("request_", "path", "status"),
    [
        pytest.param(Request("POST", "/rpc", SECRET, JSON, "203.0.113.7", CALL), "/rpc", 401, id="call"),
        pytest.param(Request("GET", "/healthz", SECRET, JSON, "203.0.113.7"), "/healthz", 200, id="health check"),
        pytest.param(Request("GET", "/readyz", SECRET), "/readyz", 200, id="readiness"),
        pytest.param(Request("GET", "/", SECRET, {b"host": b"127.0.0.1"}), "/", 200, id="page"),
        pytest.param(
            Request("GET", f"/{SECRET.decode()}", SECRET, {b"host": b"127.0.0.1"}), "unknown", 404, id="unknown page"
        ),
    ],
)
async def test_request_is_logged_in_one_line(
    world: World, capture: LogCapture, request_: Request, path: str, status: int
) -> None:
    response = await send_request(world.handler, request_)
    assert response.status == status
    [(level, event, fields)] = capture.lines
    assert (level, event) == ("info", "request")
    assert fields.pop("milliseconds") >= 0
    expected: dict[str, Any] = {"method": request_.method, "path": path, "status": status, "bytes": len(response.body)}
    assert fields == expected | {"request_id": response.headers["x-request-id"]}


async def test_invalid_http_is_logged_without_a_method(world: World, capture: LogCapture) -> None:
    status, _, body = world.handler.reject(BAD_REQUEST)
    [(_, _, fields)] = capture.lines
    assert fields.pop("request_id").startswith("req_")
    assert fields == {"status": status, "bytes": len(body)}


# The log of calls


_WRONG_CODE = {"email": ANA, "code": "000000", "authenticationMethod": "EMAIL_CODE"}


def _lines(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.levelno == logging.DEBUG]


async def test_call_is_logged_in_one_line(world: World, token: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    with world.logging_calls():
        response = await world.call("createTestClock", {}, token)
    (line,) = _lines(caplog)
    for part in ("createTestClock", "'ok'", response.headers["x-request-id"], "user_"):
        assert part in line


@pytest.mark.parametrize(
    ("method", "params", "outcome"),
    [
        ("createTestClock", {"nickname": "a name of mine"}, "INVALID_PARAMS"),
        ("loginByEmailVerification", _WRONG_CODE, "LOGIN_REFUSED"),
        ("a name of mine", {}, "METHOD_NOT_FOUND"),
    ],
)
async def test_rejected_call_is_logged_by_its_reason(
    world: World, token: str, caplog: pytest.LogCaptureFixture, method: str, params: dict[str, str], outcome: str
) -> None:
    caplog.clear()
    with world.logging_calls():
        await world.call(method, params, token)
    (line,) = _lines(caplog)
    assert outcome in line
    for secret in (token, ANA, "000000", "a name of mine"):
        assert secret not in line
