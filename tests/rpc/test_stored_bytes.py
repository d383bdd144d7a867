"""The limit of stored bytes per user."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rpc.builders import BEN, goal, transaction
from tests.store.values import user_of_token
from tests.support.world import HttpResponse, World, open_world
from tickover.api import ids
from tickover.server.sign_in.tokens import digest
from tickover.server.storage.rows import AMENDMENT_BYTES

CREATE, FORK = "createTestClock", "forkTestClock"
DAY = 86_400
SCHEDULE = {
    "frozenTime": "2027-01-01T00:00:00Z",
    "transactions": [transaction(at="2027-02-01T00:00:00Z", name="später", category="b")],
    "goals": [goal()],
}


async def _size(world: World, token: str, clock_id: str) -> int:
    """Return the stored bytes of a clock."""
    key, user = ids.read("clock", clock_id), await user_of_token(world.store, digest(token), world.now)
    assert key
    assert user
    stored = await world.store.find_clock(key, user)
    assert stored
    return len(stored.schedule)


@pytest.fixture
async def size(tmp_path: Path) -> int:
    """The stored bytes of a clock with SCHEDULE."""
    async with open_world(tmp_path / "another") as world:
        token = await world.sign_in()
        return await _size(world, token, (await world.create(token, **SCHEDULE))["id"])


@pytest.fixture
async def world(tmp_path: Path, size: int) -> AsyncIterator[World]:
    """A world in which three clocks with SCHEDULE fit, and a fourth is one byte too large."""
    async with open_world(tmp_path, max_bytes_per_user=4 * size - 1) as opened:
        yield opened


def _check_error(response: HttpResponse, limit: int, wait: int) -> None:
    assert (response.status, response.headers["retry-after"]) == (429, str(wait))
    error = response.json["error"]
    assert error["code"] == -32005
    assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": wait}
    assert f"{limit} bytes" in error["message"]


async def test_stored_bytes_of_a_user_are_limited(world: World, size: int) -> None:
    ana, ben = await world.sign_in(), await world.sign_in(BEN)
    for _ in range(3):
        clock = await world.create(ana, **SCHEDULE)
        world.pass_time(hours=1)
    wait = 7 * DAY - 3 * 3600
    _check_error(await world.call(CREATE, SCHEDULE, ana), 4 * size - 1, wait)
    _check_error(await world.call(FORK, {"id": clock["id"]}, ana), 4 * size - 1, wait)
    await world.create(ana)  # this one is smaller
    await world.create(ben, **SCHEDULE)


async def test_new_names_are_limited(world: World, size: int) -> None:
    token = await world.sign_in()
    for _ in range(3):
        clock = await world.create(token, **SCHEDULE)
    name = "x" * 200
    labels = {f"label{number}": name for number in range(20)}
    assert size < 20 * 200, "the labels are larger than what is left"
    _check_error(
        await world.call("updateTestClock", {"id": clock["id"], "labels": labels}, token), 4 * size - 1, 7 * DAY
    )
    assert "labels" not in (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"]


async def test_each_amendment_counts_bytes_for_its_idempotency_record(tmp_path: Path, size: int) -> None:
    limit = size + 3 * AMENDMENT_BYTES
    async with open_world(tmp_path, max_bytes_per_user=limit) as world:
        token = await world.sign_in()
        id = (await world.create(token, **SCHEDULE))["id"]
        for number in range(4):
            # The new schedule has the same size.
            cancel = [f"txn_{id.removeprefix('clock_').replace('-', '')}_{number}"]
            add = {"transactions": SCHEDULE["transactions"]}
            response = await world.call("amendTestClock", {"id": id, "add": add, "cancel": cancel}, token)
            assert number == 3 or "result" in response.json
        _check_error(response, limit, 7 * DAY)
        # A smaller schedule makes room.
        await world.result("amendTestClock", {"id": id, "cancel": cancel}, token)
