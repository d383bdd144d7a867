"""HTTP: methods, content types, headers, health checks, and a wrong wall clock."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, post_with, raw_call, reason_of, send
from tests.support.log_capture import LogCapture
from tests.support.world import SETTINGS, World, run_concurrently, send_request
from tickover.server.http1.http_messages import Request
from tickover.server.web.handler import Handler

JSON = ("Content-Type", "application/json")


def handler_of(world: World, ping: Any = None) -> Handler:
    return world.new_handler(SETTINGS, LogCapture().log, ping)


# Requests


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "post"])
async def test_rpc_accepts_only_post(world: World, method: str) -> None:
    response = await world.request(method, "/rpc", b"{}", {"Content-Type": "application/json"})
    assert (response.status, response.headers["allow"]) == (405, "POST")
    assert (response.json["error"]["code"], reason_of(response)) == (-32600, "METHOD_NOT_ALLOWED")
    assert (response.json["jsonrpc"], response.json["id"]) == ("2.0", None)


@pytest.mark.parametrize(
    ("content_type", "is_accepted"),
    [
        ("application/json", True),
        ("APPLICATION/JSON; CHARSET=UTF-8", True),
        ('application/json;charset="utf-8"', True),
        ("application/json;", True),
        (None, False),
        ("text/plain", False),
        ("application/json; charset=utf-16", False),
        ("application/json, text/plain", False),
    ],
)
async def test_only_json_in_utf_8_is_accepted(world: World, content_type: str | None, is_accepted: bool) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = await world.request("POST", "/rpc", raw_call("x", "{}"), headers)
    expected = (200, "METHOD_NOT_FOUND", 7) if is_accepted else (415, "UNSUPPORTED_MEDIA_TYPE", None)
    assert (response.status, reason_of(response), response.json["id"]) == expected


# The Authorization header


@pytest.mark.parametrize("second", ["{}", ""])
@pytest.mark.parametrize("order", [1, -1])
async def test_two_authorization_headers_are_rejected(world: World, token: str, second: str, order: int) -> None:
    values = [f"Bearer {token}", f"Bearer {second.format(token)}"][::order]
    headers = [JSON, *(("Authorization", value) for value in values)]
    response = await post_with(world, headers, raw_call("createTestClock", "{}"))
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")


# Response headers


async def test_every_response_has_its_own_request_id(world: World, token: str) -> None:
    responses = [
        await world.post(call("createTestClock", {}), token),
        await world.post(call("createTestClock", {})),
        await world.post([call("x")]),
        await world.post(call("x", {}, OMITTED)),
        await world.post(b"{"),
        await world.request("POST", "/rpc", None, dict([JSON])),
        await world.request("GET", "/rpc"),
        await world.request("POST", "/rpc"),
        await world.request("GET", "/nothing"),
        await world.request("GET", "/healthz"),
        await world.request("POST", "/healthz"),
        await world.request("GET", "/readyz"),
        *await run_concurrently(20, lambda number: world.post(call("x", {}, number))),
    ]
    for response in responses:
        assert {"date", "x-content-type-options"} <= response.headers.keys()
        assert response.headers["cache-control"] == "no-store"
    ids = {response.headers["x-request-id"] for response in responses}
    assert len(ids) == len(responses)
    assert "" not in ids


async def test_date_follows_the_wall_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is formatted once a second."""
    assert (await world.request("GET", "/healthz")).headers["date"] == "Fri, 01 Jan 2027 12:00:00 GMT"
    world.pass_time(hours=1)
    loop = asyncio.get_running_loop()
    a_second_later = loop.time() + 1
    monkeypatch.setattr(loop, "time", lambda: a_second_later)
    assert (await world.request("GET", "/healthz")).headers["date"] == "Fri, 01 Jan 2027 13:00:00 GMT"


# Health checks


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_checks_accept_only_get_and_head(world: World, path: str) -> None:
    assert [(await world.request(method, path)).status for method in ("GET", "HEAD")] == [200, 200]
    response = await world.request("POST", path)
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


async def test_server_without_store_is_alive_but_not_ready(world: World) -> None:
    await world.store.close()
    assert (await world.request("GET", "/healthz")).status == 200
    response = await world.request("GET", "/readyz")
    assert (response.status, response.headers["retry-after"]) == (503, "1")


# Internal errors


async def test_bug_in_a_page_is_an_internal_error_and_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise RuntimeError("a detail that is nobody's business")

    handler = handler_of(world, ping=fail)
    response = await send_request(handler, Request("GET", "/readyz"))
    assert (response.status, reason_of(response)) == (500, "INTERNAL")
    assert "detail" not in response.body.decode()
    assert response.json["error"]["data"]["requestId"] == response.headers["x-request-id"]
    assert response.headers["x-request-id"] in caplog.text


# The wall clock


WRONG = [datetime(1969, 12, 31, tzinfo=UTC), datetime(1970, 1, 7, 23, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
CALLS: dict[str, Any] = {
    "createTestClock": {},
    "listTestClocks": {},
    "sendLoginCodeEmail": send("ben@example.test"),
    "rpc.discover": {},
}


@pytest.mark.parametrize("now", WRONG, ids=str)
@pytest.mark.parametrize("method", CALLS)
async def test_calls_are_unavailable_while_the_wall_clock_is_wrong(
    world: World, token: str, method: str, now: datetime
) -> None:
    right, world.now = world.now, now
    response = await world.call(method, CALLS[method], token)
    assert (response.status, response.headers["retry-after"], reason_of(response)) == (503, "1", "UNAVAILABLE")
    assert f"it says {now:%Y-%m-%d}" in response.json["error"]["message"]
    if now < right:
        assert await world.store.sweep(now, 10) == 0, "nothing has expired"
    world.now = right
    assert "result" in (await world.call(method, CALLS[method], token)).json, "nothing is left of it"
