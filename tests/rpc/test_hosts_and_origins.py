"""The Host check and CORS."""

import json

import pytest

from tests.support.log_capture import LogCapture
from tests.support.world import HttpResponse, World, send_request
from tickover.api.errors import Rejection
from tickover.server.bank.bank_names import by_bank_name
from tickover.server.http1.http_messages import Request
from tickover.server.settings import Settings, read_settings
from tickover.server.web import pages
from tickover.server.web.host_check import HostCheck

EVERYWHERE = {"host": "0.0.0.0", "mail_url": "smtp://mail.example.com"}
OUTBOX_EVERYWHERE = {"host": "0.0.0.0", "mail_url": "outbox:"}


def read(settings: dict[str, str]) -> Settings:
    return read_settings({"TICKOVER_MAIL_URL": "outbox:"}, settings)


def is_served(host: bytes | None, /, **settings: str) -> bool:
    """Return whether a server with these settings allows this Host header."""
    try:
        HostCheck(read(settings)).check(host)
    except Rejection:
        return False
    return True


# Host


@pytest.mark.parametrize("listening_on", ["127.0.0.5", "::1", "localhost"])
@pytest.mark.parametrize(
    "host", [b"LocalHost:8000", b"localhost:", b"127.255.255.254", b"[::1]:8000", b"[0:0:0:0:0:0:0:1]"]
)
def test_loopback_server_allows_loopback_names(host: bytes, listening_on: str) -> None:
    assert is_served(host, host=listening_on)


OTHER_HOSTS = {
    "another name with a port": b"evil.example:8000",
    "allowed name as a prefix": b"localhost.evil.example",
    "allowed name as a suffix": b"evil-localhost",
    "missing": None,
    "empty": b"",
    "IPv6 without brackets": b"::1",
    "a name in brackets": b"[localhost]",
    "two names": b"localhost, evil.example",
    "allowed name as the fragment": b"evil.example#localhost",
}


@pytest.mark.parametrize("host", OTHER_HOSTS.values(), ids=OTHER_HOSTS)
def test_only_a_public_server_allows_any_name(host: bytes | None) -> None:
    assert not is_served(host)
    assert is_served(host, **EVERYWHERE)
    assert is_served(host, **EVERYWHERE, public_url="https://clocks.example.com")


@pytest.mark.parametrize(
    ("host", "on_loopback", "elsewhere", "with_outbox"),
    [
        pytest.param(b"API.Example.com:8000", True, True, True, id="named, in capitals"),
        pytest.param(b"CLOCKS.example.com:443", True, True, True, id="in the public URL"),
        pytest.param(b"localhost", True, False, True, id="a loopback name"),
        pytest.param(b"192.168.0.1:8000", False, False, True, id="another address"),
        pytest.param(b"[2001:db8::1]:8000", False, False, True, id="an IPv6 address"),
        pytest.param(b"192.168.0.1.evil.example", False, False, False, id="an address as a prefix"),
        pytest.param(None, False, False, False, id="missing"),
    ],
)
def test_configured_names_are_allowed(
    host: bytes | None, on_loopback: bool, elsewhere: bool, with_outbox: bool
) -> None:
    names = {
        "allowed_hosts": "api.example.com, Second.Example.COM,10.1.2.3",
        "public_url": "http://Clocks.Example.COM:8443/app/",
    }
    assert is_served(host, **names) == on_loopback
    assert is_served(host, **names, **EVERYWHERE) == elsewhere
    # DNS rebinding can't use an address, so a server with the outbox allows all of them.
    assert is_served(host, **names, **OUTBOX_EVERYWHERE) == with_outbox


# Complete responses


