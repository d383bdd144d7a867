"""deleteTestClock: removes the clock, frees its quota and idempotency key, and changes nothing else."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import BEN, OMITTED, START, call, contribution, goal, idempotency_header, reason_of, transaction
from tests.support.world import HttpResponse, World, open_world, run_concurrently

DELETE = "deleteTestClock"
SCHEDULE = {
    "frozenTime": START,
    "transactions": [transaction()],
    "goals": [goal(contributions=[contribution()])],
}


async def delete(world: World, token: str, clock: Any) -> None:
    assert await world.result(DELETE, {"id": clock["id"]}, token) == {"message": "ok"}


async def reasons(world: World, token: str, clock: Any) -> set[str]:
    """Return the reason with which all operations fail for the clock."""
    asked = {"getTestClock": {}, "forkTestClock": {}, "advanceTestClock": {"frozenTime": START}, DELETE: {}}
    return {
        reason_of(await world.call(method, {"id": clock["id"], **params}, token)) for method, params in asked.items()
    }


async def test_deleted_clock_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    response = await world.post(call(DELETE, {"id": clock["id"]}), token)
    assert (response.status, response.json) == (200, {"jsonrpc": "2.0", "result": {"message": "ok"}, "id": 7})
    assert await reasons(world, token, clock) == {"CLOCK_NOT_FOUND"}
    assert await world.result("listTestClocks", {}, token) == {"clocks": []}


async def test_second_delete_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    await delete(world, token, clock)
    for _ in range(2):
        error = await world.error(DELETE, {"id": clock["id"]}, token)
        assert (error["code"], error["data"]) == (-32004, {"reason": "CLOCK_NOT_FOUND"})


async def test_deleted_cached_clock_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    await world.result("getTestClock", {"id": clock["id"]}, token)
    await delete(world, token, clock)
    assert await reasons(world, token, clock) == {"CLOCK_NOT_FOUND"}


async def test_delete_keeps_other_clocks(world: World, token: str) -> None:
    clock, other = [await world.create(token, **SCHEDULE) for _ in range(2)]
    fork = (await world.result("forkTestClock", {"id": clock["id"]}, token))["clock"]
    ben = await world.sign_in(BEN)
    bens = await world.create(ben, **SCHEDULE)
    await delete(world, token, clock)
    for owner, stored in ((token, other), (token, fork), (ben, bens)):
        assert await world.result("getTestClock", {"id": stored["id"]}, owner) == {"clock": stored}
        assert (await world.advance(owner, stored["id"], "2027-02-01T09:00:00Z"))["pendingTransactions"] == []


async def test_another_user_cannot_delete_a_clock(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    ben = await world.sign_in(BEN)
    assert reason_of(await world.call(DELETE, {"id": clock["id"]}, ben)) == "CLOCK_NOT_FOUND"
    assert await world.result("getTestClock", {"id": clock["id"]}, token) == {"clock": clock}


async def test_delete_of_expired_clock_is_rejected(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    world.pass_time(days=7)
    assert await reasons(world, token, clock) == {"CLOCK_EXPIRED"}


async def test_delete_as_notification_works(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    response = await world.post(call(DELETE, {"id": clock["id"]}, OMITTED), token)
    assert (response.status, response.body) == (204, b"")
    assert await reasons(world, token, clock) == {"CLOCK_NOT_FOUND"}


async def test_later_calls_of_a_batch_do_not_find_deleted_clock(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    methods = ("getTestClock", DELETE, "getTestClock", DELETE)
    responses = (await world.post([call(method, {"id": clock["id"]}) for method in methods], token)).json
    assert ["result" in response for response in responses] == [True, True, False, False]


async def test_one_of_50_concurrent_deletes_succeeds(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    responses: list[HttpResponse] = await run_concurrently(50, lambda _: world.call(DELETE, {"id": clock["id"]}, token))
    outcomes = Counter("ok" if "result" in response.json else reason_of(response) for response in responses)
    assert outcomes == {"ok": 1, "CLOCK_NOT_FOUND": 49}


async def test_50_clocks_are_deleted_concurrently(world: World, token: str) -> None:
    clocks = [await world.create(token, **SCHEDULE) for _ in range(51)]
    await run_concurrently(50, lambda number: delete(world, token, clocks[number]))
    listed = await world.result("listTestClocks", {"limit": 100}, token)
    assert [clock["id"] for clock in listed["clocks"]] == [clocks[50]["id"]]


# Quota and keys


@pytest.mark.parametrize("rejected_before", [False, True], ids=["at once", "after a rejection"])
async def test_delete_frees_quota(tmp_path: Path, database_url: str, rejected_before: bool) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=2) as world:
        token = await world.sign_in()
        clocks = [await world.create(token) for _ in range(2)]
        for clock in clocks:
            if rejected_before:
                assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"
            await delete(world, token, clock)
            await world.create(token)
            assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"


async def test_failed_delete_frees_no_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=1) as world:
        token, ben = await world.sign_in(), await world.sign_in(BEN)
        clock, bens = await world.create(token), await world.create(ben)
        for missing in (bens["id"], clock["id"][:-12] + "0123456789ab"):
            assert reason_of(await world.call(DELETE, {"id": missing}, token)) == "CLOCK_NOT_FOUND"
            assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"


async def test_wait_is_until_the_oldest_remaining_clock_expires(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=2) as world:
        token = await world.sign_in()
        oldest = await world.create(token)
        world.pass_time(hours=1)
        await world.create(token)
        assert (await world.error("createTestClock", {}, token))["data"]["retryAfterSeconds"] == 7 * 86_400 - 3_600
        await delete(world, token, oldest)
        world.pass_time(hours=1)
        await world.create(token)
        assert (await world.error("createTestClock", {}, token))["data"]["retryAfterSeconds"] == 7 * 86_400 - 3_600


async def test_delete_frees_the_idempotency_key(world: World, token: str) -> None:
    async def create(params: Any) -> Any:
        return (await world.post(call("createTestClock", params), token, **idempotency_header("k"))).json["result"][
            "clock"
        ]

    first = await create({})
    await delete(world, token, first)
    second = await create({"frozenTime": START})
    assert second["id"] != first["id"]
    assert await create({"frozenTime": START}) == second
