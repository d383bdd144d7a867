"""advanceTestClock: time only moves forward, up to maxTime, for the owner, until expiry."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.rpc.builders import (
    BEN,
    MICROSECOND,
    OMITTED,
    START,
    UNKNOWN_IDS,
    call,
    contribution,
    goal,
    reason_of,
    rows,
    to_timestamp,
    transaction,
    without_ids,
)
from tests.support.cases import each_case
from tests.support.world import World, run_concurrently

ADVANCE = "advanceTestClock"


def there(clock: Any, frozen_time: str = "2027-03-01T00:00:00Z") -> dict[str, str]:
    return {"id": clock["id"], "frozenTime": frozen_time}


async def current(world: World, token: str, clock: Any) -> str:
    """Return the clock's frozen time."""
    error = await world.error(ADVANCE, there(clock, "0001-01-01T00:00:00Z"), token)
    frozen_time: str = error["data"]["currentFrozenTime"]
    return frozen_time


# Parameters


@each_case(
    ("field", "rule", "value"),
    [
        *rows("id", "required", OMITTED),
        *rows("id", "type", None, 5, True, [], {}),
        *rows("frozenTime", "required", OMITTED),
        *rows("frozenTime", "type", None, 5, True, [], {}),
        *rows("frozenTime", "format", "", "now", "2027-03-01", "2027-03-01T00:00:00", "2027-02-29T00:00:00Z"),
        *rows("frozen_time", "unknown", "2027-03-01T00:00:00Z"),
        *rows("at", "unknown", "2027-03-01T00:00:00Z"),
    ],
)
async def test_invalid_parameters_are_rejected(world: World, token: str, field: str, rule: str, value: Any) -> None:
    good = there(await world.create(token, frozenTime=START))
    params = {name: value for name, value in {**good, field: value}.items() if value is not OMITTED}
    assert await world.faults(ADVANCE, params, token) == {field: rule}


async def test_both_parameters_are_required(world: World, token: str) -> None:
    assert await world.faults(ADVANCE, {}, token) == {"id": "required", "frozenTime": "required"}
    assert await world.faults(ADVANCE, None, token) == {"id": "required", "frozenTime": "required"}


# Authentication and owners


@each_case("wrong", [None, "tko_" + "A" * 43, "secret"])
async def test_advance_without_valid_token_is_rejected(world: World, token: str, wrong: str | None) -> None:
    clock = await world.create(token, frozenTime=START)
    response = await world.call(ADVANCE, there(clock), wrong)
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")
    assert await current(world, token, clock) == START


async def test_advance_with_expired_token_is_rejected(world: World) -> None:
    signed_in_at = world.now
    token = await world.sign_in()
    world.now = signed_in_at + timedelta(days=30) - MICROSECOND
    clock = await world.create(token, frozenTime=START)
    await world.advance(token, clock["id"], "2027-01-02T00:00:00Z")
    world.now += MICROSECOND
    assert reason_of(await world.call(ADVANCE, there(clock), token)) == "UNAUTHENTICATED"


async def test_clock_of_another_owner_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    ben = await world.sign_in(BEN)
    absent = clock | {"id": clock["id"][:-1] + ("0" if clock["id"][-1] != "0" else "1")}
    responses = [await world.post(call(ADVANCE, there(which)), ben) for which in (clock, absent)]
    assert responses[0].json["error"]["data"] == {"reason": "CLOCK_NOT_FOUND"}
    assert responses[0].body == responses[1].body
    assert await current(world, token, clock) == START


