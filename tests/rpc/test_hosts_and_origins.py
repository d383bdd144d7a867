"""The Host check and CORS."""

import json

import pytest

from tests.support.world import HttpResponse, World, send_request
from tickover.api.errors import Rejection
from tickover.server.http1.messages import Request
from tickover.server.settings import Settings, read_settings
from tickover.server.web.handler import Handler
from tickover.server.web.host_check import HostCheck
from tickover.server.web.pages import Site

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


@pytest.mark.parametrize("listening_on", ["127.0.0.1", "127.0.0.5", "::1", "localhost"])
@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"localhost:8000",
        b"localhost:",
        b"LocalHost:8000",
        b"127.0.0.1",
        b"127.0.0.1:1",
        b"127.255.255.254",
        b"[::1]",
        b"[::1]:8000",
        b"[0:0:0:0:0:0:0:1]",
    ],
)
def test_loopback_server_allows_loopback_names(host: bytes, listening_on: str) -> None:
    assert is_served(host, host=listening_on)


FOREIGN = [
    pytest.param(b"evil.example", id="another name"),
    pytest.param(b"evil.example:8000", id="another name with a port"),
    pytest.param(b"localhost.evil.example", id="allowed name as a prefix"),
    pytest.param(b"evil-localhost", id="allowed name as a suffix"),
    pytest.param(b"127.0.0.1.evil.example", id="allowed address as a prefix"),
    pytest.param(b"0.0.0.0", id="any address"),
    pytest.param(b"[::]", id="any IPv6 address"),
    pytest.param(b"128.0.0.1", id="just above loopback"),
    pytest.param(b"126.255.255.255", id="just below loopback"),
    pytest.param(b"192.168.0.1:8000", id="private address"),
    pytest.param(b"[2001:db8::1]", id="another IPv6 address"),
]
MALFORMED = [
    pytest.param(None, id="missing"),
    pytest.param(b"", id="empty"),
    pytest.param(b":8000", id="only a port"),
    pytest.param(b"::1", id="IPv6 without brackets"),
    pytest.param(b"[::1", id="a bracket left open"),
    pytest.param(b"[localhost]", id="a name in brackets"),
    pytest.param(b"localhost:port", id="invalid port"),
    pytest.param(b"localhost, evil.example", id="two names"),
    pytest.param(b"localhost evil.example", id="a blank between two names"),
    pytest.param(b"local\thost", id="a tab within"),
    pytest.param(b"evil.example@localhost", id="user"),
    pytest.param(b"localhost@evil.example", id="allowed name as the user"),
    pytest.param(b"localhost/evil.example", id="a path"),
    pytest.param(b"localhost?evil.example", id="a query"),
    pytest.param(b"localhost#evil.example", id="a fragment"),
    pytest.param(b"evil.example#localhost", id="allowed name as the fragment"),
    pytest.param(b"http://localhost", id="URL"),
    pytest.param(b"l\xf6calhost", id="not ASCII"),
    pytest.param("lo\N{CYRILLIC SMALL LETTER ES}alhost".encode(), id="similar character"),
    pytest.param(b"\x00", id="a null byte"),
]


@pytest.mark.parametrize("host", [*FOREIGN, *MALFORMED])
def test_loopback_server_rejects_other_names(host: bytes | None) -> None:
    assert not is_served(host)


@pytest.mark.parametrize("host", [*FOREIGN, *MALFORMED, pytest.param(b"localhost", id="loopback")])
def test_public_server_allows_any_name_by_default(host: bytes | None) -> None:
    assert is_served(host, **EVERYWHERE)
    assert is_served(host, **EVERYWHERE, public_url="https://clocks.example.com")


@pytest.mark.parametrize("public_url", ["https://clocks.example.com", "http://Clocks.Example.COM:8443/app/"])
@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        (b"clocks.example.com", True),
        (b"clocks.example.com:443", True),
        (b"CLOCKS.example.com", True),
        (b"localhost:8000", True),
        (b"example.com", False),
        (b"www.clocks.example.com", False),
        (None, False),
    ],
)
def test_host_of_the_public_url_is_allowed(host: bytes | None, is_allowed: bool, public_url: str) -> None:
    assert is_served(host, public_url=public_url) == is_allowed


