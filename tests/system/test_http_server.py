"""HTTP of the real program: slow, large and malformed requests, Host, proxies and graceful stop.

The deadline of 30 seconds is too long for tests, so some tests use an in-process server with a short deadline.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.deploy import accepts_connections
from tests.support.mail_servers import MailServer, Silence, mail_server
from tests.support.program import Program, code_params, verify_params, wait_until
from tests.support.raw import (
    HELLO,
    SHORT_DEADLINE_SECONDS,
    WAIT_SECONDS,
    Client,
    EchoServer,
    call,
    port_of,
    post,
    request,
    run_echo_server,
    wait_until_disconnected,
)
from tickover.api.limits import MAX_BODY, MAX_HEAD

# Slow clients


@pytest.fixture
async def server() -> AsyncIterator[EchoServer]:
    async with run_echo_server(deadline_seconds=SHORT_DEADLINE_SECONDS) as opened:
        yield opened


CALL_OF_10 = post("Content-Length: 10")
LONG_CALL = post("Content-Length: 1000000")
CHUNKED = request("POST", "/", "Transfer-Encoding: chunked")

TOO_SLOW = {
    "nothing at all": (b"", b""),
    "the head is never finished": (b"GET / HTTP/1.1\r\nHost: loc", b""),
    "the first line is trickled": (b"GET /", b"a"),
    "the head is trickled line by line": (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
    "blank lines are trickled": (b"", b"\r\n"),
    "the body of a call is never begun": (CALL_OF_10, b""),
    "the body of a call is trickled": (LONG_CALL, b"x"),
    "chunks are trickled": (CHUNKED, b"1\r\nx\r\n"),
    "the last chunk never comes": (CHUNKED + b"5\r\nHello\r\n", b""),
    "trailers are trickled": (CHUNKED + b"0\r\n", b"a: b\r\n"),
    "a blank line after a response": (HELLO + b"\r\n", b""),
    "the head of a second request is trickled": (HELLO + b"GET / HTTP/1.1\r\nHost: ", b"a"),
    "the body of a second request is never finished": (HELLO + CALL_OF_10 + b"12345", b""),
}


async def _end_of(server: EchoServer, begun: bytes, trickle: bytes) -> str:
    """Return the first line that a slow client gets before it is disconnected. Meanwhile, another client is served."""
    async with Client.connect(server.port) as slow, Client.connect(server.port) as fast:
        # Its first request has a deadline too, even if this process pauses.
        assert (await fast.request(HELLO)).status == 200
        if begun.startswith(HELLO):
            begun = begun.removeprefix(HELLO)
            assert (await slow.request(HELLO)).status == 200
        await slow.send(begun)
        return (await wait_until_disconnected(slow, trickle, fast)).partition(b"\r\n")[0].decode()


async def test_slow_client_is_disconnected_and_others_are_served(server: EchoServer) -> None:
    """All cases run concurrently, because each waits for the deadline."""
    async with asyncio.timeout(WAIT_SECONDS):
        ends = await asyncio.gather(*(_end_of(server, *case) for case in TOO_SLOW.values()))
    assert dict(zip(TOO_SLOW, ends, strict=True)) == dict.fromkeys(TOO_SLOW, "HTTP/1.1 408 Request Timeout")


async def test_idle_connection_has_no_request_deadline(server: EchoServer) -> None:
    async with Client.connect(server.port) as client:
        for asked in (HELLO, CALL_OF_10 + b"1234567890"):
            assert (await client.request(asked)).status == 200
            await server.wait_for_deadline()
        assert (await client.request(HELLO)).status == 200


# The size of a head, against the real program


@pytest.fixture
async def client(program: Program) -> AsyncIterator[Client]:
    async with Client.connect(port_of(program)) as opened:
        yield opened
    assert program.request("GET", "/healthz").status == 200, "it no longer lives"


def _pieces(text: bytes, size: int) -> list[bytes]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _head_of(size: int) -> bytes:
    """Return a head of this size."""
    empty = request("GET", "/healthz", "X-Long: ")
    return empty.replace(b"X-Long: ", b"X-Long: " + b"a" * (size - len(empty)))


@pytest.mark.parametrize("piece", [MAX_HEAD, 1000], ids=["in one piece", "in many"])
async def test_head_at_the_limit_is_accepted(client: Client, piece: int) -> None:
    assert (await client.request(*_pieces(_head_of(MAX_HEAD), piece))).status == 200


# Separators between names and values are not always counted, so exceed the limit by more.
TOO_LARGE = MAX_HEAD + 200


@pytest.mark.parametrize("piece", [TOO_LARGE, 1000], ids=["in one piece", "in many"])
async def test_head_over_the_limit_is_rejected(client: Client, piece: int) -> None:
    response = await client.request(*_pieces(_head_of(TOO_LARGE), piece))
    assert response.status == 431
    assert response.headers["connection"] == "close"
    assert await client.read_to_end() == b""


@pytest.mark.parametrize(("count", "status"), [(200, 200), (300, 431)])
async def test_too_many_small_headers_are_rejected(client: Client, count: int, status: int) -> None:
    """They would need much more memory than their bytes."""
    assert (await client.request(request("GET", "/healthz", *["a:"] * count))).status == status


@pytest.mark.parametrize(
    ("begun", "again"),
    [
        pytest.param(b"GET /", b"a" * 10_000, id="an address"),
        pytest.param(b"GET / HTTP/1.1\r\nX: ", b"a" * 10_000, id="a header line"),
        pytest.param(b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 2000, id="headers"),
        pytest.param(post("Transfer-Encoding: chunked") + b"0\r\n", b"a: b\r\n" * 2000, id="trailers"),
        pytest.param(post("Transfer-Encoding: chunked") + b"0\r\nX: ", b"a" * 10_000, id="a trailer line"),
    ],
)
async def test_endless_input_is_disconnected(client: Client, begun: bytes, again: bytes) -> None:
    await client.send(begun)
    most = 16 * MAX_BODY
    assert await client.send_until_disconnected(again, most) < most


# The size of a body


def _chunks(body: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in _pieces(body, 50_000)) + b"0\r\n\r\n"


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
@pytest.mark.parametrize(
    ("size", "status"),
    [(MAX_BODY, 401), (MAX_BODY + 1, 413), (8 * MAX_BODY, 413)],
    ids=["at the limit", "one byte over", "far over"],
)
async def test_too_large_body_gets_a_readable_response(client: Client, size: int, status: int, chunked: bool) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"nothing"}'.ljust(size)
    if chunked:
        response = await client.request(post("Transfer-Encoding: chunked"), *_pieces(_chunks(body), 100_000))
    else:
        response = await client.request(post(f"Content-Length: {size}"), *_pieces(body, 100_000))
    reason = {401: "UNAUTHENTICATED", 413: "BODY_TOO_LARGE"}[status]
    assert (response.status, response.json["error"]["data"]["reason"]) == (status, reason)


@pytest.mark.parametrize("size", [MAX_BODY + 1, 10**12])
async def test_expect_100_continue_with_a_too_large_body_is_rejected(client: Client, size: int) -> None:
    response = await client.request(post(f"Content-Length: {size}", "Expect: 100-continue"))
    assert (response.status, response.json["error"]["data"]["reason"]) == (413, "BODY_TOO_LARGE")


# Malformed HTTP


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(b"FETCH /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", id="an unknown method"),
        pytest.param(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", id="CONNECT"),
        pytest.param(b"GET /health\xffz HTTP/1.1\r\nHost: localhost\r\n\r\n", id="invalid UTF-8"),
        pytest.param(request("GET", "/healthz", "a : c"), id="a blank before the colon"),
        pytest.param(request("GET", "/healthz", "a: b\x00c"), id="a null byte"),
        pytest.param(request("GET", "/healthz", "a: b\rc: d"), id="half a line break"),
        pytest.param(post("Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n", id="two kinds of length"),
        pytest.param(post("Content-Length: 2", "Content-Length: 5") + b"{}", id="two lengths"),
        pytest.param(post("Content-Length: +2") + b"{}", id="a length with a sign"),
        pytest.param(post("Content-Length: 99999999999999999999") + b"{}", id="huge length"),
        pytest.param(post("Transfer-Encoding: chunked, gzip") + b"{}", id="chunks that are not the last coding"),
        pytest.param(post("Transfer-Encoding: chunked") + b"-2\r\n{}\r\n0\r\n\r\n", id="a chunk below 0"),
        pytest.param(post("Transfer-Encoding: chunked") + b"1\r\n{}\r\n0\r\n\r\n", id="a chunk longer than it says"),
        pytest.param(post("Transfer-Encoding: chunked") + b"f" * 17 + b"\r\n", id="huge chunk"),
    ],
)
async def test_malformed_http_gets_400_and_closes(client: Client, written: bytes) -> None:
    response = await client.request(written)
    assert (response.status, response.headers["connection"]) == (400, "close")
    assert await client.read_to_end() == b""


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(post("Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", id="two codings"),
        pytest.param(post("Transfer-Encoding: gzip", "Transfer-Encoding: chunked") + b"0\r\n\r\n", id="two headers"),
        pytest.param(
            post("Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n", id="in HTTP/1.0"
        ),
    ],
)
async def test_transfer_codings_other_than_chunked_are_rejected(client: Client, written: bytes) -> None:
    response = await client.request(written)
    assert (response.status, response.headers["connection"]) == (501, "close")
    assert await client.read_to_end() == b""


@pytest.mark.parametrize(
    "head",
    [pytest.param(header, id=header) for header in ("Transfer-Encoding: chunked", "Transfer-Encoding: gzip")],
)
async def test_broken_request_to_the_bank_gets_the_error_of_its_protocol(program: Program, head: str) -> None:
    responses = []
    for path in ("/plaid/accounts/get", "/simplefin/accounts"):
        async with Client.connect(port_of(program)) as client:
            responses.append(await client.request(request("POST", path, head) + b"not a chunk\r\n"))
    plaid, simplefin = responses
    assert (plaid.status, plaid.json["error_type"]) == (400, "INVALID_REQUEST")
    assert plaid.json["request_id"] == plaid.headers["x-request-id"]
    assert (simplefin.status, simplefin.headers["content-type"]) == (400, "text/plain; charset=utf-8")


# The Host header, over the wire


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("localhost", 200, id="right host"),
        pytest.param(None, 400, id="missing"),
        pytest.param("localhost\r\nHost: evil.example", 400, id="right and other host"),
        pytest.param("evil.example\r\nHost: localhost", 400, id="other and right host"),
    ],
)
async def test_program_rejects_another_host(client: Client, host: str | None, status: int) -> None:
    response = await client.request(request("GET", "/login", host=host))
    assert response.status == status
    if status == 400:
        assert response.json["error"]["data"]["reason"] == "INVALID_REQUEST"


# Stopping


async def _call(port: int, method: str, params: Any, *headers: str) -> Any:
    async with Client.connect(port) as client:
        return (await client.request(call(method, params, *headers))).json


async def _create_until_gone(port: int, token: str, responses: list[Any]) -> None:
    async with Client.connect(port) as client:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                responses.append(
                    (await client.request(call("createTestClock", {}, f"Authorization: Bearer {token}"))).json
                )


def _count_clocks(program: Program) -> int:
    database = apsw.Connection(str(program.data / "tickover.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        [[count]] = database.execute("select count(*) from clocks")
    finally:
        database.close()
    return int(count)


async def test_connections_before_the_signal_get_a_response(tmp_path: Path) -> None:
    async with mail_server() as mail:
        with Program(tmp_path, TICKOVER_MAIL_URL=f"smtp://{mail.address}") as program:
            await _stop_during_calls(program, mail)


async def _stop_during_calls(program: Program, mail: MailServer) -> None:
    port = port_of(program)
    assert (await _call(port, "sendLoginCodeEmail", code_params("ana@example.test")))["result"] == {"message": "ok"}
    verify = verify_params("ana@example.test", mail.emails[0].code)
    token = (await _call(port, "loginByEmailVerification", verify))["result"]["token"]

    silence = mail.instead[MailServer.END_OF_DATA] = Silence("250 taken")
    guests = [f"guest{number}@example.test" for number in range(10)]
    created: list[Any] = []
    async with asyncio.TaskGroup() as tasks:
        sends = [tasks.create_task(_call(port, "sendLoginCodeEmail", code_params(guest))) for guest in guests]
        # The mail server is slow while clocks are created, and a call that sends an email waits only some seconds.
        await asyncio.to_thread(wait_until, lambda: len(mail.emails) == 1 + len(guests))
        for _ in range(8):
            tasks.create_task(_create_until_gone(port, token, created))
        await asyncio.to_thread(wait_until, lambda: len(created) >= 8)
        program.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(wait_until, lambda: not accepts_connections(port))
        assert not any(send.done() for send in sends)
        silence.over.set()

    assert [send.result()["result"] for send in sends] == [{"message": "ok"}] * len(guests)
    assert await asyncio.to_thread(program.process.wait, WAIT_SECONDS) == 0
    assert "Traceback" not in program.output
    assert all("result" in response for response in created)
    assert _count_clocks(program) == len(created)
