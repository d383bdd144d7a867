"""The limit of stored bytes per user."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import BEN, goal, idempotency_header, reason_of, transaction
from tests.store.values import user_of_token
from tests.support.world import HttpResponse, World, open_world, run_concurrently
from tickover.api.ids import read_clock_id
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
    key, user = read_clock_id(clock_id), await user_of_token(world.store, digest(token), world.now)
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
async def world(tmp_path: Path, database_url: str, size: int) -> AsyncIterator[World]:
    """A world in which three clocks with SCHEDULE fit, and a fourth is one byte too large."""
    async with open_world(tmp_path, database_url, max_bytes_per_user=4 * size - 1) as opened:
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


async def test_each_amendment_counts_bytes_for_its_idempotency_record(
    tmp_path: Path, database_url: str, size: int
) -> None:
    limit = size + 3 * AMENDMENT_BYTES
    async with open_world(tmp_path, database_url, max_bytes_per_user=limit) as world:
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


async def test_delete_frees_bytes(world: World, size: int) -> None:
    token = await world.sign_in()
    clocks = [await world.create(token, **SCHEDULE) for _ in range(3)]
    assert reason_of(await world.call(FORK, {"id": clocks[0]["id"]}, token)) == "RATE_LIMITED"
    await world.result("deleteTestClock", {"id": clocks[1]["id"]}, token)
    fork = (await world.result(FORK, {"id": clocks[0]["id"]}, token))["clock"]
    assert await _size(world, token, fork["id"]) == size
    assert reason_of(await world.call(CREATE, SCHEDULE, token)) == "RATE_LIMITED"


async def test_expiry_frees_bytes(world: World) -> None:
    token = await world.sign_in()
    for _ in range(3):
        await world.create(token, **SCHEDULE)
        world.pass_time(days=1)
    response = await world.call(CREATE, SCHEDULE, token)
    assert response.json["error"]["data"]["retryAfterSeconds"] == 4 * DAY
    world.pass_time(days=4)
    await world.create(token, **SCHEDULE)
    assert reason_of(await world.call(CREATE, SCHEDULE, token)) == "RATE_LIMITED"


async def test_create_with_key_is_limited_but_retry_is_not(world: World) -> None:
    token = await world.sign_in()

    async def create(key: str) -> HttpResponse:
        envelope = {"jsonrpc": "2.0", "id": 1, "method": CREATE, "params": SCHEDULE}
        return await world.post(envelope, token, **idempotency_header(key))

    first, *_ = [(await create(key)).json["result"]["clock"] for key in ("a", "b", "c")]
    assert (await create("d")).status == 429
    assert (await create("a")).json["result"]["clock"] == first
    await world.result("deleteTestClock", {"id": first["id"]}, token)
    # The rejected call used no key.
    assert (await create("d")).status == 200
    assert (await create("e")).status == 429


async def test_concurrent_forks_and_creations_stay_within_the_limit(world: World) -> None:
    token = await world.sign_in()
    clock = await world.create(token, **SCHEDULE)
    calls: list[tuple[str, Any]] = [(FORK, {"id": clock["id"]}), (CREATE, SCHEDULE)]

    async def act(number: int) -> HttpResponse:
        method, params = calls[number % 2]
        return await world.call(method, params, token)

    responses = await run_concurrently(50, act)
    assert len([response for response in responses if "result" in response.json]) == 2
    assert {reason_of(response) for response in responses if "error" in response.json} == {"RATE_LIMITED"}
    assert len((await world.result("listTestClocks", {}, token))["clocks"]) == 3