@pytest.mark.parametrize(
    ("host", "on_loopback", "elsewhere"),
    [
        pytest.param(b"api.example.com", True, True, id="named"),
        pytest.param(b"api.example.com:8000", True, True, id="named, with a port"),
        pytest.param(b"API.Example.com", True, True, id="named, in capitals"),
        pytest.param(b"second.example.com", True, True, id="named in capitals"),
        pytest.param(b"10.1.2.3", True, True, id="named by address"),
        pytest.param(b"clocks.example.com", True, True, id="in the public URL"),
        pytest.param(b"localhost", True, False, id="a loopback name"),
        pytest.param(b"[::1]:8000", True, False, id="a loopback address"),
        pytest.param(b"evil.example", False, False, id="not named"),
        pytest.param(b"example.com", False, False, id="the end of a name"),
        pytest.param(b"x.api.example.com", False, False, id="below a name"),
        pytest.param(None, False, False, id="missing"),
        pytest.param(b"", False, False, id="empty"),
    ],
)
def test_configured_names_are_allowed(host: bytes | None, on_loopback: bool, elsewhere: bool) -> None:
    names = {
        "allowed_hosts": "api.example.com, Second.Example.COM,10.1.2.3",
        "public_url": "https://clocks.example.com",
    }
    assert is_served(host, **names) == on_loopback
    assert is_served(host, **names, **EVERYWHERE) == elsewhere


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        pytest.param(b"localhost:8000", True, id="a loopback name"),
        pytest.param(b"127.0.0.1:8000", True, id="a loopback address"),
        pytest.param(b"192.168.0.1:8000", True, id="an address"),
        pytest.param(b"[2001:db8::1]:8000", True, id="an IPv6 address"),
        pytest.param(b"clocks.example.com", True, id="in the public URL"),
        pytest.param(b"tickover:8000", True, id="named"),
        pytest.param(b"rebind.evil.example", False, id="another name"),
        pytest.param(b"192.168.0.1.evil.example", False, id="an address as a prefix"),
        pytest.param(b"192.168.0.1.", False, id="an address with a dot at the end"),
        pytest.param(b"3232235521", False, id="an address as a number"),
        pytest.param(None, False, id="missing"),
    ],
)
def test_outbox_is_protected_from_dns_rebinding_on_any_address(host: bytes | None, is_allowed: bool) -> None:
    names = {"allowed_hosts": "tickover", "public_url": "https://clocks.example.com"}
    assert is_served(host, **OUTBOX_EVERYWHERE, **names) == is_allowed
    assert is_served(host, **OUTBOX_EVERYWHERE) == (
        is_allowed and host not in (b"tickover:8000", b"clocks.example.com")
    )


# Complete responses


