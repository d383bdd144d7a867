"""HTTP: methods, content types, body size, headers and health checks."""

from typing import Any

import pytest

from tests.rpc.builders import OMITTED, call, post_with, raw_call, reason_of, send, transaction
from tests.support.cases import each_case
from tests.support.world import World, run_concurrently, send_request
from tickover.api.errors import Reason
from tickover.server.http1.messages import BAD_REQUEST, OVERLOADED, Request, RequestError
from tickover.server.web.handler import Handler

JSON = ("Content-Type", "application/json")


# Requests


@each_case("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "QUERY"])
async def test_rpc_accepts_only_post(world: World, method: str) -> None:
    response = await world.request(method, "/rpc", b"{}", {"Content-Type": "application/json"})
    assert (response.status, response.headers["allow"]) == (405, "POST")
    assert (response.json["error"]["code"], reason_of(response)) == (-32600, "METHOD_NOT_ALLOWED")
    assert (response.json["jsonrpc"], response.json["id"]) == ("2.0", None)


@each_case(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "APPLICATION/JSON; CHARSET=UTF-8",
        "application/json;charset=utf-8",
        "application/json; charset=utf-8",
        'application/json; charset="utf-8"',
        " application/json ",
        "application/json;",
    ],
)
async def test_json_in_utf_8_is_accepted(world: World, content_type: str) -> None:
    response = await world.request("POST", "/rpc", raw_call("x", "{}"), {"Content-Type": content_type})
    assert (response.status, reason_of(response)) == (200, "METHOD_NOT_FOUND")
    assert response.headers["content-type"] == "application/json"


