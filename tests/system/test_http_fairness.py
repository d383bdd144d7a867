"""Clients share the event loop and the memory of a server, and lose no request when it drains."""

import asyncio
import socket
from contextlib import suppress

import pytest

from tests.support.raw import HELLO, Client, echo_call, post, run_echo_server, wait_for
from tickover.server.http1.limits import Limits
from tickover.server.http1.pool import MAX_BODY_BYTES_PER_ITERATION, Pool

LARGE = MAX_BODY_BYTES_PER_ITERATION
LIMITS = Limits(head_bytes=1000, body_bytes=LARGE, deadline_seconds=30)


@pytest.mark.parametrize(
    ("sizes", "expected_turns"),
    [
        ([LARGE, LARGE, LARGE], [1, 2, 3]),
        ([LARGE - 1, 1, 1], [1, 2, 2]),
        ([LARGE // 2 - 1, LARGE // 2 - 1, LARGE], [1, 1, 2]),
        ([300] * 500, [1] * 500),
    ],
)
async def test_few_large_calls_start_in_one_turn_of_the_event_loop(sizes: list[int], expected_turns: list[int]) -> None:
    pool, loop = Pool(LIMITS), asyncio.get_running_loop()
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
            await server.wait_for(lambda: server.bodies)
            assert await server.http_server.stop(600) == 0
            assert len(server.bodies) == 2


async def test_waiting_calls_are_discarded_when_the_grace_ends() -> None:
    pool = Pool(LIMITS)

    async def call() -> None:
        raise AssertionError

    pool.start_call(asyncio.sleep(0), LARGE)
    pool.start_call(call(), LARGE)
    assert pool.discard_waiting_calls() == 1
    await asyncio.gather(*pool.tasks)


async def test_partly_read_response_counts_in_full() -> None:
    async with (
        run_echo_server(unread_bytes=85_000_000, deadline_seconds=600) as server,
        Client.connect(server.port) as first,
        Client.connect(server.port) as second,
    ):
        await first.send(post("Content-Length: 4") + b"huge")
        await first.read(server.HUGE // 2)
        [connection] = server.pool.unread
        await second.send(post("Content-Length: 4") + b"huge")
        await server.wait_for(lambda: connection not in server.pool.connections)
        assert len((await second.response()).body) == server.HUGE
        with suppress(ConnectionError):
            await first.read_to_end()


async def test_draining_server_closes_connections_after_their_next_response() -> None:
    async with run_echo_server() as server, Client.connect(server.port) as client:
        assert "connection" not in (await client.request(HELLO)).headers
        server.http_server.drain()
        assert (await client.request(HELLO)).headers["connection"] == "close"
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