class ConfiguredHandler:
    """An HTTP handler with these settings."""

    def __init__(self, world: World, **settings: str) -> None:
        found = read(settings)
        self._handler = Handler(
            world.rpc, world.store.ping, HostCheck(found), Site(world.handler._site.pages),
            cors_origins=found.cors_origins, now=lambda: world.now,
        )  # fmt: skip

    async def request(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> HttpResponse:
        given = {"host": "localhost", "content-type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        fields = {name.encode(): value.encode() for name, value in given.items() if value}
        return await send_request(self._handler, Request(method, path, b"", fields, "203.0.113.7", body))


def cors_headers(response: HttpResponse) -> dict[str, str]:
    # `Vary: Accept-Encoding` has nothing to do with CORS.
    headers = {name: value for name, value in response.headers.items() if value != "accept-encoding"}
    return {name: value for name, value in headers.items() if name == "vary" or name.startswith("access-control-")}


LOGOUT = b'{"jsonrpc":"2.0","id":1,"method":"logout"}'
SEND = (
    b'{"jsonrpc":"2.0","id":1,"method":"sendLoginCodeEmail","params":'
    b'{"email":"ana@example.test","loginCodeType":"SHORT_LIVED","emailType":"LOGIN_CODE"}}'
)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("host", ["", "10.1.2.3:8000", "evil.example"])
async def test_health_checks_allow_any_host(world: World, path: str, host: str) -> None:
    assert (await ConfiguredHandler(world).request("GET", path, host=host)).status == 200


async def test_call_with_another_host_has_no_effect(world: World) -> None:
    handler = ConfiguredHandler(world)
    assert (await handler.request("POST", "/rpc", SEND, host="evil.example")).status == 400
    assert world.emails() == []
    assert (await handler.request("POST", "/rpc", SEND, host="localhost")).status == 200
    assert len(world.emails()) == 1


# CORS, off

APP = "https://app.example.com"
# None means no Origin header.
SOME_ORIGINS = ("", APP, "null", "http://localhost:8000")
PREFLIGHT = {"access_control_request_method": "POST", "access_control_request_headers": "authorization,content-type"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/rpc", SEND),
        ("POST", "/rpc", LOGOUT),
        ("POST", "/rpc", b"{"),
        ("GET", "/login", b""),
        ("GET", "/no", b""),
    ],
)
async def test_responses_have_no_cors_headers_by_default(world: World, method: str, path: str, body: bytes) -> None:
    handler = ConfiguredHandler(world)
    said = {origin: cors_headers(await handler.request(method, path, body, origin=origin)) for origin in SOME_ORIGINS}
    assert said == {origin: {} for origin in SOME_ORIGINS}


async def test_preflight_is_rejected_by_default(world: World) -> None:
    for origin in SOME_ORIGINS:
        response = await ConfiguredHandler(world).request("OPTIONS", "/rpc", origin=origin, **PREFLIGHT)
        assert (b"TICKOVER_CORS_ORIGINS" in response.body) == (origin != "")
        assert (origin, response.status, response.headers["allow"], cors_headers(response)) == (origin, 405, "POST", {})
        assert json.loads(response.body)["error"]["data"]["reason"] == "METHOD_NOT_ALLOWED"


# CORS, on

ORIGINS = {"cors_origins": f"{APP}, http://localhost:3000"}
MAY_READ = {"vary": "Origin", "access-control-expose-headers": "X-Request-Id, Retry-After"}
OTHER_ORIGINS = (
    "",
    "null",
    "https://evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com.evil.example",
    "https://evil-app.example.com",
    "https://x.app.example.com",
    "https://APP.example.com",
    "https://app.example.com/",
    f"{APP}, http://localhost:3000",
    "*",
)


@pytest.mark.parametrize("origin", [APP, "http://localhost:3000"])
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/rpc", SEND, 200),
        ("POST", "/rpc", LOGOUT, 401),
        ("POST", "/rpc", b"{", 400),
        ("GET", "/rpc", b"", 405),
    ],
    ids=["a result", "an error", "not JSON", "a wrong method"],
)
async def test_allowed_origin_may_read_every_response(
    world: World, origin: str, method: str, path: str, body: bytes, status: int
) -> None:
    response = await ConfiguredHandler(world, **ORIGINS).request(method, path, body, origin=origin)
    assert response.status == status
    assert cors_headers(response) == {**MAY_READ, "access-control-allow-origin": origin}


async def test_other_origin_may_read_no_response(world: World) -> None:
    handler = ConfiguredHandler(world, **ORIGINS)
    said = {
        origin: cors_headers(await handler.request("POST", "/rpc", LOGOUT, origin=origin)) for origin in OTHER_ORIGINS
    }
    # A cache must not return the response of one origin to another.
    assert said == {origin: {"vary": "Origin"} for origin in OTHER_ORIGINS}


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


async def test_preflight_of_another_origin_is_rejected(world: World) -> None:
    for origin in OTHER_ORIGINS:
        response = await ConfiguredHandler(world, **ORIGINS).request("OPTIONS", "/rpc", origin=origin, **PREFLIGHT)
        assert (origin, response.status, cors_headers(response)) == (origin, 405, {"vary": "Origin"})


async def test_allowed_origin_does_not_bypass_the_host_check(world: World) -> None:
    response = await ConfiguredHandler(world, **ORIGINS).request(
        "OPTIONS", "/rpc", origin=APP, host="evil.example", **PREFLIGHT
    )
    assert response.status == 400
