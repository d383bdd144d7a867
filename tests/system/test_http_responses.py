"""Requests to the real program: idempotency keys on the wire, and the memory that requests take."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.support.raw import Client, call, port_of


@pytest.fixture(scope="session")
def token(program: Program) -> str:
    return program.sign_in("connections@example.test")


async def test_blanks_around_an_idempotency_key_are_ignored(program: Program, token: str) -> None:
    made = set()
    async with Client.connect(port_of(program)) as client:
        for key in ("the same", "  the same\t ", "The same"):
            headers = [f"Authorization: Bearer {token}", f"Idempotency-Key: {key}"]
            response = await client.request(call("createTestClock", {}, *headers))
            made.add((key.strip(), response.json["result"]["clock"]["id"]))
    assert len(made) == len({id for _, id in made}) == 2


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


def _resident(program: Program) -> int:
    """Return the resident memory of the server in bytes."""
    return int(Path(f"/proc/{program.process.pid}/statm").read_text().split()[1]) * 4096