@each_case(
    "content_type",
    [
        None,
        "",
        "json",
        "text/plain",
        "text/json",
        "text/html; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-rpc",
        "application/jsonl",
        "application/vnd.api+json",
        "application/json; charset=iso-8859-1",
        "application/json; charset=utf-16",
        "application/json, text/plain",
    ],
)
async def test_other_content_types_are_rejected(world: World, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = await world.request("POST", "/rpc", raw_call("x", "{}"), headers)
    assert (response.status, response.json["error"]["code"]) == (415, -32600)
    assert (reason_of(response), response.json["id"]) == ("UNSUPPORTED_MEDIA_TYPE", None)


async def test_method_is_checked_before_the_content_type(world: World) -> None:
    assert (await world.request("PUT", "/rpc", b"{}", {"Content-Type": "text/plain"})).status == 405


async def test_body_over_the_limit_is_rejected(world: World) -> None:
    response = await world.request("POST", "/rpc", None, {"Content-Type": "application/json"})
    assert (response.status, response.json["error"]["code"], reason_of(response)) == (413, -32600, "BODY_TOO_LARGE")


async def test_largest_schedule_fits_into_the_body(world: World, token: str) -> None:
    entries = [transaction(name="😀" * 120, category="😀" * 80)] * 100
    clock = await world.create(token, transactions=entries)
    assert len(clock["pendingTransactions"]) == 100


# The Authorization header


@each_case("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_bearer_scheme_is_case_insensitive(world: World, token: str, scheme: str) -> None:
    response = await world.post(call("createTestClock", {}), None, Authorization=f"{scheme} {token}")
    assert "result" in response.json


@each_case(
    "form",
    ["{}", "Bearer", "Bearer ", "Bearer{}", "Basic {}", "Token {}", "Bearer {}x", "Bearer x{}", "Bearer {} x",
     'Bearer "{}"', "Bearer {0}, Bearer {0}", "Bearer token={}", "Bearer\t{}", "Bearer é", "Bearer tko_", ""],
)  # fmt: skip
async def test_malformed_authorization_is_rejected(world: World, token: str, form: str) -> None:
    response = await world.post(call("createTestClock", {}), None, Authorization=form.format(token))
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"


@each_case("second", ["{}", "tko_" + "A" * 43, ""])
@each_case("order", [1, -1])
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
    ids = {response.headers["x-request-id"] for response in responses}
    assert len(ids) == len(responses)
    assert "" not in ids


async def test_response_has_content_length(world: World, token: str) -> None:
    response = await world.post(call("createTestClock", {"goals": [{"name": "😀", "targetAmount": 1}]}), token)
    assert int(response.headers["content-length"]) == len(response.body)


async def test_response_without_content_has_no_content_length(world: World) -> None:
    """RFC 9110, section 8.6: a 204 must not have Content-Length."""
    response = await world.post(call("x", {}, OMITTED))
    assert response.status == 204
    assert not {"content-length", "content-type"} & response.headers.keys()


async def test_retry_after_header_equals_the_error(world: World) -> None:
    await world.send_code()
    world.pass_time(seconds=12.5)
    response = await world.call("sendLoginCodeEmail", send())
    assert (response.status, response.headers["retry-after"]) == (429, "48")
    assert response.json["error"]["data"]["retryAfterSeconds"] == 48


# Health checks


@each_case("path", ["/healthz", "/readyz"])
@each_case("method", ["GET", "HEAD"])
async def test_health_checks_of_a_healthy_server_succeed(world: World, path: str, method: str) -> None:
    assert (await world.request(method, path)).status == 200


@each_case("path", ["/healthz", "/readyz"])
@each_case("method", ["POST", "PUT", "DELETE"])
async def test_health_checks_accept_only_get_and_head(world: World, path: str, method: str) -> None:
    response = await world.request(method, path)
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


async def test_server_without_store_is_alive_but_not_ready(world: World) -> None:
    await world.store.close()
    assert (await world.request("GET", "/healthz")).status == 200
    response = await world.request("GET", "/readyz")
    assert (response.status, response.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("sendLoginCodeEmail", send()),
        ("loginByEmailVerification", {"email": "a@b.test", "code": "123456", "authenticationMethod": "EMAIL_CODE"}),
        ("createTestClock", {}),
        ("advanceTestClock", {"id": "clock_x", "frozenTime": "2027-02-01T00:00:00Z"}),
        ("loginByEmailLink", {"token": "x"}),
        ("logout", {}),
        ("getTestClock", {"id": "clock_x"}),
        ("listTestClocks", {}),
        ("deleteTestClock", {"id": "clock_x"}),
        ("forkTestClock", {"id": "clock_x"}),
    ],
)
async def test_every_operation_is_unavailable_without_the_store(
    world: World, token: str, method: str, params: Any
) -> None:
    await world.store.close()
    response = await world.call(method, params, token)
    assert (response.status, response.headers.get("retry-after")) == (503, "1")
    assert response.json["error"]["code"] == -32050
    assert response.json["error"]["data"] == {"reason": "UNAVAILABLE", "retryAfterSeconds": 1}


@each_case("path", ["/rpc/", "/RPC", "/rpc/x", "//rpc", "/healthz/", "/nothing"])
@each_case("method", ["GET", "POST"])
async def test_unknown_path_is_not_found(world: World, path: str, method: str) -> None:
    assert (await world.request(method, path, b"{}", {"Content-Type": "application/json"})).status == 404


# Overload


async def test_calls_over_the_limit_are_rejected_but_not_health_checks(world: World) -> None:
    counted: list[Reason] = []
    handler = Handler(
        world.rpc, world.store.ping, world.handler._host_check, world.handler._site,
        now=lambda: world.now, max_in_flight=1, count_rejection=counted.append,
    )  # fmt: skip
    request = Request("POST", "/rpc", b"", {b"content-type": b"application/json"}, world.client, raw_call("x", "{}"))
    first = handler.handle(request)
    assert not isinstance(first, tuple)
    response = await send_request(handler, request)
    assert (response.status, response.headers["retry-after"], reason_of(response)) == (503, "1", "UNAVAILABLE")
    assert response.json["error"]["data"]["retryAfterSeconds"] == 1
    for path in ("/healthz", "/readyz"):
        assert (await send_request(handler, Request("GET", path))).status == 200
    assert (await first)[0] == 200
    assert reason_of(await send_request(handler, request)) == "METHOD_NOT_FOUND"
    assert counted == [Reason.UNAVAILABLE]


@each_case(("error", "reasons"), [(OVERLOADED, [Reason.UNAVAILABLE]), (BAD_REQUEST, [])])
async def test_overload_is_counted(world: World, error: RequestError, reasons: list[Reason]) -> None:
    counted: list[Reason] = []
    handler = Handler(
        world.rpc, world.store.ping, world.handler._host_check, world.handler._site, count_rejection=counted.append
    )
    assert handler.reject(error)[0] == error.status
    assert counted == reasons


# Internal errors


async def test_bug_in_a_page_is_an_internal_error_and_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise RuntimeError("a detail that is nobody's business")

    response = await send_request(
        Handler(world.rpc, fail, world.handler._host_check, world.handler._site), Request("GET", "/readyz")
    )
    assert (response.status, reason_of(response)) == (500, "INTERNAL")
    assert "detail" not in response.body.decode()
    assert response.json["error"]["data"]["requestId"] == response.headers["x-request-id"]
    assert response.headers["x-request-id"] in caplog.text
