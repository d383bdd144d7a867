"""Large calls wait for each other. Other calls don't wait."""

import asyncio
from typing import Any

import pytest

from tests.support.world import World
from tickover.api.limits import MAX_LARGE_CALLS, MAX_SMALL_PARAMS


@pytest.mark.parametrize(
    ("method", "padding", "waits"),
    [
        ("forkTestClock", 0, True),
        ("getTestClock", 0, False),
        ("createTestClock", 0, False),
        ("createTestClock", MAX_SMALL_PARAMS, True),
    ],
)
async def test_large_calls_wait_for_each_other(
    world: World, token: str, method: str, padding: int, waits: bool
) -> None:
    params: dict[str, Any] = {} if method == "createTestClock" else {"id": (await world.create(token))["id"]}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | ({"x": "x" * padding} if padding else {})}
    for _ in range(MAX_LARGE_CALLS):
        await world.rpc._large_calls.acquire()
    large = asyncio.create_task(world.post(body, token))
    # Other calls are not blocked, and give the call above time to run.
    for _ in range(3):
        await world.result("listTestClocks", {}, token)
    if waits:
        assert not large.done()
        world.rpc._large_calls.release()
    assert (await large).status == 200
