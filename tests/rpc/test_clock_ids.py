"""Operations on one clock: ids, owners, expiry and the order of checks."""

from datetime import datetime
from typing import Any

import pytest

from tests.rpc.builders import (
    BEN,
    MICROSECOND,
    OMITTED,
    START,
    UNKNOWN_IDS,
    call,
    reason_of,
    rows,
    value_id,
)
from tests.support.world import World

METHODS = ("getTestClock", "deleteTestClock", "forkTestClock")
PREVIEWS = ("getTestClock", "forkTestClock")
"""Operations with `at`."""

every = pytest.mark.parametrize("method", METHODS)


def of(clock: Any) -> dict[str, Any]:
    return {"id": clock["id"]}


def never_made(clock: Any) -> Any:
    """Return an unknown id with the same creation time."""
    return clock | {"id": clock["id"][:-12] + "0123456789ab"}


# Parameters


@pytest.mark.parametrize(
    ("field", "rule", "value"),
    [
        *rows("id", "required", OMITTED),
        *rows("id", "type", None, 5, True, [], {}),
        *rows("id", "format", "\0", "clock_\ud800"),
        *rows("ID", "unknown", "x"),
        *rows("frozenTime", "unknown", START),
        *rows("limit", "unknown", 5),
    ],
    ids=value_id,
)
async def test_invalid_parameters_are_rejected(world: World, token: str, field: str, rule: str, value: Any) -> None:
    good = of(await world.create(token, frozenTime=START))
    params = {name: value for name, value in {**good, field: value}.items() if value is not OMITTED}
    faults = {method: await world.faults(method, params, token) for method in METHODS}
    assert faults == {method: {field: rule} for method in METHODS}


@every
async def test_missing_id_is_rejected(world: World, token: str, method: str) -> None:
    assert await world.faults(method, None, token) == {"id": "required"}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("null", None), ("type", 5), ("type", True), ("type", []), ("type", {}), ("format", ""), ("format", "now"),
        ("format", "2027-03-01"), ("format", "2027-03-01T00:00:00"), ("format", "2027-02-29T00:00:00Z"),
        ("format", "2027-03-01 00:00:00Z"),
    ],
    ids=value_id,
)  # fmt: skip
async def test_at_must_be_a_timestamp(world: World, token: str, rule: str, value: Any) -> None:
    params = of(await world.create(token, frozenTime=START)) | {"at": value}
    faults = {method: await world.faults(method, params, token) for method in PREVIEWS}
    assert faults == {method: {"at": rule} for method in PREVIEWS}


@pytest.mark.parametrize("method", PREVIEWS)
async def test_all_faults_are_listed(world: World, token: str, method: str) -> None:
    params = {"id": 5, "at": "soon", "until": "later"}
    assert await world.faults(method, params, token) == {"id": "type", "at": "format", "until": "unknown"}


async def test_delete_rejects_at(world: World, token: str) -> None:
    params = of(await world.create(token, frozenTime=START)) | {"at": START}
    assert await world.faults("deleteTestClock", params, token) == {"at": "unknown"}


# Authentication and owners


@every
@pytest.mark.parametrize("wrong", [None, "tko_" + "A" * 43, "secret"])
async def test_call_without_valid_token_is_rejected(world: World, token: str, method: str, wrong: str | None) -> None:
    clock = await world.create(token, frozenTime=START)
    response = await world.call(method, of(clock), wrong)
    assert (response.status, reason_of(response)) == (401, "UNAUTHENTICATED")
    assert (await world.result("getTestClock", of(clock), token)) == {"clock": clock}


@every
async def test_revoked_token_is_rejected(world: World, token: str, method: str) -> None:
    clock = await world.create(token, frozenTime=START)
    await world.result("logout", {}, token)
    assert reason_of(await world.call(method, of(clock), token)) == "UNAUTHENTICATED"


@every
async def test_owner_can_use_any_token(world: World, token: str, method: str) -> None:
    clock = await world.create(token, frozenTime=START)
    another = await world.sign_in()
    assert another != token
    assert "result" in (await world.call(method, of(clock), another)).json


@every
async def test_unknown_id_is_not_found(world: World, token: str, method: str) -> None:
    for id in UNKNOWN_IDS:
        response = await world.call(method, {"id": id}, token)
        assert (id, response.status, response.json["error"]["code"]) == (id, 200, -32004)
        assert response.json["error"]["data"] == {"reason": "CLOCK_NOT_FOUND"}


