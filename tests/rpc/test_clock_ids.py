"""Every operation on one clock: unknown ids, owners, expiry and the order of checks."""

from datetime import datetime
from typing import Any

import pytest

from tests.rpc.builders import BEN, MICROSECOND, call, reason_of
from tests.rpc.token_calls import calls_with_token
from tests.support.world import World
from tickover.api.errors import Reason
from tickover.server.operations import OPERATIONS

METHODS = [name for name, operation in OPERATIONS.items() if Reason.CLOCK_NOT_FOUND in operation.all_reasons]
TIMES = {
    "advanceTestClock": "frozenTime",
    "getTestClock": "at",
    "forkTestClock": "at",
    "getTestClockBalances": "at",
}
"""The parameter of each of these methods that must be within the time of the clock."""

every = pytest.mark.parametrize("method", METHODS)


async def params_of(world: World, token: str, method: str) -> dict[str, Any]:
    """Return valid parameters for a new clock."""
    return (await calls_with_token(world, token))[method]


async def get(world: World, token: str, params: dict[str, Any]) -> Any:
    return (await world.result("getTestClock", {"id": params["id"]}, token))["clock"]


def never_made(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with an unknown id of the same creation time."""
    return {**params, "id": params["id"][:-12] + "0123456789ab"}


@every
@pytest.mark.parametrize("id", ["", "goal_01a2d11f-0200-7000-8000-000000000000"], ids=len)
async def test_id_of_another_form_is_not_found(world: World, token: str, method: str, id: str) -> None:
    response = await world.call(method, {**await params_of(world, token, method), "id": id}, token)
    assert (response.status, response.json["error"]["code"]) == (200, -32004)
    assert response.json["error"]["data"] == {"reason": "CLOCK_NOT_FOUND"}


@every
async def test_unknown_deleted_and_foreign_clocks_have_the_same_response(world: World, token: str, method: str) -> None:
    ben = await world.sign_in(BEN)
    anas, deleted = [await params_of(world, token, method) for _ in range(2)]
    bens_deleted = await params_of(world, ben, method)
    for who, which in ((token, deleted), (ben, bens_deleted)):
        # Cache its schedule, which must not matter.
        await get(world, who, which)
        await world.result("deleteTestClock", {"id": which["id"]}, who)
    before = await get(world, token, anas)
    asked = [(ben, anas), (ben, never_made(anas)), (ben, deleted), (ben, bens_deleted), (token, deleted)]
    world.now = datetime.fromisoformat(before["expiresAt"]) - MICROSECOND
    responses = [await world.post(call(method, params), who) for who, params in asked]
    assert reason_of(responses[0]) == "CLOCK_NOT_FOUND"
    assert len({response.body for response in responses}) == 1
    assert await get(world, token, anas) == before


@every
async def test_clock_expires_exactly_at_expires_at(world: World, token: str, method: str) -> None:
    # The clock expires by the millisecond of its creation.
    world.now = datetime.fromisoformat("2027-01-02T03:04:05.678999Z")
    last, params = [await params_of(world, token, method) for _ in range(2)]
    world.now = datetime.fromisoformat((await get(world, token, params))["expiresAt"]) - MICROSECOND
    assert "result" in (await world.call(method, last, token)).json
    world.now += MICROSECOND
    for which in (last, params):
        response = await world.call(method, which, token)
        assert (response.status, response.json["error"]["code"]) == (200, -32010)
        assert response.json["error"]["data"] == {"reason": "CLOCK_EXPIRED"}


@every
async def test_expired_id_is_expired_for_every_caller(world: World, token: str, method: str) -> None:
    params, deleted = [await params_of(world, token, method) for _ in range(2)]
    ben = await world.sign_in(BEN)
    expires_at = (await get(world, token, deleted))["expiresAt"]
    await world.result("deleteTestClock", {"id": deleted["id"]}, token)
    world.now = datetime.fromisoformat(expires_at)
    asked = [(which, who) for which in (params, deleted, never_made(params)) for who in (token, ben)]
    responses = [await world.post(call(method, which), who) for which, who in asked]
    assert await world.store.sweep(world.now, 100) > 0
    responses += [await world.post(call(method, which), who) for which, who in asked]
    assert reason_of(responses[0]) == "CLOCK_EXPIRED"
    assert len({response.body for response in responses}) == 1


@every
async def test_token_and_parameters_are_checked_before_the_clock(world: World, token: str, method: str) -> None:
    params = await params_of(world, token, method)
    world.pass_time(days=7)
    assert reason_of(await world.call(method, {**params, "x": 5})) == "UNAUTHENTICATED"
    assert await world.faults(method, {**params, "x": 5}, token) == {"x": "unknown"}
    assert reason_of(await world.call(method, params, token)) == "CLOCK_EXPIRED"


@pytest.mark.parametrize(("method", "time"), TIMES.items())
async def test_clock_is_checked_before_the_time(world: World, token: str, method: str, time: str) -> None:
    params = await params_of(world, token, method)
    no_clock, no_time, out_of_range = {"id": "clock_none"}, {time: "soon"}, {time: "1999-01-01T00:00:00Z"}
    assert reason_of(await world.call(method, params | no_clock | no_time, token)) == "INVALID_PARAMS"
    assert reason_of(await world.call(method, params | no_clock | out_of_range, token)) == "CLOCK_NOT_FOUND"
    world.pass_time(days=7)
    assert reason_of(await world.call(method, params | no_time, token)) == "INVALID_PARAMS"
    assert reason_of(await world.call(method, params | out_of_range, token)) == "CLOCK_EXPIRED"
