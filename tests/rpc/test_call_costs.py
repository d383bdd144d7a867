"""Expensive calls of one user wait for each other. Cheap calls and other users don't wait."""

import asyncio
from typing import Any

import pytest

from tests.rpc.builders import transaction
from tests.support.world import World
from tickover.api import ids
from tickover.api.limits import CALL_COST, MAX_RUNNING_COST_PER_USER
from tickover.server.rpc import admission

ROOM = 2048
"""Beside the occupied cost, for the parameters of a small call."""


@pytest.fixture(autouse=True)
def _nobody_counts_as_active(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give users their whole limit, although the tests call as another user too."""
    monkeypatch.setattr(admission, "_ACTIVE_SECONDS", 0)


async def occupy(world: World, token: str) -> tuple[bytes, int]:
    """Occupy almost the whole cost of the user. Return what to release."""
    id = (await world.result("getCurrentUser", {}, token))["userId"]
    user = bytes.fromhex(id.removeprefix("user_").replace("-", ""))
    cost = MAX_RUNNING_COST_PER_USER - CALL_COST - ROOM
    # The cost of earlier calls is free in the next iteration of the event loop.
    await asyncio.sleep(0)
    assert world.rpc.admission.try_enter(user, cost)
    return user, cost


async def start(world: World, method: str, params: dict[str, Any], token: str) -> "asyncio.Task[Any]":
    """Start a call, and give it time to end."""
    call = asyncio.create_task(world.call(method, params, token))
    other = await world.sign_in("other@example.test")
    for _ in range(3):
        await world.result("getCurrentUser", {}, other)
    return call


ON_CLOCK: dict[str, dict[str, Any]] = {
    "getTestClock": {},
    "advanceTestClock": {"frozenTime": "2027-01-01T12:00:00Z"},
    "updateTestClock": {"name": "x"},
    "forkTestClock": {},
    "amendTestClock": {"add": {"transactions": [transaction()]}},
    "listTestClockEvents": {},
    "getTestClockBalances": {},
    "checkTestClock": {"expectations": [{"balance": {"currency": "EUR", "atLeast": 0}}]},
}


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("method", ON_CLOCK)
async def test_calls_on_large_clocks_wait_for_other_calls(world: World, token: str, method: str, size: int) -> None:
    id = (await world.create(token, transactions=[transaction()] * size))["id"]
    occupied = await occupy(world, token)
    call = await start(world, method, {"id": id, **ON_CLOCK[method]}, token)
    assert call.done() == (size == 1)
    world.rpc.admission.leave(*occupied)
    assert (await call).status == 200


@pytest.mark.parametrize(
    ("method", "params", "waits"),
    [
        ("createTestClock", {"transactions": [transaction()]}, False),
        ("createTestClock", {"transactions": [transaction()] * 100}, True),
        ("createTestClock", {"x": "x" * ROOM}, True),
        ("listTestClocks", {}, True),
        ("getCurrentUser", {}, False),
    ],
)
async def test_other_calls_wait_if_they_are_expensive(
    world: World, token: str, method: str, params: dict[str, Any], waits: bool
) -> None:
    occupied = await occupy(world, token)
    call = await start(world, method, params, token)
    assert call.done() != waits
    world.rpc.admission.leave(*occupied)
    assert (await call).status == 200


@pytest.mark.parametrize("how", ["created", "created once", "forked", "amended", "read by another process", "shrunk"])
async def test_size_of_a_clock_is_known_after_every_change(world: World, token: str, how: str) -> None:
    clocks = world.services.clocks
    size = 1 if how == "amended" else 100
    params = {"transactions": [transaction()] * size}
    headers = {"Idempotency-Key": "x"} if how == "created once" else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": "createTestClock", "params": params}
    clock = (await world.post(body, token, **headers)).json["result"]["clock"]
    if how == "forked":
        clock = (await world.result("forkTestClock", {"id": clock["id"]}, token))["clock"]
    if how == "amended":
        add = {"transactions": [transaction()] * 100}
        await world.result("amendTestClock", {"id": clock["id"], "add": add}, token)
    if how == "shrunk":
        cancel = [item["id"] for item in clock["pendingTransactions"]]
        await world.result("amendTestClock", {"id": clock["id"], "cancel": cancel}, token)
    if how == "read by another process":
        key = ids.read("clock", clock["id"]) or b""
        clocks._schedules.remove(key)
        clocks._large_sizes.remove(key)
        await world.result("getTestClock", {"id": clock["id"]}, token)
    occupied = await occupy(world, token)
    call = await start(world, "getTestClock", {"id": clock["id"]}, token)
    assert call.done() == (how == "shrunk")
    world.rpc.admission.leave(*occupied)
    await call


async def test_call_that_waited_until_the_server_stops_is_rejected(world: World, token: str) -> None:
    occupied = await occupy(world, token)
    call = await start(world, "listTestClocks", {}, token)
    world.rpc.stop(0)
    world.rpc.admission.leave(*occupied)
    assert (await call).json["error"]["data"]["reason"] == "UNAVAILABLE"
