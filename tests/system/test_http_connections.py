"""HTTP connections: forms of requests, order of responses, idle and slow clients, disconnects, and stopping."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from tests.support.raw import (
    HELLO,
    SHORT_DEADLINE_SECONDS,
    WAIT_SECONDS,
    Client,
    EchoServer,
    echo_call,
    post,
    request,
    run_echo_server,
    wait_for,
)
from tickover.api.limits import MAX_BODY

_KEEP_ALIVE_SECONDS = 1.0


@pytest.fixture
async def server() -> AsyncIterator[EchoServer]:
    async with run_echo_server() as opened:
        yield opened


@pytest.fixture
async def client(server: EchoServer) -> AsyncIterator[Client]:
    async with Client.connect(server.port) as opened:
        yield opened


# Variants of requests


@pytest.mark.parametrize(
    ("written", "response"),
    [
        pytest.param(echo_call(b""), b"echo: ", id="empty body"),
        pytest.param(echo_call(bytes(MAX_BODY)), b"echo: " + bytes(MAX_BODY), id="largest body"),
        pytest.param(echo_call(b"x", "X-A: 1", "x-a: 2"), b"echo: x", id="repeated header in another case"),
        pytest.param(post("Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n", b"echo: x", id="chunked"),
        pytest.param(post(), b"echo: ", id="no length"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"/rpc?x=1"), b"echo: x", id="query"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"http://localhost/rpc"), b"echo: x", id="absolute URL"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"http://localhost"), b"Hello", id="absolute URL without a path"),
        pytest.param(echo_call(b"x").replace(b"/rpc", b"/%72pc"), b"echo: x", id="escaped path"),
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


# Bodies


async def test_rejected_large_body_is_discarded(client: Client) -> None:
    refused = request("POST", "/refused", f"Content-Length: {MAX_BODY}") + bytes(MAX_BODY)
    for _ in range(2):
        assert (await client.request(refused)).status == 405
        assert (await client.request(echo_call(b"x"))).body == b"echo: x"


async def test_trailers_are_ignored(server: EchoServer, client: Client) -> None:
    chunks = b"1\r\nx\r\n0\r\nX-Forwarded-For: 192.0.2.2\r\n\r\n"
    response = await client.request(post("Transfer-Encoding: chunked", "X-Forwarded-For: 192.0.2.1") + chunks)
    assert (response.body, server.fields[b"x-forwarded-for"]) == (b"echo: x", b"192.0.2.1")


# Several requests on one connection


async def test_pipelined_requests_with_an_upgrade_get_responses(client: Client) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: h2c")
    await client.send((echo_call(b"GET / HTTP/1.1\r\n\r\n", *upgrade) + request("GET", "/", *upgrade)) * 3)
    bodies = [(await client.response()).body for _ in range(6)]
    assert bodies == [b"echo: GET / HTTP/1.1\r\n\r\n", b"Hello"] * 3


async def test_invalid_request_after_an_upgrade_is_rejected(client: Client) -> None:
    await client.send(request("GET", "/", "Connection: Upgrade", "Upgrade: h2c") + request("CONNECT", "x"))
    assert [(await client.response()).status for _ in range(2)] == [200, 400]


async def test_pipelined_requests_wait_for_a_slow_call(server: EchoServer, client: Client) -> None:
    await client.send(echo_call(b"busy") + echo_call(b"2") + HELLO)
    await server.is_busy.wait()
    async with Client.connect(server.port) as other:
        assert (await other.request(echo_call(b"x"))).body == b"echo: x"
    server.may_respond.set()
    assert [(await client.response()).body for _ in range(3)] == [b"echo: busy", b"echo: 2", b"Hello"]


async def test_requests_after_connection_close_are_ignored(client: Client) -> None:
    await client.send(echo_call(b"1") + echo_call(b"2", "Connection: close") + echo_call(b"3"))
    assert (await client.response()).body == b"echo: 1"
    last = await client.response()
    assert (last.body, last.headers["connection"]) == (b"echo: 2", "close")
    assert await client.read_to_end() == b""


# Idle and busy connections


@pytest.fixture
async def short_keep_alive_server() -> AsyncIterator[EchoServer]:
    async with run_echo_server(_KEEP_ALIVE_SECONDS, deadline_seconds=2 * _KEEP_ALIVE_SECONDS) as opened:
        yield opened


async def test_slow_call_is_not_idle(short_keep_alive_server: EchoServer) -> None:
    async with Client.connect(short_keep_alive_server.port) as client:
        assert (await client.request(echo_call(b"x"))).status == 200
        await client.send(echo_call(b"busy"))
        await short_keep_alive_server.wait_for_deadline()
        short_keep_alive_server.may_respond.set()
        assert (await client.response()).body.endswith(b": busy")
        assert await client.read_to_end() == b""


@pytest.mark.parametrize("begun", [HELLO[:10], post("Content-Length: 10") + b"12345"], ids=["a head", "a body"])
async def test_connection_with_an_incomplete_request_is_not_idle(begun: bytes) -> None:
    rest = HELLO.removeprefix(begun) if begun in HELLO else b"67890"
    async with (
        run_echo_server(_KEEP_ALIVE_SECONDS) as server,
        Client.connect(server.port) as client,
        Client.connect(server.port) as idle,
    ):
        await client.send(echo_call(b"1") + begun)
        assert (await client.response()).body == b"echo: 1"
        assert (await idle.request(HELLO)).status == 200
        assert await idle.read_to_end() == b""
        assert (await client.request(rest)).status == 200


async def test_http_1_0_connection_stays_open_only_on_request(client: Client) -> None:
    for headers, expected in ((["Connection: keep-alive"], "keep-alive"), ([], "close")):
        response = await client.request(echo_call(b"x", *headers).replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert (response.headers["connection"], response.body) == (expected, b"echo: x")
    assert await client.read_to_end() == b""


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(["Connection: keep-alive, close"], id="keep-alive first"),
        pytest.param(["Connection: Close ,keep-alive"], id="close first"),
        pytest.param(["Connection: keep-alive", "Connection: close"], id="two headers"),
    ],
)
async def test_close_beside_keep_alive_closes(server: EchoServer, client: Client, headers: list[str]) -> None:
    response = await client.request(echo_call(b"1", *headers) + echo_call(b"2"))
    assert (response.headers["connection"], response.body) == ("close", b"echo: 1")
    assert await client.read_to_end() == b""
    assert server.bodies == [b"1"]


# Clients that don't read responses


async def test_client_that_does_not_read_is_disconnected() -> None:
    async with (
        run_echo_server(deadline_seconds=SHORT_DEADLINE_SECONDS) as server,
        Client.connect(server.port) as client,
    ):
        assert (await client.request(echo_call(b"x"))).status == 200
        [connection] = server.pool.connections
        await client.send(echo_call(b"huge"))
        await wait_for(lambda: connection not in server.pool.connections)
        with suppress(ConnectionError):
            assert len(await client.read_to_end()) < server.HUGE, "the whole response was waiting for it"


async def test_response_waits_until_the_previous_one_is_read() -> None:
    async with run_echo_server() as server, Client.connect(server.port) as client:
        await client.send(echo_call(b"huge"))
        await wait_for(lambda: server.pool.unread)
        await client.send(echo_call(b"next"))
        async with Client.connect(server.port) as other:
            assert (await other.request(echo_call(b"x"))).body == b"echo: x"
        assert server.bodies == [b"huge", b"x"], "the next request was begun before its time"
        assert len((await client.response()).body) == server.HUGE
        assert (await client.response()).body == b"echo: next"


# Disconnects and failing calls


async def test_half_closed_client_gets_its_pending_response(server: EchoServer, client: Client) -> None:
    await client.send(echo_call(b"busy"))
    await server.is_busy.wait()
    [connection] = server.pool.connections
    client.half_close()
    await server.serve_other_client()
    server.may_respond.set()
    response = await client.response()
    assert (response.headers["connection"], response.body) == ("close", b"echo: busy")
    assert await client.read_to_end() == b""
    await wait_for(lambda: connection not in server.pool.connections)
    await wait_for(lambda: not (server.pool.tasks or server.pool.request_bytes))


@pytest.mark.parametrize("leave", [Client.half_close, Client.reset])
async def test_request_knows_that_its_client_has_left(
    server: EchoServer, client: Client, leave: Callable[[Client], None]
) -> None:
    await client.send(echo_call(b"busy"))
    await server.is_busy.wait()
    await server.serve_other_client()
    assert not server.busy_request.has_left
    leave(client)
    await wait_for(lambda: server.busy_request.has_left)


@pytest.mark.parametrize(
    "begun",
    [b"", HELLO[:10], post("Content-Length: 10") + b"12345", post("Content-Length: 1", "Expect: 100-continue")],
    ids=["nothing", "part of a head", "part of a body", "head of a request with Expect"],
)
async def test_half_closed_client_with_an_incomplete_request_gets_no_response(
    server: EchoServer, client: Client, begun: bytes
) -> None:
    await client.send(begun)
    client.half_close()
    assert (await client.read_to_end()).replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"") == b""
    assert (server.bodies, server.pool.request_bytes, server.pool.receiving) == ([], 0, {})


@pytest.mark.parametrize(
    "begun",
    [echo_call(b"busy"), echo_call(b"huge") + echo_call(b"next"), post("Content-Length: 10") + b"12345"],
    ids=["during a call", "with an unread response", "during a body"],
)
async def test_client_that_disconnects_leaves_no_state(server: EchoServer, begun: bytes) -> None:
    pool = server.pool
    async with Client.connect(server.port) as gone:
        await gone.send(begun)
        await wait_for(lambda: server.is_busy.is_set() or pool.unread or pool.receiving)
        gone.reset()
    await wait_for(lambda: not pool.connections)
    server.may_respond.set()
    await wait_for(lambda: not (pool.tasks or pool.unread or pool.receiving or pool.request_bytes))
    assert b"next" not in server.bodies
    await server.serve_other_client()


async def test_exception_in_the_handler_closes_only_its_connection(server: EchoServer, client: Client) -> None:
    async with Client.connect(server.port) as other:
        assert (await other.request(echo_call(b"before"))).body == b"echo: before"
        await client.send(echo_call(b"fault"))
        with suppress(ConnectionError):
            assert await client.read_to_end() == b""
        assert (await other.request(echo_call(b"after"))).body == b"echo: after"
    assert server.pool.tasks == set()


# Stopping


@pytest.mark.parametrize("calls", [[b"busy"], [b"busy", b"sent ahead"]], ids=["one call", "pipelined calls"])
async def test_pending_calls_finish_when_the_server_stops(
    server: EchoServer, client: Client, calls: list[bytes]
) -> None:
    async with Client.connect(server.port) as idle, Client.connect(server.port) as silent:
        assert (await idle.request(echo_call(b"x"))).status == 200
        await client.send(b"".join(map(echo_call, calls)))
        await server.is_busy.wait()
        stopping = asyncio.create_task(server.http_server.stop(WAIT_SECONDS))
        assert await idle.read_to_end() == b""
        assert await silent.read_to_end() == b""
        server.may_respond.set()
        responses = [await client.response() for _ in calls]
    assert [response.body for response in responses] == [b"echo: " + call for call in calls]
    assert responses[-1].headers["connection"] == "close"
    assert await client.read_to_end() == b""
    assert await stopping == 0


async def test_call_is_cancelled_after_the_grace_period(server: EchoServer, client: Client) -> None:
    await client.send(echo_call(b"busy"))
    await server.is_busy.wait()
    assert await server.http_server.stop(0.01) == 1
    with suppress(ConnectionError):
        assert await client.read_to_end() == b""


async def test_draining_server_handles_queued_calls_before_it_closes_their_connection() -> None:
    async with run_echo_server() as server, Client.connect(server.port) as client:
        await client.send(echo_call(b"busy") + echo_call(b"next") + echo_call(b"last"))
        await server.is_busy.wait()
        server.http_server.drain()
        server.may_respond.set()
        responses = [await client.response() for _ in range(3)]
        assert [response.body for response in responses] == [b"echo: busy", b"echo: next", b"echo: last"]
        assert [response.headers.get("connection") for response in responses] == [None, None, "close"]
        assert await client.read_to_end() == b""


async def test_request_that_is_on_its_way_when_the_drain_ends_gets_a_response() -> None:
    async with run_echo_server() as server, Client.connect(server.port) as client:
        await wait_for(lambda: server.pool.connections)
        server.http_server.drain()
        stopping = asyncio.create_task(server.http_server.stop(600))
        await wait_for(lambda: server.pool.is_stopping)
        assert (await client.request(HELLO)).status == 200
        assert await stopping == 0


async def test_requests_in_the_backlog_get_a_response_when_the_drain_ends() -> None:
    async with run_echo_server() as server:
        server.http_server.drain()
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as client:
            client.sendall(HELLO)
            # The event loop has not run since, so the server has not accepted the connection.
            assert await server.http_server.stop(600) == 0
            assert client.recv(100).startswith(b"HTTP/1.1 200")
