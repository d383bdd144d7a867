"""Connections: answers come whole and in order, whoever is idle, slow or gone, and however a request is written."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.raw import HELLO, WAIT_SECONDS, Client, Door, call, open_door, port_of, post, request
from tests.support.program import Program
from tickover.api.limits import MAX_BODY

_KEEP_ALIVE_SECONDS = 0.2
TWICE = ("X-A: 1", "X-A: 1")
"""A harmless header that is repeated."""


def say(body: bytes, *headers: str) -> bytes:
    """A call that the door of these tests takes at its word."""
    return post(f"Content-Length: {len(body)}", *headers) + body


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    """One that closes nothing for being idle, so that whatever it closes has another cause."""
    async with open_door(keep_alive_seconds=60) as opened:
        yield opened


@pytest.fixture
async def client(door: Door) -> AsyncIterator[Client]:
    async with Client.connect(door.port) as opened:
        yield opened


# How a request may be written


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        pytest.param(say(b"x"), b"said: x", id="an ordinary call"),
        pytest.param(say(b"x", "X-A: 1", "X-B: 1"), b"said: x", id="with other headers"),
        pytest.param(say(b"x", "Connection: close"), b"said: x", id="the last on its connection"),
        pytest.param(say(b""), b"said: ", id="nothing said"),
        pytest.param(say(bytes(MAX_BODY)), b"said: " + bytes(MAX_BODY), id="as much as may be said"),
        pytest.param(say(b"x", *TWICE), b"said: x", id="a header twice"),
        pytest.param(say(b"x", "X-A: 1", "x-a: 2"), b"said: x", id="a header twice, in another case"),
        pytest.param(post("Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n", b"said: x", id="in chunks"),
        pytest.param(post("Transfer-Encoding:  Chunked ") + b"1\r\nx\r\n0\r\n\r\n", b"said: x", id="in Chunks"),
        pytest.param(post(), b"said: ", id="without a length"),
        pytest.param(say(b"x").replace(b"/rpc", b"/rpc?x=1"), b"said: x", id="with a query"),
        pytest.param(say(b"x").replace(b"/rpc", b"http://localhost/rpc"), b"said: x", id="to a whole URL"),
        pytest.param(say(b"x").replace(b"/rpc", b"http://localhost"), b"Hello", id="to a URL without a path"),
        pytest.param(say(b"x").replace(b"/rpc", b"/%72pc"), b"said: x", id="to an escaped path"),
        pytest.param(say(b"x").replace(b"/rpc", b"/rpc/"), b"Hello", id="to another path"),
        pytest.param(say(b"x").replace(b"POST", b"PUT"), b"said: x", id="by another method"),
        pytest.param(say(b"x").replace(b"HTTP/1.1", b"HTTP/1.0"), b"said: x", id="in HTTP/1.0"),
        pytest.param(say(b"x", "Connection: Upgrade", "Upgrade: h2c"), b"said: x", id="with an offer"),
    ],
)
async def test_request_variants_get_a_response(client: Client, written: bytes, answer: bytes) -> None:
    assert await client.ask(written) == (200, {"content-length": str(len(answer))} | _last(written), answer)


def _last(written: bytes) -> dict[str, str]:
    return {"connection": "close"} if b"Connection: close" in written or b"HTTP/1.0" in written else {}


async def test_response_to_head_has_no_body(client: Client) -> None:
    await client.say(request("HEAD", "/") + HELLO)
    head, _, rest = (await client.raw_until(b"Hello")).partition(b"\r\n\r\n")
    assert b"content-length: 5" in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_expect_100_continue_gets_100(client: Client) -> None:
    assert (await client.ask(post("Content-Length: 1", "Expect: 100-continue"))).status == 100
    assert (await client.ask(b"x")).body == b"said: x"


# Bodies in pieces


@pytest.mark.parametrize("size", [1, 7, 1000], ids=["byte by byte", "a few bytes at a time", "in one piece"])
async def test_body_may_arrive_in_many_packets(door: Door, client: Client, size: int) -> None:
    body = b'{"a": "body of many words"}'
    await client.say(post(f"Content-Length: {len(body)}"))
    async with Client.connect(door.port) as other:
        for start in range(0, len(body), size):
            # Whatever was said before this is answered has been read.
            assert (await other.ask(HELLO)).status == 200
            await client.say(body[start : start + size])
    assert (await client.answer()).body == b"said: " + body


async def test_head_may_arrive_in_many_packets(door: Door, client: Client) -> None:
    async with Client.connect(door.port) as other:
        for place in range(0, len(say(b"x")), 3):
            assert (await other.ask(HELLO)).status == 200
            await client.say(say(b"x")[place : place + 3])
    assert (await client.answer()).body == b"said: x"


async def test_rejected_large_body_is_discarded(client: Client) -> None:
    refused = request("POST", "/refused", f"Content-Length: {MAX_BODY}") + bytes(MAX_BODY)
    for _ in range(2):
        assert (await client.ask(refused)).status == 405
        assert (await client.ask(say(b"x"))).body == b"said: x"


# Many on one connection


async def test_connection_is_reused_for_many_calls(client: Client) -> None:
    for number in range(20):
        body = b"%d" % number
        assert (await client.ask(say(body, *TWICE[number % 3 :]))).body.endswith(b": " + body)


@pytest.mark.parametrize(
    ("requests", "answers"),
    [
        pytest.param([say(b"1"), say(b"2")], [b"said: 1", b"said: 2"], id="two calls"),
        pytest.param([say(b"1"), say(b"2"), say(b"3")], [b"said: 1", b"said: 2", b"said: 3"], id="three calls"),
        pytest.param([say(b"1"), HELLO], [b"said: 1", b"Hello"], id="a call and a page"),
        pytest.param([HELLO, say(b"1")], [b"Hello", b"said: 1"], id="a page and a call"),
        pytest.param([say(b"1"), HELLO, say(b"2")], [b"said: 1", b"Hello", b"said: 2"], id="a page between calls"),
        pytest.param([say(b""), say(b"")], [b"said: ", b"said: "], id="calls without a body"),
        pytest.param([say(b"1"), say(b"2", *TWICE)], [b"said: 1", b"said: 2"], id="a call and an odd one"),
    ],
)
async def test_pipelined_requests_get_responses_in_order(
    client: Client, requests: list[bytes], answers: list[bytes]
) -> None:
    for _ in range(2):
        await client.say(b"".join(requests))
        assert [(await client.answer()).body for _ in requests] == answers
    assert (await client.ask(say(b"at last"))).body == b"said: at last"


async def test_pipelined_requests_wait_for_a_slow_call(door: Door, client: Client) -> None:
    await client.say(say(b"busy") + say(b"2") + HELLO)
    await door.is_busy.wait()
    async with Client.connect(door.port) as other:
        assert (await other.ask(say(b"x"))).body == b"said: x"
    door.may_answer.set()
    assert [(await client.answer()).body for _ in range(3)] == [b"said: busy", b"said: 2", b"Hello"]


async def test_requests_after_connection_close_are_ignored(client: Client) -> None:
    await client.say(say(b"1") + say(b"2", "Connection: close") + say(b"3"))
    assert (await client.answer()).body == b"said: 1"
    last = await client.answer()
    assert (last.body, last.headers["connection"]) == (b"said: 2", "close")
    assert await client.end() == b""


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(say(b"x", "Connection: close"), id="the client says so"),
        pytest.param(say(b"x").replace(b"HTTP/1.1", b"HTTP/1.0"), id="in HTTP/1.0"),
    ],
)
async def test_connection_closes_on_request(client: Client, written: bytes) -> None:
    answer = await client.ask(written)
    assert (answer.headers["connection"], answer.body[-3:]) == ("close", b": x")
    assert await client.end() == b""


# Idle and busy connections


@pytest.fixture
async def closing_door() -> AsyncIterator[Door]:
    """One that closes idle connections before the time for a request is over."""
    async with open_door(_KEEP_ALIVE_SECONDS) as opened:
        yield opened


async def test_idle_connection_closes_after_its_timeout(closing_door: Door) -> None:
    loop = asyncio.get_running_loop()
    async with Client.connect(closing_door.port) as client:
        for number in range(3):
            asked = loop.time()
            assert (await client.ask(say(b"x"))).status == 200, f"closed after {number} answers"
        assert await client.end() == b""
        assert loop.time() - asked >= _KEEP_ALIVE_SECONDS


async def test_active_connection_stays_open_longer(closing_door: Door) -> None:
    async with Client.connect(closing_door.port) as idle, Client.connect(closing_door.port) as used:
        assert (await idle.ask(say(b"x"))).status == 200
        closed = asyncio.create_task(idle.end())
        while not closed.done():
            assert (await used.ask(say(b"x"))).status == 200
            await asyncio.wait([closed], timeout=_KEEP_ALIVE_SECONDS / 10)
        assert await closed == b""
        assert (await used.ask(say(b"x"))).status == 200


async def test_slow_call_is_not_idle(closing_door: Door) -> None:
    async with Client.connect(closing_door.port) as client:
        assert (await client.ask(say(b"x"))).status == 200
        await client.say(say(b"busy"))
        await closing_door.outlast_the_deadline()
        closing_door.may_answer.set()
        assert (await client.answer()).body.endswith(b": busy")
        assert await client.end() == b""


async def test_deadline_of_the_next_request_starts_after_the_call(door: Door, client: Client) -> None:
    await client.say(say(b"busy") + post("Content-Length: 2") + b"{")
    await door.is_busy.wait()
    await door.outlast_the_deadline()
    door.may_answer.set()
    assert (await client.answer()).body == b"said: busy"
    assert (await client.answer()).status == 408
    assert await client.end() == b""


@pytest.mark.parametrize("begun", [HELLO[:10], post("Content-Length: 10") + b"12345"], ids=["a head", "a body"])
async def test_connection_with_an_incomplete_request_is_not_idle(begun: bytes) -> None:
    rest = HELLO.removeprefix(begun) if begun in HELLO else b"67890"
    async with (
        open_door(_KEEP_ALIVE_SECONDS, deadline_seconds=WAIT_SECONDS) as door,
        Client.connect(door.port) as client,
        Client.connect(door.port) as idle,
    ):
        await client.say(say(b"1") + begun)
        assert (await client.answer()).body == b"said: 1"
        assert (await idle.ask(HELLO)).status == 200
        assert await idle.end() == b""
        assert (await client.ask(rest)).status == 200


@pytest.mark.parametrize("asked", [True, False])
async def test_http_1_0_connection_stays_open_only_on_request(client: Client, asked: bool) -> None:
    written = say(b"x", *["Connection: keep-alive"] * asked).replace(b"HTTP/1.1", b"HTTP/1.0")
    answer = await client.ask(written)
    assert answer.headers["connection"] == ("keep-alive" if asked else "close")
    if asked:
        assert (await client.ask(written)).body == b"said: x"
    else:
        assert await client.end() == b""


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(["Connection: keep-alive, close"], id="keep-alive first"),
        pytest.param(["Connection: Close ,keep-alive"], id="close first"),
        pytest.param(["Connection: keep-alive", "Connection: close"], id="two headers"),
    ],
)
@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
async def test_close_beside_keep_alive_closes(door: Door, client: Client, headers: list[str], version: bytes) -> None:
    answer = await client.ask(say(b"1", *headers).replace(b"HTTP/1.1", version) + say(b"2"))
    assert (answer.headers["connection"], answer.body) == ("close", b"said: 1")
    assert await client.end() == b""
    assert door.bodies == [b"1"]


@pytest.mark.parametrize("rest", [b"", b"\r\n"], ids=["in one packet", "after a blank line"])
@pytest.mark.parametrize("body", [b"1", b""], ids=["with a body", "without a body"])
@pytest.mark.parametrize("option", ["close, Upgrade", "Upgrade, close"])
async def test_requests_after_the_last_one_with_an_upgrade_are_ignored(
    door: Door, client: Client, option: str, body: bytes, rest: bytes
) -> None:
    last = say(body, f"Connection: {option}", "Upgrade: h2c")
    answer = await client.ask(last + rest + say(b"2") + say(b"3", "Connection: Upgrade", "Upgrade: h2c") + say(b"4"))
    assert (answer.headers["connection"], answer.body) == ("close", b"said: " + body)
    assert await client.end() == b""
    assert door.bodies == [body]


# Clients that do not take their answers


@pytest.mark.parametrize("keep_alive_seconds", [_KEEP_ALIVE_SECONDS, 60], ids=["idle sooner", "idle later"])
async def test_client_that_does_not_read_is_disconnected(keep_alive_seconds: float) -> None:
    async with open_door(keep_alive_seconds) as door, Client.connect(door.port) as client:
        assert (await client.ask(say(b"x"))).status == 200
        [connection] = door.pool.connections
        await client.say(say(b"huge"))
        await door.until(lambda: connection not in door.pool.connections)
        with suppress(ConnectionError):
            assert len(await client.end()) < door.HUGE, "the whole answer was waiting for it"


async def _ask_twice_and_take_nothing(door: Door, client: Client) -> None:
    await client.say(say(b"huge"))
    await door.until(lambda: door.pool.unread)
    await client.say(say(b"next"))


async def test_response_waits_until_the_previous_one_is_read() -> None:
    # On a busy machine it takes long to take so much.
    async with open_door(deadline_seconds=WAIT_SECONDS) as door, Client.connect(door.port) as client:
        await _ask_twice_and_take_nothing(door, client)
        async with Client.connect(door.port) as other:
            assert (await other.ask(say(b"x"))).body == b"said: x"
        assert door.bodies == [b"huge", b"x"], "the next request was begun before its time"
        assert len((await client.answer()).body) == door.HUGE
        assert (await client.answer()).body == b"said: next"


# Clients that go away, and calls that fail


async def test_half_closed_client_gets_its_pending_response(door: Door, client: Client) -> None:
    await client.say(say(b"busy"))
    await door.is_busy.wait()
    [connection] = door.pool.connections
    client.half_close()
    await door.serve_another()
    door.may_answer.set()
    answer = await client.answer()
    assert (answer.headers["connection"], answer.body) == ("close", b"said: busy")
    assert await client.end() == b""
    await door.until(lambda: connection not in door.pool.connections)
    assert (door.pool.tasks, door.pool.request_bytes) == (set(), 0)


async def test_half_closed_client_gets_all_pipelined_responses(door: Door, client: Client) -> None:
    await client.say(say(b"busy") + say(b"2") + HELLO + post("Content-Length: 10") + b"12345")
    client.half_close()
    await door.is_busy.wait()
    door.may_answer.set()
    assert [(await client.answer()).body for _ in range(3)] == [b"said: busy", b"said: 2", b"Hello"]
    assert await client.end() == b""
    await door.until(lambda: not door.pool.request_bytes)
    assert door.bodies == [b"busy", b"2"]


async def test_half_closed_client_gets_a_long_response() -> None:
    async with open_door(deadline_seconds=WAIT_SECONDS) as door, Client.connect(door.port) as client:
        await client.say(say(b"huge"))
        client.half_close()
        await door.until(lambda: door.pool.unread)
        assert len((await client.answer()).body) == door.HUGE
        assert await client.end() == b""


@pytest.mark.parametrize(
    "begun",
    [b"", HELLO[:10], post("Content-Length: 10") + b"12345", post("Content-Length: 1", "Expect: 100-continue")],
    ids=["nothing", "part of a head", "part of a body", "head of a request with Expect"],
)
async def test_half_closed_client_with_an_incomplete_request_gets_no_response(
    door: Door, client: Client, begun: bytes
) -> None:
    await client.say(begun)
    client.half_close()
    assert (await client.end()).replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"") == b""
    assert (door.bodies, door.pool.request_bytes, door.pool.receiving) == ([], 0, {})


async def test_incomplete_request_of_a_half_closed_client_is_dropped(door: Door, client: Client) -> None:
    await client.say(say(b"busy") + post("Content-Length: 10") + b"12345")
    await door.is_busy.wait()
    client.half_close()
    await door.serve_another()
    assert (door.pool.request_bytes, door.pool.receiving) == (4, {})
    door.may_answer.set()
    assert (await client.answer()).body == b"said: busy"
    assert await client.end() == b""


async def test_half_closed_client_gets_its_response_when_the_server_stops(door: Door, client: Client) -> None:
    await client.say(say(b"busy"))
    await door.is_busy.wait()
    client.half_close()
    stopping = asyncio.create_task(door.server.stop(WAIT_SECONDS))
    door.may_answer.set()
    assert (await client.answer()).body == b"said: busy"
    assert await stopping == 0


async def test_disconnected_client_leaves_no_state(door: Door) -> None:
    async with Client.connect(door.port) as gone, asyncio.timeout(WAIT_SECONDS):
        await gone.say(say(b"busy"))
        await door.is_busy.wait()
        [task], [connection] = door.pool.tasks, door.pool.connections
        gone.reset()
    await door.until(lambda: connection not in door.pool.connections)
    door.may_answer.set()
    async with asyncio.timeout(WAIT_SECONDS):
        await task
    assert (door.pool.tasks, door.pool.request_bytes) == (set(), 0)
    async with Client.connect(door.port) as other:
        assert (await other.ask(say(b"x"))).body == b"said: x"


async def test_client_that_disconnects_with_an_unread_response_leaves_no_state(door: Door) -> None:
    async with Client.connect(door.port) as gone:
        await _ask_twice_and_take_nothing(door, gone)
        gone.abort()
    await door.until(lambda: not door.pool.unread)
    assert (door.pool.tasks, door.pool.request_bytes) == (set(), 0)
    assert b"next" not in door.bodies


async def test_client_that_disconnects_during_a_body_leaves_no_state(door: Door) -> None:
    async with Client.connect(door.port) as gone:
        await gone.say(post("Content-Length: 10") + b"12345")
        await door.until(lambda: door.pool.receiving)
    await door.until(lambda: not door.pool.receiving)
    assert (door.bodies, door.pool.tasks, door.pool.request_bytes) == ([], set(), 0)


async def test_exception_in_the_handler_closes_only_its_connection(door: Door, client: Client) -> None:
    async with Client.connect(door.port) as other:
        assert (await other.ask(say(b"before"))).body == b"said: before"
        await client.say(say(b"fault"))
        with suppress(ConnectionError):
            assert await client.end() == b""
        assert (await other.ask(say(b"after"))).body == b"said: after"
    assert door.pool.tasks == set()


# Stopping


async def test_pending_calls_finish_when_the_server_stops(door: Door, client: Client) -> None:
    async with Client.connect(door.port) as idle, Client.connect(door.port) as silent:
        assert (await idle.ask(say(b"x"))).status == 200
        await client.say(say(b"busy") + say(b"sent ahead"))
        await door.is_busy.wait()
        stopping = asyncio.create_task(door.server.stop(WAIT_SECONDS))
        assert await idle.end() == b""
        assert await silent.end() == b""
        door.may_answer.set()
        assert (await client.answer()).body == b"said: busy"
        answer = await client.answer()
    assert (answer.headers["connection"], answer.body) == ("close", b"said: sent ahead")
    assert await client.end() == b""
    assert await stopping == 0


async def test_arriving_request_finishes_when_the_server_stops(door: Door, client: Client) -> None:
    await client.say(post("Content-Length: 10") + b"12345")
    await door.until(lambda: door.pool.receiving)
    stopping = asyncio.create_task(door.server.stop(WAIT_SECONDS))
    answer = await client.ask(b"67890")
    assert (answer.headers["connection"], answer.body) == ("close", b"said: 1234567890")
    assert await stopping == 0


async def test_call_is_cancelled_after_the_grace_period(door: Door, client: Client) -> None:
    await client.say(say(b"busy"))
    await door.is_busy.wait()
    assert await door.server.stop(0.01) == 1
    with suppress(ConnectionError):
        assert await client.end() == b""


# The real program's answers


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("short")
    with Program(folder, TICKOVER_CORS_ORIGINS="https://app.example.test") as started:
        yield started


@pytest.fixture(scope="module")
def token(program: Program) -> str:
    return program.sign_in()


@pytest.fixture(scope="module")
def clock(program: Program, token: str) -> Any:
    return program.result("createTestClock", {}, token)["clock"]


Written = Callable[[str, Any], bytes]


def _advance(token: str, clock: Any, *headers: str, host: str = "localhost") -> bytes:
    params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
    return call("advanceTestClock", params, f"Authorization: Bearer {token}", *headers, host=host)


def _create(*headers: str) -> Written:
    """A creation, which is not made twice where one of the headers is a good key."""
    return lambda token, _: call("createTestClock", {}, f"Authorization: Bearer {token}", *headers)


def _post(body: bytes, *headers: str) -> Written:
    return lambda *_: say(body, *headers)


def _changed(*changes: tuple[bytes, bytes]) -> Written:
    """A good call, but for this."""

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
    pytest.param(_changed(), 200, id="a good call"),
    pytest.param(_changed((b"localhost", b"evil.example")), 400, id="a foreign host"),
    pytest.param(_changed((b"Host: localhost\r\n", b"")), 400, id="no host"),
    pytest.param(_changed((b"application/json", b"text/plain")), 415, id="another content type"),
    pytest.param(_changed((b"localhost", b"evil.example"), (b"/json", b"/x")), 400, id="a foreign host with another"),
    pytest.param(_changed((b"application/json", b"Application/JSON; charset=utf-8")), 200, id="a long content type"),
    pytest.param(_changed((b"Content-Type: application/json\r\n", b"")), 415, id="no content type"),
    pytest.param(_changed((b"Bearer ", b"Bearer x")), 401, id="a wrong token"),
    pytest.param(_changed((b"Authorization: ", b"X-Authorization: ")), 401, id="no token"),
    pytest.param(
        lambda token, clock: _advance(token, clock, f"Authorization: Bearer {token}"), 401, id="two authorizations"
    ),
    pytest.param(
        lambda token, clock: _advance(token, clock, "Origin: https://app.example.test"), 200, id="from a page of ours"
    ),
    pytest.param(
        lambda token, clock: _advance(token, clock, "Origin: https://evil.example"), 200, id="from a foreign page"
    ),
    pytest.param(lambda token, clock: _advance(token, clock, "Connection: close"), 200, id="the last call"),
    pytest.param(_in_chunks, 200, id="in chunks"),
    pytest.param(_changed((b"POST", b"GET")), 405, id="GET"),
    pytest.param(_changed((b"POST", b"OPTIONS")), 405, id="OPTIONS"),
    pytest.param(_changed((b"/rpc ", b"/rpc?x=1 ")), 200, id="with a query"),
    pytest.param(_changed((b"/rpc ", b"/rpc/ ")), 404, id="with a slash"),
    pytest.param(_changed((b"HTTP/1.1", b"HTTP/1.0")), 200, id="in HTTP/1.0"),
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
        lambda token, clock: _advance(token, clock, "Idempotency-Key:"), 200, id="with a key that nobody looks at"
    ),
]


async def _whole_answer(program: Program, written: bytes) -> tuple[int, list[bytes], bytes]:
    """Status, headers and body, as they came."""
    async with Client.connect(port_of(program)) as client:
        await client.say(written)
        head, body = await client.raw_answer()
        if b"\r\nconnection: close\r\n" not in head:
            # Nothing is left over of the answer, and the connection is good for another.
            assert (await client.ask(request("GET", "/healthz"))).body == b"alive\n"
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return int(first.split()[1]), lines, body


@pytest.mark.parametrize(("written", "status"), REQUESTS)
async def test_responses_have_all_headers(
    program: Program, token: str, clock: Any, written: Written, status: int
) -> None:
    answered, headers, body = await _whole_answer(program, written(token, clock))
    assert answered == status
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
            answer = await client.ask(_create(f"Idempotency-Key: {key}")(token, clock))
            made.add((key.strip(), answer.json["result"]["clock"]["id"]))
    assert len(made) == len({id for _, id in made}) == 2


async def test_call_with_expect_100_continue_gets_the_same_response(program: Program, token: str, clock: Any) -> None:
    head, _, body = _advance(token, clock, "Expect: 100-continue").partition(b"\r\n\r\n")
    async with Client.connect(port_of(program)) as client:
        assert (await client.ask(head + b"\r\n\r\n")).status == 100
        assert (await client.ask(body)).json == json.loads(program.post(json.loads(body), token).body)


# What was sent ahead


async def test_endless_pipelining_does_not_fill_memory(program: Program) -> None:
    """It takes its answers one by one, and asks much faster: what it sends has to wait in its own buffers."""
    most = 0
    async with Client.connect(port_of(program)) as client, asyncio.timeout(WAIT_SECONDS):
        sending = asyncio.create_task(client.say(*[call("none", {}) * 200] * 1000))
        for _ in range(3000):
            assert (await client.answer()).status == 200
            most = max(most, _resident(program))
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending
    assert most < 100 * 2**20


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(call("createTestClock", {"x": "y" * 900_000}), id="nobody knows who asks"),
        pytest.param(call("none", {"x": "y" * 900_000}), id="no such method"),
        pytest.param(call("loginByEmailLink", {"token": "y" * 900_000}), id="no such link"),
        pytest.param(call("logout", {"x": "y" * 900_000}, "Authorization: Bearer tko_" + "y" * 43), id="no such token"),
    ],
)
async def test_rejected_calls_do_not_leak_memory(program: Program, written: bytes) -> None:
    async with Client.connect(port_of(program)) as client:
        for _ in range(100):
            await client.ask(written)
    assert _resident(program) < 100 * 2**20


def _resident(program: Program) -> int:
    """Bytes of memory that the server has."""
    return int(Path(f"/proc/{program.process.pid}/statm").read_text().split()[1]) * 4096