async def test_owner_can_advance_with_any_token(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    another = await world.sign_in()
    assert another != token
    assert (await world.advance(another, clock["id"], "2027-03-01T00:00:00Z"))["id"] == clock["id"]


@each_case("id", UNKNOWN_IDS)
async def test_unknown_id_is_not_found(world: World, token: str, id: str) -> None:
    response = await world.call(ADVANCE, {"id": id, "frozenTime": START}, token)
    assert (response.status, response.json["error"]["code"]) == (200, -32004)
    assert response.json["error"]["data"] == {"reason": "CLOCK_NOT_FOUND"}


@each_case("id", ["\0", "clock_\ud800"])
async def test_invalid_text_as_id_is_rejected(world: World, token: str, id: str) -> None:
    assert await world.faults("advanceTestClock", {"id": id, "frozenTime": START}, token) == {"id": "format"}


# Order of time


async def test_advance_changes_only_the_frozen_time(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    world.pass_time(hours=5)
    result = await world.result(ADVANCE, there(clock), token)
    assert result == {"clock": clock | {"frozenTime": "2027-03-01T00:00:00Z"}}


@each_case("again", ["2027-03-01T00:00:00Z", "2027-03-01T01:00:00+01:00", "2027-02-28T23:59:60Z"])
async def test_advance_to_current_time_changes_nothing(world: World, token: str, again: str) -> None:
    params = {"transactions": [transaction()], "goals": [goal(contributions=[contribution()])]}
    clock = await world.create(token, frozenTime=START, **params)
    first = await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    assert await world.advance(token, clock["id"], again) == first
    assert await world.advance(token, clock["id"], again) == first


async def test_returned_frozen_time_can_be_sent_back(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, 678_901, UTC)
    clock = await world.create(token)
    assert await world.advance(token, clock["id"], clock["frozenTime"]) == clock
    moved = await world.advance(token, clock["id"], "2027-02-01T00:00:00.1234567Z")
    assert moved["frozenTime"] == "2027-02-01T00:00:00.123456Z"
    assert await world.advance(token, clock["id"], moved["frozenTime"]) == moved


async def test_advance_to_earlier_time_is_rejected(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    await world.advance(token, clock["id"], "2027-03-01T00:00:00Z")
    for earlier in ("2027-02-28T23:59:59.999999Z", START, "0001-01-01T00:00:00Z"):
        response = await world.call(ADVANCE, there(clock, earlier), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32011)
        details = {"reason": "TIME_BEFORE_CURRENT", "currentFrozenTime": "2027-03-01T00:00:00Z"}
        assert response.json["error"]["data"] == details
    assert (await world.advance(token, clock["id"], "2027-03-01T00:00:00.000001Z"))["id"] == clock["id"]


async def test_advance_past_max_time_is_rejected(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime="2028-02-29T00:00:00.5Z")
    assert clock["maxTime"] == "2038-02-28T00:00:00.500000Z"
    beyond = to_timestamp(datetime.fromisoformat(clock["maxTime"]) + MICROSECOND)
    for after in (beyond, "9999-12-31T23:59:59.999999Z"):
        response = await world.call(ADVANCE, there(clock, after), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32012)
        assert response.json["error"]["data"] == {"reason": "TIME_AFTER_MAX", "maxTime": clock["maxTime"]}
    assert await current(world, token, clock) == clock["frozenTime"]
    last = await world.advance(token, clock["id"], clock["maxTime"])
    assert last["frozenTime"] == last["maxTime"] == clock["maxTime"]
    assert last["expiresAt"] == clock["expiresAt"]


async def test_concurrent_advances_end_at_the_latest_time(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    days = [7, 3, 28, 11, 2, 19, 5, 23]
    await run_concurrently(
        len(days), lambda n: world.call(ADVANCE, there(clock, f"2027-02-{days[n]:02}T00:00:00Z"), token)
    )
    assert await current(world, token, clock) == "2027-02-28T00:00:00Z"


# Visible items


async def test_items_at_or_before_new_time_are_visible(world: World, token: str) -> None:
    at = datetime(2027, 2, 1, 9, tzinfo=UTC)
    times = [to_timestamp(at), to_timestamp(at + MICROSECOND)]
    clock = await world.create(
        token,
        frozenTime=START,
        transactions=[transaction(at=time, name=time) for time in times],
        goals=[goal(initialAmount=100, contributions=[contribution(at=time, amount=200) for time in times])],
    )

    def seen(clock: Any) -> tuple[list[str], list[str], list[str], list[str], list[float]]:
        (shown,) = clock["goals"]
        return (
            [item["at"] for item in clock["transactions"]],
            [item["at"] for item in clock["pendingTransactions"]],
            [item["at"] for item in shown["contributions"]],
            [item["at"] for item in shown["upcomingContributions"]],
            [shown["currentAmount"], shown["remainingAmount"], shown["progressPercent"]],
        )

    before = await world.advance(token, clock["id"], to_timestamp(at - MICROSECOND))
    assert seen(before) == ([], times, [], times, [100, 900, 10])
    at_the_first = await world.advance(token, clock["id"], times[0])
    assert seen(at_the_first) == (times[:1], times[1:], times[:1], times[1:], [300, 700, 30])
    at_the_second = await world.advance(token, clock["id"], times[1])
    assert seen(at_the_second) == (times, [], times, [], [500, 500, 50])


async def test_one_advance_equals_many_small_ones(world: World, token: str) -> None:
    times = [f"2027-{month:02}-15T00:00:00Z" for month in range(1, 13)]
    params = {
        "frozenTime": START,
        "transactions": [transaction(at=time, name=time, category=time) for time in reversed(times)],
        "goals": [goal(contributions=[contribution(at=time, amount=0.1) for time in times])] * 2,
    }
    leaping, stepping = await world.create(token, **params), await world.create(token, **params)
    for time in times:
        stepped = await world.advance(token, stepping["id"], time)
    leapt = await world.advance(token, leaping["id"], times[-1])
    assert without_ids(leapt) == without_ids(stepped)
    assert leapt["goals"][1]["currentAmount"] == 1.2


# Expiry


@pytest.mark.parametrize("microsecond", [0, 678_999], ids=["born on the millisecond", "born between two"])
async def test_clock_expires_exactly_at_expires_at(world: World, token: str, microsecond: int) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, microsecond, UTC)
    clock = await world.create(token, frozenTime=START)
    world.now = datetime.fromisoformat(clock["expiresAt"]) - MICROSECOND
    assert (await world.advance(token, clock["id"], "2027-02-01T00:00:00Z"))["expiresAt"] == clock["expiresAt"]
    world.now += MICROSECOND
    for frozen_time in ("2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z", START, "2099-01-01T00:00:00Z"):
        response = await world.call(ADVANCE, there(clock, frozen_time), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32010)
        assert response.json["error"]["data"] == {"reason": "CLOCK_EXPIRED"}


async def test_expired_id_is_expired_for_every_caller(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    unknown = clock | {"id": clock["id"][:-12] + "0123456789ab"}
    ben = await world.sign_in(BEN)
    world.now = datetime.fromisoformat(clock["expiresAt"])
    responses = [await world.post(call(ADVANCE, there(clock)), asking) for asking in (token, ben)]
    responses += [await world.post(call(ADVANCE, there(unknown)), asking) for asking in (token, ben)]
    assert await world.store.sweep(world.now, 100) > 0
    responses += [await world.post(call(ADVANCE, there(clock)), asking) for asking in (token, ben)]
    assert reason_of(responses[0]) == "CLOCK_EXPIRED"
    assert len({response.body for response in responses}) == 1


async def test_unknown_id_younger_than_seven_days_is_not_found(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START)
    unknown = clock | {"id": clock["id"][:-12] + "0123456789ab"}
    world.now = datetime.fromisoformat(clock["expiresAt"]) - MICROSECOND
    assert reason_of(await world.call(ADVANCE, there(unknown), token)) == "CLOCK_NOT_FOUND"
