"""The soak's open-loop load, against a small real HTTP server."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from soak.open_loop import LOST, Measured, OpenLoop, Request, percentile
from tests.support.cases import each_case

REQUEST = b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
Respond = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


PEAK = 0.0


async def measure(respond: Respond, rate: float, connections: int, drop: bool = False) -> tuple[Measured, Counter[int]]:
    received: Counter[int] = Counter()

    def receive(status: int, body: bytes) -> None:
        assert body == (b"" if status == LOST else b"hello")
        received[status] += 1

    served: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await respond(reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.create_task(serve(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        load = OpenLoop(url, lambda: Request(REQUEST, receive), connections, drop)
        measured = await (load.run_at_peak(0.2) if rate == PEAK else load.run(rate, 0.2))
        await asyncio.gather(*served)
    return measured, received


async def respond_well(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(len(REQUEST)):
        # In two pieces, as large responses arrive.
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
        await writer.drain()
        writer.write(b"llo")


async def test_every_due_request_is_sent_and_measured() -> None:
    measured, received = await measure(respond_well, 200, 2)
    assert measured.statuses == received == {200: measured.sent}
    assert len(measured.latencies) == measured.sent
    assert 1 <= measured.sent <= 41
    assert measured.not_sent == 0


async def test_peak_sends_the_next_request_after_each_response() -> None:
    measured, received = await measure(respond_well, PEAK, 2)
    assert measured.statuses == received == {200: measured.sent}
    assert measured.sent > 2


async def test_lost_connection_is_counted() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)

    measured, received = await measure(hang_up, 100, 1, drop=True)
    assert received == measured.statuses == {LOST: 1}
    assert measured.not_sent > 0


@each_case(("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1)])
def test_percentile(share: float, expected: float) -> None:
    assert percentile(list(range(100, 0, -1)), share) == expected
