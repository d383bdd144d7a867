"""Limits over all connections: sockets, calls in one turn of the event loop, and memory of requests and responses."""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from tests.support.log_capture import LogCapture
from tests.support.raw import HELLO, Client, post, request, run_echo_server, wait_for
from tickover.server.app import _http_limits
from tickover.server.http1.open_connections import MAX_BODY_BYTES_PER_ITERATION, HttpLimits, OpenConnections
from tickover.server.settings import read_settings

_HEALTH = request("GET", "/healthz")
LARGE = MAX_BODY_BYTES_PER_ITERATION
LIMITS = HttpLimits(head_bytes=1000, body_bytes=LARGE, deadline_seconds=30)


def _call(body: bytes) -> bytes:
    return post(f"Content-Length: {len(body)}") + body


# Connections


async def test_oldest_idle_connection_closes_for_a_new_one() -> None:
    async with (
        run_echo_server(connections=2) as server,
        Client.connect(server.port) as first,
        Client.connect(server.port) as second,
    ):
        assert (await second.request(HELLO)).status == 200
        assert (await first.request(HELLO)).status == 200
        async with Client.connect(server.port) as third:
            assert (await third.request(HELLO)).status == 200
            assert await second.read_to_end() == b""
            assert (await first.request(HELLO)).status == 200


async def test_connection_over_the_limit_serves_only_health_checks() -> None:
    async with run_echo_server(connections=1) as server, Client.connect(server.port) as busy:
        await busy.send(_call(b"busy"))
        await server.is_busy.wait()
        for written, status in [(HELLO, 503), (_HEALTH, 200), (_call(b"x"), 503)]:
            async with Client.connect(server.port) as client:
                response = await client.request(written)
                assert (response.status, response.headers["connection"]) == (status, "close")
                assert await client.read_to_end() == b""
        server.may_respond.set()
        assert (await busy.response()).body == b"echo: busy"
        assert server.bodies == [b"busy"]
        async with Client.connect(server.port) as client:
            assert (await client.request(HELLO)).status == 200


async def test_all_reserved_connections_serve_health_checks() -> None:
    async with run_echo_server(connections=1, reserved_connections=2) as server, AsyncExitStack() as stack:
        busy = await stack.enter_async_context(Client.connect(server.port))
        await busy.send(_call(b"busy"))
        await server.is_busy.wait()
        reserved = [await stack.enter_async_context(Client.connect(server.port)) for _ in range(2)]
        await wait_for(lambda: len(server.pool.connections) == 3)
        assert [(await client.request(_HEALTH)).status for client in reserved] == [200, 200]


# Requests


async def test_oldest_incomplete_body_is_rejected_for_others() -> None:
    async with (
        run_echo_server(request_bytes=100_000) as server,
        Client.connect(server.port) as slow,
        Client.connect(server.port) as other,
    ):
        await slow.send(post("Content-Length: 90000") + bytes(60_000))
        await wait_for(lambda: server.pool.request_bytes == 60_000)
        assert len((await other.request(_call(bytes(60_000)))).body) == 60_006
        assert (await slow.response()).status == 503
        assert await slow.read_to_end() == b""
        assert server.pool.request_bytes == 0


async def test_request_memory_is_counted_until_the_response() -> None:
    async with run_echo_server(request_bytes=1000) as server, AsyncExitStack() as stack:
        busy = await stack.enter_async_context(Client.connect(server.port))
        await busy.send(_call(b"busy") + _call(bytes(900)))
        await server.is_busy.wait()
        assert server.pool.request_bytes > 900
        async with Client.connect(server.port) as other:
            assert (await other.request(_call(bytes(200)))).status == 503
        server.may_respond.set()
        assert [(await busy.response()).status for _ in range(2)] == [200, 200]
        assert server.pool.request_bytes == 0


@pytest.mark.parametrize(
    ("sizes", "expected_turns"),
    [
        ([LARGE, LARGE, LARGE], [1, 2, 3]),
        ([LARGE // 2 - 1, LARGE // 2 - 1, LARGE], [1, 1, 2]),
        ([300] * 500, [1] * 500),
    ],
)
async def test_few_large_calls_start_in_one_turn_of_the_event_loop(sizes: list[int], expected_turns: list[int]) -> None:
    pool, loop = OpenConnections(LIMITS), asyncio.get_running_loop()
    turn, started, all_started = 0, list[int](), asyncio.Event()

    def count_turns() -> None:
        nonlocal turn
        turn += 1
        if len(started) < len(sizes):
            loop.call_soon(count_turns)

    async def call() -> None:
        started.append(turn)
        if len(started) == len(sizes):
            all_started.set()

    loop.call_soon(count_turns)
    for size in sizes:
        pool.start_call(call(), size)
    await all_started.wait()
    assert started == expected_turns


async def test_calls_that_never_started_count_as_unfinished() -> None:
    async with run_echo_server() as server:
        large = post(f"Content-Length: {LARGE}") + bytes(LARGE)
        async with Client.connect(server.port) as first, Client.connect(server.port) as second:
            for client in (first, second):
                await client.send(large)
            await wait_for(lambda: server.bodies)
            assert await server.http_server.stop(600) == 0
            assert len(server.bodies) == 2


async def test_waiting_calls_are_discarded_when_the_grace_ends() -> None:
    pool = OpenConnections(LIMITS)

    async def call() -> None:
        raise AssertionError

    pool.start_call(asyncio.sleep(0), LARGE)
    pool.start_call(call(), LARGE)
    assert pool.discard_waiting_calls() == 1
    await asyncio.gather(*pool.tasks)


# Responses


async def test_oldest_unread_response_closes_its_connection() -> None:
    async with (
        run_echo_server(unread_bytes=70_000_000) as server,
        Client.connect(server.port) as first,
        Client.connect(server.port) as second,
    ):
        await first.send(_call(b"huge"))
        await wait_for(lambda: server.pool.unread)
        [connection] = server.pool.unread
        await second.send(_call(b"huge"))
        await wait_for(lambda: connection not in server.pool.connections)
        assert len((await second.response()).body) == server.HUGE
        with suppress(ConnectionError):
            assert len(await first.read_to_end()) < server.HUGE


@pytest.mark.parametrize(("allowed", "warnings"), [(9, 0), (5, 1)])
def test_limit_on_open_files_lowers_the_limit_on_connections(
    monkeypatch: pytest.MonkeyPatch, allowed: int, warnings: int
) -> None:
    monkeypatch.setattr("tickover.server.app.raise_file_limit", lambda wanted: min(wanted, allowed))
    logged = LogCapture()
    limits = _http_limits(read_settings({}, {"max_connections": "9"}), logged.log)
    assert (limits.connections, len(logged.lines)) == (allowed, warnings)