@pytest.mark.parametrize("method", [*METHODS, "advanceTestClock"])
async def test_unknown_deleted_and_foreign_clocks_have_the_same_response(world: World, token: str, method: str) -> None:
    clock, deleted = [await world.create(token, frozenTime=START) for _ in range(2)]
    ben = await world.sign_in(BEN)
    bens_deleted = await world.create(ben, frozenTime=START)
    for who, which in ((token, deleted), (ben, bens_deleted)):
        # Cache its schedule, which must not matter.
        await world.result("getTestClock", of(which), who)
        await world.result("deleteTestClock", of(which), who)
    asked = {"frozenTime": START} if method == "advanceTestClock" else {}
    responses = [
        await world.post(call(method, of(which) | asked), ben)
        for which in (clock, never_made(clock), deleted, bens_deleted)
    ]
    responses.append(await world.post(call(method, of(deleted) | asked), token))
    assert reason_of(responses[0]) == "CLOCK_NOT_FOUND"
    assert len({response.body for response in responses}) == 1
    assert (await world.result("getTestClock", of(clock), token)) == {"clock": clock}


# Expiry


@every
@pytest.mark.parametrize("microsecond", [0, 678_999], ids=["born on the millisecond", "born between two"])
async def test_clock_expires_exactly_at_expires_at(world: World, token: str, method: str, microsecond: int) -> None:
    world.now = datetime.fromisoformat("2027-01-02T03:04:05Z").replace(microsecond=microsecond)
    last, clock = [await world.create(token, frozenTime=START) for _ in range(2)]
    world.now = datetime.fromisoformat(clock["expiresAt"]) - MICROSECOND
    assert "result" in (await world.call(method, of(last), token)).json
    world.now += MICROSECOND
    for which in (last, clock):
        response = await world.call(method, of(which), token)
        assert (response.status, response.json["error"]["code"]) == (200, -32010)
        assert response.json["error"]["data"] == {"reason": "CLOCK_EXPIRED"}


@every
async def test_expired_id_is_expired_for_every_caller(world: World, token: str, method: str) -> None:
    clock, deleted = [await world.create(token, frozenTime=START) for _ in range(2)]
    await world.result("deleteTestClock", of(deleted), token)
    ben = await world.sign_in(BEN)
    world.now = datetime.fromisoformat(clock["expiresAt"])
    asked = [(which, who) for which in (clock, deleted, never_made(clock)) for who in (token, ben)]
    responses = [await world.post(call(method, of(which)), who) for which, who in asked]
    assert await world.store.sweep(world.now, 100) > 0
    responses += [await world.post(call(method, of(which)), who) for which, who in asked]
    assert reason_of(responses[0]) == "CLOCK_EXPIRED"
    assert len({response.body for response in responses}) == 1


@every
async def test_unknown_id_younger_than_seven_days_is_not_found(world: World, token: str, method: str) -> None:
    clock = await world.create(token, frozenTime=START)
    world.now = datetime.fromisoformat(clock["expiresAt"]) - MICROSECOND
    assert reason_of(await world.call(method, of(never_made(clock)), token)) == "CLOCK_NOT_FOUND"


# Order of checks: token, parameters, clock, time


@every
async def test_token_and_parameters_are_checked_before_the_clock(world: World, token: str, method: str) -> None:
    clock = await world.create(token, frozenTime=START)
    world.now = datetime.fromisoformat(clock["expiresAt"])
    assert reason_of(await world.call(method, of(clock) | {"until": 5})) == "UNAUTHENTICATED"
    assert await world.faults(method, of(clock) | {"until": 5}, token) == {"until": "unknown"}
    assert reason_of(await world.call(method, of(clock), token)) == "CLOCK_EXPIRED"


@pytest.mark.parametrize("method", PREVIEWS)
async def test_first_failing_check_decides(world: World, token: str, method: str) -> None:
    clock = await world.create(token, frozenTime=START)
    no_clock, no_time, out_of_range = {"id": "clock_none"}, {"at": "soon"}, {"at": "1999-01-01T00:00:00Z"}
    assert reason_of(await world.call(method, {"at": 5})) == "UNAUTHENTICATED"
    assert reason_of(await world.call(method, no_clock | no_time, token)) == "INVALID_PARAMS"
    assert reason_of(await world.call(method, no_clock | out_of_range, token)) == "CLOCK_NOT_FOUND"
    world.now = datetime.fromisoformat(clock["expiresAt"])
    assert reason_of(await world.call(method, of(clock) | no_time, token)) == "INVALID_PARAMS"
    assert reason_of(await world.call(method, of(clock) | out_of_range, token)) == "CLOCK_EXPIRED"
