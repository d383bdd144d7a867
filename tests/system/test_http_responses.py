"""HTTP responses of the real program: their headers, and the memory that they take."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.raw import Client, call, echo_call, port_of, request
from tickover.api.limits import MAX_BODY


@pytest.fixture(scope="session")
def token(program: Program) -> str:
    return program.sign_in("connections@example.test")


@pytest.fixture(scope="module")
def clock(program: Program, token: str) -> Any:
    return program.result("createTestClock", {}, token)["clock"]


Written = Callable[[str, Any], bytes]


def _advance(token: str, clock: Any, *headers: str, host: str = "localhost") -> bytes:
    params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
    return call("advanceTestClock", params, f"Authorization: Bearer {token}", *headers, host=host)


def _create(*headers: str) -> Written:
    """Return a creation. With a valid Idempotency-Key, a retry returns the same clock."""
    return lambda token, _: call("createTestClock", {}, f"Authorization: Bearer {token}", *headers)


def _post(body: bytes, *headers: str) -> Written:
    return lambda *_: echo_call(body, *headers)


def _changed(*changes: tuple[bytes, bytes]) -> Written:
    """Return a valid call with these replacements."""

    def written(token: str, clock: Any) -> bytes:
        text = _advance(token, clock)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return text

    return written


def _in_chunks(token: str, clock: Any) -> bytes:
    head, _, body = _advance(token, clock).partition(b"\r\n\r\n")
    length = b"Content-Length: %d" % len(body)
    return head.replace(length, b"Transfer-Encoding: chunked") + b"\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


REQUESTS = [
    pytest.param(_changed(), 200, id="valid call"),
    pytest.param(_changed((b"localhost", b"evil.example")), 400, id="other host"),
    pytest.param(_changed((b"Host: localhost\r\n", b"")), 400, id="no host"),
    pytest.param(_changed((b"application/json", b"text/plain")), 415, id="other content type"),
    pytest.param(_changed((b"localhost", b"evil.example"), (b"/json", b"/x")), 400, id="other host and content type"),
    pytest.param(_changed((b"application/json", b"Application/JSON; charset=utf-8")), 200, id="a long content type"),
    pytest.param(_changed((b"Content-Type: application/json\r\n", b"")), 415, id="no content type"),
    pytest.param(_changed((b"Bearer ", b"Bearer x")), 401, id="wrong token"),
    pytest.param(_changed((b"Authorization: ", b"X-Authorization: ")), 401, id="no token"),
    pytest.param(
        lambda token, clock: _advance(token, clock, f"Authorization: Bearer {token}"), 401, id="repeated Authorization"
    ),
    pytest.param(
        lambda token, clock: _advance(token, clock, "Origin: https://app.example.test"), 200, id="allowed origin"
    ),
    pytest.param(lambda token, clock: _advance(token, clock, "Origin: https://evil.example"), 200, id="other origin"),
    pytest.param(lambda token, clock: _advance(token, clock, "Connection: close"), 200, id="Connection: close"),
    pytest.param(_in_chunks, 200, id="chunked"),
    pytest.param(_changed((b"POST", b"GET")), 405, id="GET"),
    pytest.param(_changed((b"POST", b"OPTIONS")), 405, id="OPTIONS"),
    pytest.param(_changed((b"/rpc ", b"/rpc?x=1 ")), 200, id="query"),
    pytest.param(_changed((b"/rpc ", b"/rpc/ ")), 404, id="trailing slash"),
    pytest.param(_changed((b"HTTP/1.1", b"HTTP/1.0")), 200, id="HTTP/1.0"),
    pytest.param(_changed((b"advanceTestClock", b"advanceTestCLock")), 200, id="an unknown method"),
    pytest.param(_post(b'{"jsonrpc":"2.0","method":"nothing"}'), 204, id="a notification"),
    pytest.param(_post(b'{"jsonrpc":"2.0","id":1,'), 400, id="malformed JSON"),
    pytest.param(_post(b'{"jsonrpc":"2.0","id":1,"method":"nothing","params":"\xff"}'), 400, id="not UTF-8"),
    pytest.param(_post(b""), 400, id="an empty body"),
    pytest.param(_post(b'[{"jsonrpc":"2.0","id":1,"method":"nothing"},1]'), 200, id="a batch"),
    pytest.param(_post(b"[]"), 400, id="an empty batch"),
    pytest.param(_post(b'[{"jsonrpc":"2.0","method":"nothing"}]'), 204, id="a batch of notifications"),
    pytest.param(_post(b" " * (MAX_BODY + 1)), 413, id="too large"),
    pytest.param(_create("Idempotency-Key: k"), 200, id="with a key"),
    pytest.param(_create(f"IDEMPOTENCY-KEY: {'k' * 255}"), 200, id="with the longest key"),
    pytest.param(_create(f"Idempotency-Key: {'k' * 256}"), 200, id="with a key that is too long"),
    pytest.param(_create("Idempotency-Key:"), 200, id="with an empty key"),
    pytest.param(_create("Idempotency-Key: k", "Idempotency-Key: k"), 200, id="with two keys"),
    pytest.param(
        _post(b'[{"jsonrpc":"2.0","id":1,"method":"nothing"}]', "Idempotency-Key: k"), 400, id="a batch with a key"
    ),
    pytest.param(
        lambda token, clock: _advance(token, clock, "Idempotency-Key:"), 200, id="empty key on another method"
    ),
]


async def _whole_response(program: Program, written: bytes) -> tuple[int, list[bytes], bytes]:
    """Return status, headers and body."""
    async with Client.connect(port_of(program)) as client:
        await client.send(written)
        head, body = await client.raw_response()
        if b"\r\nconnection: close\r\n" not in head:
            # The response is complete, and the connection is reusable.
            assert (await client.request(request("GET", "/healthz"))).body == b"alive\n"
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return int(first.split()[1]), lines, body


@pytest.mark.parametrize(("written", "status"), REQUESTS)
async def test_responses_have_all_headers(
    program: Program, token: str, clock: Any, written: Written, status: int
) -> None:
    found, headers, body = await _whole_response(program, written(token, clock))
    assert found == status
    names = [header.partition(b":")[0] for header in headers]
    assert len(names) == len(set(names))
    assert {b"x-request-id", b"date"} <= {*names}
    assert {b"x-content-type-options: nosniff", b"cache-control: no-store"} <= {*headers}
    assert (b"content-length" in names) == (status != 204)
    assert status in (204, 404) or json.loads(body)


async def test_blanks_around_an_idempotency_key_are_ignored(program: Program, token: str, clock: Any) -> None:
    made = set()
    async with Client.connect(port_of(program)) as client:
        for key in ("the same", "  the same\t ", "The same"):
            response = await client.request(_create(f"Idempotency-Key: {key}")(token, clock))
            made.add((key.strip(), response.json["result"]["clock"]["id"]))
    assert len(made) == len({id for _, id in made}) == 2


async def test_call_with_expect_100_continue_gets_the_same_response(program: Program, token: str, clock: Any) -> None:
    head, _, body = _advance(token, clock, "Expect: 100-continue").partition(b"\r\n\r\n")
    async with Client.connect(port_of(program)) as client:
        assert (await client.request(head + b"\r\n\r\n")).status == 100
        assert (await client.request(body)).json == json.loads(program.post(json.loads(body), token).body)


# Memory


async def test_endless_pipelining_does_not_fill_memory(program: Program) -> None:
    """The client reads more slowly than it sends, so its requests must wait in its own buffers."""
    before = most = _resident(program)
    async with Client.connect(port_of(program)) as client:
        sending = asyncio.create_task(client.send(*[call("none", {}) * 200] * 1000))
        for _ in range(1000):
            assert (await client.response()).status == 200
            most = max(most, _resident(program))
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending
        # A normal end would wait until the server gives up, because it doesn't read the rest.
        client.abort()
    assert most - before < 40 * 2**20


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(call("createTestClock", {"x": "y" * 900_000}), id="no token"),
        pytest.param(call("none", {"x": "y" * 900_000}), id="unknown method"),
        pytest.param(call("loginByEmailLink", {"token": "y" * 900_000}), id="unknown link"),
        pytest.param(call("logout", {"x": "y" * 900_000}, "Authorization: Bearer tko_" + "y" * 43), id="unknown token"),
    ],
)
async def test_rejected_calls_do_not_leak_memory(program: Program, written: bytes) -> None:
    async with Client.connect(port_of(program)) as client:
        for _ in range(10):
            await client.request(written)
        before = _resident(program)
        for _ in range(40):
            await client.request(written)
    assert _resident(program) - before < 20 * 2**20, "a leak would take 36 MB"


def _resident(program: Program) -> int:
    """Return the resident memory of the server in bytes."""
    return int(Path(f"/proc/{program.process.pid}/statm").read_text().split()[1]) * 4096
