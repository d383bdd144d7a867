"""amendTestClock: new items from the frozen time on, and fewer items that have not happened yet."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.rpc.builders import (
    BEN,
    START,
    call,
    contribution,
    goal,
    idempotency_header,
    reason_of,
    to_timestamp,
    transaction,
)
from tests.support.world import World, run_concurrently
from tickover.api import ids
from tickover.server import gate
from tickover.server.operations import stored_clocks
from tickover.server.storage.store import Amendment, Owner, Quota, Store

AMEND = "amendTestClock"
JANUARY, FEBRUARY, MARCH = "2027-01-15T00:00:00Z", "2027-02-15T00:00:00Z", "2027-03-15T00:00:00Z"
MAX_TIME = "2037-01-01T00:00:00Z"
SCHEDULE = {
    "frozenTime": START,
    "transactions": [transaction(at=at, name=at) for at in (JANUARY, FEBRUARY, MARCH)],
    "goals": [goal(initialAmount=0.1, contributions=[contribution(at=FEBRUARY, amount=0.2)])],
}


async def amend(world: World, token: str, id: str, **params: Any) -> Any:
    return (await world.result(AMEND, {"id": id} | params, token))["clock"]


def names(items: list[Any]) -> list[str]:
    return [item["name"] for item in items]


async def test_balances_and_checks_see_the_latest_schedule(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    query = {"id": clock["id"], "at": MAX_TIME}
    before = await world.result("getTestClockBalances", query, token)
    ids = [item["id"] for item in clock["pendingTransactions"]]
    await amend(world, token, clock["id"], cancel=ids[:1], add={"transactions": [transaction(amount=0.5)]})
    after = await world.result("getTestClockBalances", query, token)
    assert [one["balances"][0]["balance"] for one in (before, after)] == [8400, 5600.5]


# Faults


@pytest.mark.parametrize(
    "params", [{}, {"add": {"transactions": [], "goals": [], "contributions": []}, "cancel": []}], ids=["none", "empty"]
)
async def test_amendment_without_items_is_invalid(world: World, token: str, params: dict[str, Any]) -> None:
    clock = await world.create(token, **SCHEDULE)
    error = await world.error(AMEND, {"id": clock["id"], **params}, token)
    assert error["data"]["errors"] == [
        {"path": "add", "rule": "required", "message": "add or cancel at least one item"}
    ]


# Growth


async def grow(world: World, token: str) -> str:
    """Return the id of a clock with as many items as possible, whose texts take as many bytes as possible."""
    name = "\x01" * 120
    pay = transaction(at=MAX_TIME, name=name, category="\x01" * 80, amount=1.2345678901234567e-300)
    id: str = (await world.create(token, frozenTime=START))["id"]

    async def add(**items: Any) -> None:
        """Add items, and don't parse the response, which has megabytes."""
        response = await world.call(AMEND, {"id": id, "add": items}, token)
        assert response.body.startswith(b'{"jsonrpc":"2.0","result":'), response.body[:1000]

    for _ in range(20):
        await add(transactions=[pay] * 100)
    goals = [goal(name=name, contributions=[contribution(at=MAX_TIME)] * 100)] * 6 + [goal(name=name)] * 94
    amended = await amend(world, token, id, add={"goals": goals})
    for one in amended["goals"][:6]:
        for _ in range(4):
            await add(contributions=[contribution(at=MAX_TIME, amount=1e-9, goalId=one["id"])] * 100)
    return id


async def test_clock_grows_to_five_thousand_items_and_no_further(world: World, token: str) -> None:
    id = await grow(world, token)
    response = await world.call("getTestClock", {"id": id}, token)
    clock = response.json["result"]["clock"]
    assert len(clock["pendingTransactions"]) == 2000
    assert [len(one["upcomingContributions"]) for one in clock["goals"]] == [500] * 6 + [0] * 94
    more = {
        "transactions": [transaction(at=MAX_TIME)],
        "goals": [goal()],
        "contributions": [contribution(at=MAX_TIME, goalId=clock["goals"][at]["id"]) for at in (0, 0, 6)],
    }
    expected = {"add": "count", "add.transactions": "count", "add.goals": "count", "add.contributions": "count"}
    assert await world.faults(AMEND, {"id": id, "add": more}, token) == expected
    assert await world.faults(AMEND, {"id": 5, "add": more}, token) == {"id": "type"}, "its size is unknown"
    # A replacement fits.
    cancel = [clock["pendingTransactions"][0]["id"]]
    swapped = await amend(world, token, id, cancel=cancel, add={"transactions": [transaction(at=START)]})
    assert [len(swapped[name]) for name in ("transactions", "pendingTransactions")] == [1, 1999]


# Idempotency


