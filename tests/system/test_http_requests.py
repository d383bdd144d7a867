"""Variants of HTTP requests, and requests that arrive in pieces."""

from collections.abc import AsyncIterator

import pytest

from tests.support.raw import HELLO, Client, EchoServer, echo_call, post, request, run_echo_server
from tickover.api.limits import MAX_BODY


@pytest.fixture
async def server() -> AsyncIterator[EchoServer]:
    """A server with a long keep-alive time, so that it closes no idle connection."""
    async with run_echo_server(keep_alive_seconds=60) as opened:
        yield opened


@pytest.fixture
async def client(server: EchoServer) -> AsyncIterator[Client]:
    async with Client.connect(server.port) as opened:
        yield opened


# Variants of requests


@pytest.mark.parametrize(
    ("written", "response"),
    [
        pytest.param(echo_call(b"x"), b"echo: x", id="plain call"),
        pytest.param(echo_call(b"x", "Connection: close"), b"echo: x", id="Connection: close"),
        pytest.param(echo_call(b""), b"echo: ", id="empty body"),
        pytest.param(echo_call(bytes(MAX_BODY)), b"echo: " + bytes(MAX_BODY), id="largest body"),
        pytest.param(echo_call(b"x", "X-A: 1", "x-a: 2"), b"echo: x", id="repeated header in another case"),
        pytest.param(post("Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n", b"echo: x", id="chunked"),
        pytest.param(
            post("Transfer-Encoding:  Chunked ") + b"1\r\nx\r\n0\r\n\r\n",
            b"echo: x",
            id="chunked with blanks and capitals",
        ),
        pytest.param(post(), b"echo: ", id="no length"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"/rpc?x=1"), b"echo: x", id="query"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"http://localhost/rpc"), b"echo: x", id="absolute URL"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"http://localhost"), b"Hello", id="absolute URL without a path"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"/%72pc"), b"echo: x", id="escaped path"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"/rpc/"), b"Hello", id="other path"),
        pytest.param(echo_call(b"x").replace(b"POST", b"PUT"), b"echo: x", id="other method"),
        pytest.param(echo_call(b"x").replace(b"HTTP/1.1", b"HTTP/1.0"), b"echo: x", id="HTTP/1.0"),
        pytest.param(echo_call(b"x", "Connection: Upgrade", "Upgrade: h2c"), b"echo: x", id="Upgrade"),
    ],
)
async def test_request_variants_get_a_response(client: Client, written: bytes, response: bytes) -> None:
    assert await client.request(written) == (200, {"content-length": str(len(response))} | _last(written), response)


def _last(written: bytes) -> dict[str, str]:
    return {"connection": "close"} if b"Connection: close" in written or b"HTTP/1.0" in written else {}


async def test_response_to_head_has_no_body(client: Client) -> None:
    await client.send(request("HEAD", "/") + HELLO)
    head, _, rest = (await client.raw_until(b"Hello")).partition(b"\r\n\r\n")
    assert b"content-length: 5" in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_expect_100_continue_gets_100(client: Client) -> None:
    assert (await client.request(post("Content-Length: 1", "Expect: 100-continue"))).status == 100
    assert (await client.request(b"x")).body == b"echo: x"


# Bodies in pieces


@pytest.mark.parametrize("size", [1, 7, 1000], ids=["byte by byte", "a few bytes at a time", "in one piece"])
async def test_body_may_arrive_in_many_packets(server: EchoServer, client: Client, size: int) -> None:
    body = b'{"a": "body of many words"}'
    await client.send(post(f"Content-Length: {len(body)}"))
    async with Client.connect(server.port) as other:
        for start in range(0, len(body), size):
            # Afterwards, the server has read all earlier bytes.
            assert (await other.request(HELLO)).status == 200
            await client.send(body[start : start + size])
    assert (await client.response()).body == b"echo: " + body


async def test_head_may_arrive_in_many_packets(server: EchoServer, client: Client) -> None:
    async with Client.connect(server.port) as other:
        for place in range(0, len(echo_call(b"x")), 3):
            assert (await other.request(HELLO)).status == 200
            await client.send(echo_call(b"x")[place : place + 3])
    assert (await client.response()).body == b"echo: x"


async def test_rejected_large_body_is_discarded(client: Client) -> None:
    refused = request("POST", "/refused", f"Content-Length: {MAX_BODY}") + bytes(MAX_BODY)
    for _ in range(2):
        assert (await client.request(refused)).status == 405
        assert (await client.request(echo_call(b"x"))).body == b"echo: x"