class ConfiguredHandler:
    """An HTTP handler with these settings."""

    def __init__(self, world: World, **settings: str) -> None:
        self._handler = world.new_handler(read(settings), LogCapture().log)

    async def request(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> HttpResponse:
        given = {"host": "localhost", "content-type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        fields = {name.encode(): value.encode() for name, value in given.items() if value}
        return await send_request(self._handler, Request(method, path, b"", fields, "203.0.113.7", body))


async def test_bank_rejects_other_hosts_with_errors_of_its_protocols(world: World) -> None:
    handler = ConfiguredHandler(world)
    plaid = await handler.request("POST", "/plaid/accounts/get", b"{}", host="evil.example")
    assert (plaid.status, plaid.json["error_code"]) == (400, "INVALID_HEADERS")
    simplefin = await handler.request("GET", "/simplefin/info", host="evil.example")
    assert (simplefin.status, simplefin.headers["content-type"]) == (400, "text/plain; charset=utf-8")


def cors_headers(response: HttpResponse) -> dict[str, str]:
    # `Vary: Accept-Encoding` has nothing to do with CORS.
    headers = {name: value for name, value in response.headers.items() if value != "accept-encoding"}
    return {name: value for name, value in headers.items() if name == "vary" or name.startswith("access-control-")}


LOGOUT = b'{"jsonrpc":"2.0","id":1,"method":"logout"}'
SEND = (
    b'{"jsonrpc":"2.0","id":1,"method":"sendLoginCodeEmail","params":'
    b'{"email":"ana@example.test","loginCodeType":"SHORT_LIVED","emailType":"LOGIN_CODE"}}'
)


@pytest.mark.parametrize(
    ("method", "host"), [("GET", "evil.example"), ("HEAD", "127.0.0.1.evil.example"), ("POST", ""), ("OPTIONS", "evil")]
)
async def test_every_route_rejects_another_host(world: World, method: str, host: str) -> None:
    await world.send_code()
    handler = ConfiguredHandler(world)
    [email] = (await handler.request("GET", "/mailbox/emails.json")).json["emails"]
    emails = [f"/mailbox/emails/{email['id']}.{extension}" for extension in pages._EMAIL_EXTENSIONS]
    routes = [*pages.console_pages(), "/site.json", *pages._GENERATED, *pages._MAILBOX_PATHS, *emails]
    assert all(world.site.has(route) for route in routes)
    for route in (*routes, "/rpc", "/nothing"):
        response = await handler.request(method, route, host=host)
        assert (route, response.status) == (route, 400)
        assert b"ana@example.test" not in response.body


# CORS

APP = "https://app.example.com"
ORIGINS = {"cors_origins": f"{APP}, http://localhost:3000"}
MAY_READ = {"vary": "Origin", "access-control-expose-headers": "X-Request-Id, Retry-After"}
PREFLIGHT = {"access_control_request_method": "POST", "access_control_request_headers": "authorization,content-type"}
OTHER_ORIGINS = (
    "",
    "null",
    "http://app.example.com",
    "https://app.example.com.evil.example",
    f"{APP}, http://localhost:3000",
    "*",
)


@pytest.mark.parametrize("origin", ["", APP, "null", "http://localhost:8000"])
async def test_no_origin_is_allowed_by_default(world: World, origin: str) -> None:
    handler = ConfiguredHandler(world)
    for method, path, body in (("POST", "/rpc", SEND), ("POST", "/rpc", LOGOUT), ("GET", "/login", b"")):
        assert cors_headers(await handler.request(method, path, body, origin=origin)) == {}
    response = await handler.request("OPTIONS", "/rpc", origin=origin, **PREFLIGHT)
    assert (response.status, response.headers["allow"], cors_headers(response)) == (405, "POST", {})
    assert (b"TICKOVER_CORS_ORIGINS" in response.body) == (origin != "")
    assert json.loads(response.body)["error"]["data"]["reason"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize("origin", [APP, "http://localhost:3000"])
@pytest.mark.parametrize(
    ("method", "body", "status"),
    [("POST", SEND, 200), ("POST", LOGOUT, 401), ("POST", b"{", 400), ("GET", b"", 405)],
    ids=["a result", "an error", "not JSON", "a wrong method"],
)
async def test_allowed_origin_may_read_every_response(
    world: World, origin: str, method: str, body: bytes, status: int
) -> None:
    response = await ConfiguredHandler(world, **ORIGINS).request(method, "/rpc", body, origin=origin)
    assert response.status == status
    assert cors_headers(response) == {**MAY_READ, "access-control-allow-origin": origin}


@pytest.mark.parametrize("origin", [APP, "http://localhost:3000"])
async def test_preflight_of_an_allowed_origin_succeeds(world: World, origin: str) -> None:
    response = await ConfiguredHandler(world, **ORIGINS).request("OPTIONS", "/rpc", origin=origin, **PREFLIGHT)
    assert (response.status, response.body) == (204, b"")
    assert cors_headers(response) == {
        **MAY_READ,
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
        "access-control-max-age": "600",
    }


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
async def test_other_origin_may_neither_read_nor_call(world: World, origin: str) -> None:
    handler = ConfiguredHandler(world, **ORIGINS)
    # A cache must not return the response of one origin to another.
    assert cors_headers(await handler.request("POST", "/rpc", LOGOUT, origin=origin)) == {"vary": "Origin"}
    preflight = await handler.request("OPTIONS", "/rpc", origin=origin, **PREFLIGHT)
    assert (preflight.status, cors_headers(preflight)) == (405, {"vary": "Origin"})


@pytest.mark.parametrize(
    ("host", "path", "status"),
    [
        ("bridge.simplefin.org:8443", "/simplefin/info", 200),
        ("localhost", "/simplefin/info", 200),
        ("sandbox.plaid.com", "/item/get", 400),
        ("localhost", "/rpc", 404),
        ("localhost", "/healthz", 404),
        ("localhost", "/", 404),
        ("tickover.example.test", "/simplefin/info", 404),
        ("", "/simplefin/info", 404),
    ],
)
async def test_only_the_bank_answers_at_its_own_names(world: World, host: str, path: str, status: int) -> None:
    handle = by_bank_name(world.handler.handle_bank)
    response = handle(Request("GET", path, fields={b"host": host.encode()}))
    found, headers, _ = response if isinstance(response, tuple) else await response
    assert found == status
    assert dict(headers).keys() >= {b"date", b"x-request-id", b"cache-control"}