async def test_key_is_bound_to_its_operation_and_parameters(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    calls = [
        call("createTestClock", {"frozenTime": START}),
        call("forkTestClock", {"id": clock["id"]}),
        call(AMEND, {"id": clock["id"], "cancel": [clock["pendingTransactions"][0]["id"]]}),
        call(AMEND, {"id": clock["id"], "add": {"transactions": [transaction()]}}),
    ]
    for number, first in enumerate(calls):
        header = idempotency_header(f"key {number}")
        assert "result" in (await world.post(first, token, **header)).json
        for other in calls:
            response = await world.post(other, token, **header)
            assert ("result" in response.json) == (other is first)
            if other is not first:
                assert [fault["rule"] for fault in response.json["error"]["data"]["errors"]] == ["reused"]


async def test_repeated_fork_returns_the_fork_even_if_the_original_is_gone(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    params = {"id": clock["id"], "at": FEBRUARY, "name": "Second try"}
    first = await world.post(call("forkTestClock", params), token, **idempotency_header("k"))
    fork = first.json["result"]["clock"]
    assert fork["id"] != clock["id"]
    await world.result("deleteTestClock", {"id": clock["id"]}, token)
    again = await world.post(call("forkTestClock", params), token, **idempotency_header("k"))
    assert again.body == first.body
    await world.result("deleteTestClock", {"id": fork["id"]}, token)
    gone = await world.post(call("forkTestClock", params), token, **idempotency_header("k"))
    assert reason_of(gone) == "CLOCK_NOT_FOUND"


# Concurrency


async def test_fifty_concurrent_amendments_are_all_applied(world: World, token: str) -> None:
    id = (await world.create(token, **SCHEDULE))["id"]
    start = datetime.fromisoformat(START)

    async def one(number: int) -> Any:
        if number % 5 == 0:
            at = to_timestamp(start + timedelta(seconds=number))
            return await world.call("advanceTestClock", {"id": id, "frozenTime": at}, token)
        return await world.call(AMEND, {"id": id, "add": {"transactions": [transaction(name=f"{number}")]}}, token)

    responses = await run_concurrently(50, one)
    assert all("result" in response.json or reason_of(response) == "TIME_BEFORE_CURRENT" for response in responses)
    clock = (await world.result("getTestClock", {"id": id}, token))["clock"]
    added = [item for item in clock["pendingTransactions"] if item["at"] == transaction()["at"]]
    assert sorted(int(item["name"]) for item in added) == [number for number in range(50) if number % 5]
    assert len({item["id"] for item in added}) == 40


class _OtherServer:
    """A store. Before each amendment, another server acts on the clock."""

    def __init__(self, store: Store, act: Callable[[bytes, Owner], Awaitable[object]]) -> None:
        self._store = store
        self._act = act

    async def amend_clock(self, key: bytes, owner: Owner, *more: Any) -> Any:
        await self._act(key, owner)
        return await self._store.amend_clock(key, owner, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_amendment_is_computed_again_after_a_conflict(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    conflicts = stored_clocks._MAX_ATTEMPTS - 1

    async def amend_without_a_change(key: bytes, owner: Owner) -> None:
        nonlocal conflicts
        if conflicts:
            conflicts -= 1
            stored = await world.store.find_clock(key, owner)
            assert stored is not None
            same = Amendment(stored.clock.revision, stored.clock.max_time, stored.schedule)
            await world.store.amend_clock(key, owner, same, Quota())

    store: Any = _OtherServer(world.store, amend_without_a_change)
    world.services.clocks._store = store
    amended = await amend(world, token, clock["id"], add={"transactions": [transaction(name="Tea")]})
    assert conflicts == 0
    assert "Tea" in names(amended["pendingTransactions"])
    conflicts = stored_clocks._MAX_ATTEMPTS
    params = {"id": clock["id"], "cancel": [clock["pendingTransactions"][0]["id"]]}
    assert reason_of(await world.call(AMEND, params, token)) == "UNAVAILABLE"
    assert (await world.result("getTestClock", {"id": clock["id"]}, token))["clock"] == amended


async def test_clock_deleted_during_an_amendment_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)

    store: Any = _OtherServer(world.store, world.store.delete_clock)
    world.services.clocks._store = store
    params = {"id": clock["id"], "cancel": [clock["pendingTransactions"][0]["id"]]}
    assert reason_of(await world.call(AMEND, params, token)) == "CLOCK_NOT_FOUND"


async def test_stranger_who_waits_for_own_calls_does_not_block_amendments(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_clocks, "_LARGE", 0)
    clock = await world.create(token, **SCHEDULE)
    await world.result("getTestClock", {"id": clock["id"]}, token)
    stranger = await world.sign_in(BEN)
    user = ids.read("user", (await world.result("getCurrentUser", {}, stranger))["userId"])
    assert user
    params, released = {"id": clock["id"], "add": {"transactions": [transaction()]}}, asyncio.Event()

    async def hold() -> None:
        await gate.become_heavy()
        await released.wait()

    place = world.gate.enter(user)
    assert place
    holding = asyncio.ensure_future(world.gate.run(place, world.gate.call("test", hold)))
    waiting = asyncio.ensure_future(world.call(AMEND, params, stranger))
    for _ in range(50):
        await asyncio.sleep(0)
    monkeypatch.setattr(stored_clocks, "_MAX_WAIT_SECONDS", 0.0)
    assert "result" in (await world.call(AMEND, params, token)).json
    released.set()
    await holding
    assert reason_of(await waiting) == "CLOCK_NOT_FOUND"


async def test_amendment_gives_up_if_others_take_too_long(
    world: World, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = await world.create(token, **SCHEDULE)
    monkeypatch.setattr(stored_clocks, "_MAX_WAIT_SECONDS", 0.0)
    async with world.services.clocks._locks.setdefault(clock["id"], asyncio.Lock()):
        params = {"id": clock["id"], "cancel": [clock["pendingTransactions"][0]["id"]]}
        assert reason_of(await world.call(AMEND, params, token)) == "UNAVAILABLE"
        response = await world.post(call(AMEND, params), token, **idempotency_header("k"))
        assert reason_of(response) == "UNAVAILABLE"
    assert "result" in (await world.call(AMEND, params, token)).json
