"""forkTestClock: a new clock with the same schedule and maxTime, at any instant."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import (
    MICROSECOND,
    OMITTED,
    START,
    call,
    contribution,
    goal,
    reason_of,
    shift,
    to_timestamp,
    transaction,
    without_ids,
)
from tests.support.cases import each_case
from tests.support.world import World, open_world, run_concurrently

FORK = "forkTestClock"
MAX_TIME = "2037-01-01T00:00:00Z"
TIMES = ["2027-02-01T00:00:00Z", "2027-06-01T00:00:00Z", MAX_TIME]
SCHEDULE = {
    "frozenTime": START,
    "transactions": [
        transaction(at=TIMES[1], name="später", category="b"),
        transaction(at=TIMES[0], name="früher"),
        transaction(at=TIMES[2], name="zuletzt", type="EXPENSE"),
    ],
    "goals": [
        goal(initialAmount=0.1, contributions=[contribution(at=time, amount=0.2) for time in TIMES]),
        goal(name="Nothing yet", targetAmount=5),
    ],
}


async def fork(world: World, token: str, clock: Any, **at: str) -> Any:
    return (await world.result(FORK, {"id": clock["id"], **at}, token))["clock"]


async def get(world: World, token: str, clock: Any, **at: str) -> Any:
    return (await world.result("getTestClock", {"id": clock["id"], **at}, token))["clock"]


def every_id(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [part for name, part in value.items() if name == "id"] + every_id(list(value.values()))
    return [id for part in value for id in every_id(part)] if isinstance(value, list) else []


# Contents


async def test_fork_starts_at_the_start_of_the_original(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    await world.advance(token, clock["id"], TIMES[1])
    forked = await fork(world, token, clock)
    assert without_ids(forked) == without_ids(clock)
    assert await get(world, token, forked) == forked


@each_case("at", [START, *TIMES, "2027-05-31T23:59:59.999999Z"])
async def test_fork_equals_the_clock_at_that_instant(world: World, token: str, at: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    preview = await get(world, token, clock, at=at)
    await world.advance(token, clock["id"], TIMES[1])
    forked = await fork(world, token, clock, at=at)
    assert without_ids(forked) == without_ids(preview)
    assert forked["frozenTime"] == at
    assert forked.keys() == clock.keys()


async def test_fork_has_its_own_ids(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    forked, again = await fork(world, token, clock), await fork(world, token, clock)
    ids = [every_id(each) for each in (clock, forked, again)]
    assert [len(each) for each in ids] == [9, 9, 9]
    assert len({id for each in ids for id in each}) == 27
    for each in ids:
        key = each[0].removeprefix("clock_").replace("-", "")
        assert [re.sub(rf"^(txn|goal|ctb)_{key}(_[0-9]+)+$", "", id) for id in each[1:]] == [""] * 8
    # Without the key of their clock, they are the same, in the same order.
    assert len({tuple(re.sub("[0-9a-f]{32}", "", id) for id in each[1:]) for each in ids}) == 1


async def test_text_that_looks_like_ids_is_unchanged(world: World, token: str, tmp_path: Path) -> None:
    async with open_world(tmp_path / "before") as before:
        # Another world with the same seed creates the same ids.
        known = (await before.create(await before.sign_in()))["id"]
    key = known.removeprefix("clock_").replace("-", "")
    texts = [key, f"txn_{key}_0", f'"id":"txn_{key}_0",', f"{key}{key}", known, f"\\{key}"]
    params = {
        "frozenTime": START,
        "transactions": [transaction(name=text, category=text[:80]) for text in texts],
        "goals": [goal(name=text, contributions=[contribution()]) for text in texts],
    }
    clock = await world.create(token, **params)
    assert clock["id"] == known
    forked = await fork(world, token, clock)
    assert without_ids(forked) == without_ids(clock)
    assert [item["name"] for item in forked["pendingTransactions"]] == texts
    assert not {*every_id(forked)} & {*every_id(clock)}
    assert without_ids(await fork(world, token, forked)) == without_ids(clock)


async def test_fork_expires_seven_days_from_now(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    world.pass_time(days=6, microseconds=678_999)
    forked = await fork(world, token, clock)
    born = world.now.replace(microsecond=world.now.microsecond // 1000 * 1000)
    assert forked["expiresAt"] == to_timestamp(born + timedelta(days=7))
    world.now = datetime.fromisoformat(clock["expiresAt"])
    assert reason_of(await world.call("getTestClock", {"id": clock["id"]}, token)) == "CLOCK_EXPIRED"
    assert await get(world, token, forked) == forked
    world.now = datetime.fromisoformat(forked["expiresAt"])
    assert reason_of(await world.call(FORK, {"id": forked["id"]}, token)) == "CLOCK_EXPIRED"


# Independence


async def test_fork_and_original_move_independently(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    forked = await fork(world, token, clock)
    further = await world.advance(token, forked["id"], TIMES[1])
    assert await get(world, token, clock) == clock
    await world.advance(token, clock["id"], TIMES[2])
    assert await get(world, token, forked) == further


async def test_fork_advances_like_the_original(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    forked = await fork(world, token, clock)
    for time in TIMES:
        moves = [await world.advance(token, which["id"], time) for which in (clock, forked)]
        assert without_ids(moves[0]) == without_ids(moves[1])
    beyond = {"id": forked["id"], "frozenTime": shift(MAX_TIME, MICROSECOND)}
    assert (await world.error("advanceTestClock", beyond, token))["data"]["maxTime"] == MAX_TIME


async def test_fork_and_original_are_deleted_independently(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    forked, other = await fork(world, token, clock), await fork(world, token, clock)
    await world.result("deleteTestClock", {"id": clock["id"]}, token)
    assert await get(world, token, forked) == forked
    await world.result("deleteTestClock", {"id": forked["id"]}, token)
    assert await get(world, token, other) == other
    assert without_ids(await fork(world, token, other)) == without_ids(clock)


# Range of `at`


@pytest.mark.parametrize(
    "at", [shift(START, -MICROSECOND), shift(MAX_TIME, MICROSECOND), "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
@pytest.mark.parametrize("generation", [0, 1, 2])
async def test_fork_outside_of_start_and_max_time_is_rejected(
    world: World, token: str, at: str, generation: int
) -> None:
    clock = await world.create(token, **SCHEDULE)
    for time in TIMES[:generation]:
        clock = await fork(world, token, clock, at=time)
    response = await world.call(FORK, {"id": clock["id"], "at": at}, token)
    assert (response.status, response.json["error"]["code"]) == (200, -32602)
    assert response.json["error"]["message"] == "1 field of forkTestClock is invalid."
    message = f"must be between the clock's start and its maxTime ({START} to {MAX_TIME})"
    assert response.json["error"]["data"] == {
        "reason": "INVALID_PARAMS",
        "errors": [{"path": "at", "rule": "range", "message": message, "got": at}],
    }
    assert len((await world.result("listTestClocks", {}, token))["clocks"]) == generation + 1


async def test_fork_of_a_fork_keeps_the_original_start_and_max_time(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    late = await fork(world, token, clock, at=TIMES[1])
    last = await fork(world, token, late, at=MAX_TIME)
    assert last["frozenTime"] == last["maxTime"] == late["maxTime"] == MAX_TIME
    assert last["pendingTransactions"] == []
    for each in (late, last):
        rewound = await fork(world, token, each)
        assert without_ids(rewound) == without_ids(clock)
        assert without_ids(await fork(world, token, each, at=START)) == without_ids(clock)


async def test_default_start_keeps_its_microseconds(world: World, token: str) -> None:
    world.now = world.now.replace(microsecond=678_901)
    clock = await world.create(token)
    world.pass_time(days=1)
    forked = await fork(world, token, clock)
    assert (forked["frozenTime"], forked["maxTime"]) == (clock["frozenTime"], clock["maxTime"])
    before = {"id": forked["id"], "at": shift(clock["frozenTime"], -MICROSECOND)}
    assert await world.faults(FORK, before, token) == {"at": "range"}


async def test_fork_with_start_more_than_ten_years_ago_is_accepted(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=to_timestamp(world.now.replace(year=2017)))
    world.pass_time(days=6)
    assert (
        reason_of(await world.call("createTestClock", {"frozenTime": clock["frozenTime"]}, token)) == "INVALID_PARAMS"
    )
    assert without_ids(await fork(world, token, clock)) == without_ids(clock)


@each_case("at", ["2027-02-01T01:00:00+01:00", "2027-01-31T23:59:60Z", "2027-02-01t00:00:00.0000009z"])
async def test_at_accepts_any_rfc_3339_form(world: World, token: str, at: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    assert (await fork(world, token, clock, at=at))["frozenTime"] == TIMES[0]


# Quota and notifications


async def test_fork_counts_towards_the_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=2) as world:
        token = await world.sign_in()
        clock = await world.create(token, **SCHEDULE)
        world.pass_time(hours=1)
        forked = await fork(world, token, clock)
        response = await world.call(FORK, {"id": clock["id"]}, token)
        assert (response.status, response.headers["retry-after"]) == (429, str(7 * 86_400 - 3_600))
        assert response.json["error"]["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 7 * 86_400 - 3_600}
        assert reason_of(await world.call("createTestClock", {}, token)) == "RATE_LIMITED"
        await world.result("deleteTestClock", {"id": clock["id"]}, token)
        assert without_ids(await fork(world, token, forked)) == without_ids(clock)


async def test_clock_and_at_are_checked_before_the_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=1) as world:
        token = await world.sign_in()
        clock = await world.create(token, **SCHEDULE)
        assert reason_of(await world.call(FORK, {"id": "clock_none"}, token)) == "CLOCK_NOT_FOUND"
        assert await world.faults(FORK, {"id": clock["id"], "at": "1999-01-01T00:00:00Z"}, token) == {"at": "range"}
        assert reason_of(await world.call(FORK, {"id": clock["id"]}, token)) == "RATE_LIMITED"


async def test_concurrent_forks_stay_within_the_quota(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=10) as world:
        token = await world.sign_in()
        clock = await world.create(token, **SCHEDULE)
        responses = await run_concurrently(50, lambda _: world.call(FORK, {"id": clock["id"]}, token))
        made = [response.json["result"]["clock"]["id"] for response in responses if "result" in response.json]
        assert len(set(made)) == 9
        assert {reason_of(response) for response in responses if "error" in response.json} == {"RATE_LIMITED"}


async def test_fork_as_notification_works(world: World, token: str) -> None:
    clock = await world.create(token, **SCHEDULE)
    assert (await world.post(call(FORK, {"id": clock["id"]}, OMITTED), token)).status == 204
    assert len((await world.result("listTestClocks", {}, token))["clocks"]) == 2
