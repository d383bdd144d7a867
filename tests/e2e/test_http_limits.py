"""What many connections may use together: sockets, and memory for requests and for responses that nobody reads."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
import uvloop

from tests.e2e.raw import HELLO, WAIT_SECONDS, Client, call, open_door, port_of, post, request
from tests.e2e.test_life_cycle_log import log_of
from tests.support.program import Program
from tickover.server.http.messages import OVERLOADED, Request
from tickover.server.http.parser import RequestParser

_HEALTH = request("GET", "/healthz")


def _call(body: bytes) -> bytes:
    return post(f"Content-Length: {len(body)}") + body


# Connections


async def test_oldest_idle_connection_closes_for_a_new_one() -> None:
    async with (
        open_door(connections=2) as door,
        Client.connect(door.port) as first,
        Client.connect(door.port) as second,
    ):
        assert (await second.ask(HELLO)).status == 200
        assert (await first.ask(HELLO)).status == 200
        async with Client.connect(door.port) as third:
            assert (await third.ask(HELLO)).status == 200
            assert await second.end() == b""
            assert (await first.ask(HELLO)).status == 200


async def test_connection_over_the_limit_serves_only_health_checks() -> None:
    async with open_door(connections=1) as door, Client.connect(door.port) as busy:
        await busy.say(_call(b"busy"))
        await door.is_busy.wait()
        for written, status in [(HELLO, 503), (_HEALTH, 200), (_call(b"x"), 503)]:
            async with Client.connect(door.port) as client:
                answer = await client.ask(written)
                assert (answer.status, answer.headers["connection"]) == (status, "close")
                assert await client.end() == b""
        door.may_answer.set()
        assert (await busy.answer()).body == b"said: busy"
        assert door.bodies == [b"busy"]
        async with Client.connect(door.port) as client:
            assert (await client.ask(HELLO)).status == 200


async def test_requests_after_a_rejected_one_are_ignored() -> None:
    async with open_door(connections=3) as door, AsyncExitStack() as stack:
        for _ in range(3):
            busy = await stack.enter_async_context(Client.connect(door.port))
            await busy.say(_call(b"busy"))
        await door.until_begun(3)
        fourth = await stack.enter_async_context(Client.connect(door.port))
        await fourth.say(_call(b"1") + _call(b"2") + HELLO + _HEALTH)
        assert (await fourth.answer()).status == 503
        assert await fourth.end() == b""
        assert door.errors == [OVERLOADED]
        assert door.bodies == [b"busy"] * 3


async def test_silent_connections_over_the_limit_do_not_block_health_checks() -> None:
    async with open_door(connections=1, reserved_connections=2) as door, AsyncExitStack() as stack:
        busy = await stack.enter_async_context(Client.connect(door.port))
        await busy.say(_call(b"busy"))
        await door.is_busy.wait()
        silent = [await stack.enter_async_context(Client.connect(door.port)) for _ in range(3)]
        assert (await silent[0].answer()).status == 503
        async with Client.connect(door.port) as client:
            assert (await client.ask(_HEALTH)).status == 200


def test_many_connections_are_accepted_in_few_turns_of_the_loop() -> None:
    async def turns_until_accepted(count: int) -> int:
        async with open_door() as door:
            callers = [socket.create_connection(("127.0.0.1", door.port)) for _ in range(count)]
            turns = 0
            while len(door.pool.connections) < count:
                turns += 1
                await asyncio.sleep(0)
            for caller in callers:
                caller.close()
            return turns

    # A health check that comes after others must not wait for as many turns.
    assert uvloop.run(turns_until_accepted(50)) < 10


async def test_max_connections_reaches_the_server(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_MAX_CONNECTIONS="1") as program:
        async with Client.connect(port_of(program)) as first, Client.connect(port_of(program)) as second:
            assert (await second.ask(_HEALTH)).status == 200
            assert await first.end() == b""
            await second.say(post("Content-Length: 10") + b"12345")
            async with Client.connect(port_of(program)) as third:
                assert (await third.ask(call("none", {}))).status == 503
        program.stop()
        [counts] = [line for line in log_of(program) if line["event"] == "calls rejected"]
        assert counts["unavailable"] == 1


async def test_keep_alive_seconds_reaches_the_server(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_KEEP_ALIVE_SECONDS="1") as program:
        async with Client.connect(port_of(program)) as client:
            assert (await client.ask(_HEALTH)).status == 200
            assert await client.end() == b""


# Requests


async def test_oldest_incomplete_body_is_rejected_for_others() -> None:
    async with (
        open_door(request_bytes=100_000, deadline_seconds=WAIT_SECONDS) as door,
        Client.connect(door.port) as slow,
        Client.connect(door.port) as other,
    ):
        await slow.say(post("Content-Length: 90000") + bytes(60_000))
        await door.until(lambda: door.pool.request_bytes == 60_000)
        assert len((await other.ask(_call(bytes(60_000)))).body) == 60_006
        assert (await slow.answer()).status == 503
        assert await slow.end() == b""
        assert door.pool.request_bytes == 0


async def test_request_memory_is_counted_until_the_response() -> None:
    async with open_door(request_bytes=1000) as door, AsyncExitStack() as stack:
        busy = await stack.enter_async_context(Client.connect(door.port))
        await busy.say(_call(b"busy") + _call(bytes(900)))
        await door.is_busy.wait()
        assert door.pool.request_bytes > 900
        async with Client.connect(door.port) as other:
            assert (await other.ask(_call(bytes(200)))).status == 503
        door.may_answer.set()
        assert [(await busy.answer()).status for _ in range(2)] == [200, 200]
        assert door.pool.request_bytes == 0


class _Receiver:
    """Counts the bytes of a body, and keeps the requests."""

    def __init__(self) -> None:
        self.size = 0
        self.requests: list[Request] = []

    def body_received(self, size: int) -> None:
        self.size += size

    def request_received(self, request: Request) -> None:
        self.requests.append(request)

    def continue_expected(self) -> None:
        raise AssertionError("no request expects it")


def test_body_in_tiny_chunks_is_joined_as_it_arrives() -> None:
    receiver = _Receiver()
    parser = RequestParser(receiver, None)
    parser.feed(post("Transfer-Encoding: chunked"))
    for _ in range(20):
        parser.feed(b"1\r\nx\r\n" * 1000)
        assert len(parser._pieces) <= 1024
    assert receiver.size == 20_000
    parser.feed(b"0\r\n\r\n")
    assert [request.body for request in receiver.requests] == [b"x" * 20_000]


# Responses


async def test_oldest_unread_response_closes_its_connection() -> None:
    async with (
        open_door(unread_bytes=70_000_000, deadline_seconds=600) as door,
        Client.connect(door.port) as first,
        Client.connect(door.port) as second,
    ):
        await first.say(_call(b"huge"))
        await door.until(lambda: door.pool.unread)
        [connection] = door.pool.unread
        await second.say(_call(b"huge"))
        await door.until(lambda: connection not in door.pool.connections)
        assert len((await second.answer()).body) == door.HUGE
        with suppress(ConnectionError):
            assert len(await first.end()) < door.HUGE


@pytest.mark.parametrize("ahead", [1, 20], ids=["one request", "many sent ahead"])
async def test_unread_responses_do_not_fill_memory(tmp_path: Path, ahead: int) -> None:
    discover = [{"jsonrpc": "2.0", "id": number, "method": "rpc.discover"} for number in range(50)]
    written = _call(json.dumps(discover).encode()) * ahead
    most = 0
    with Program(tmp_path) as program:
        async with AsyncExitStack() as stack:
            for _ in range(300):
                client = await stack.enter_async_context(Client.connect(port_of(program)))
                await client.say(written)
                most = max(most, _resident(program))
            async with Client.connect(port_of(program)) as other:
                assert (await other.ask(_HEALTH)).status == 200
                assert (await other.ask(call("none", {}))).status in (200, 503)
            most = max(most, _resident(program))
    assert most < 350 * 2**20


def _resident(program: Program) -> int:
    """Bytes of memory that the server has."""
    return int(Path(f"/proc/{program.process.pid}/statm").read_text().split()[1]) * 4096


async def test_endless_bodies_do_not_fill_memory(tmp_path: Path) -> None:
    most = 0
    with Program(tmp_path) as program:
        async with AsyncExitStack() as stack:
            for _ in range(300):
                client = await stack.enter_async_context(Client.connect(port_of(program)))
                with suppress(ConnectionError):
                    await asyncio.wait_for(client.say(post("Content-Length: 1000000"), bytes(900_000)), WAIT_SECONDS)
                most = max(most, _resident(program))
            async with Client.connect(port_of(program)) as other:
                assert (await other.ask(call("none", {}))).status == 200
    assert most < 250 * 2**20
