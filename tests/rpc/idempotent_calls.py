"""Helpers for creating clocks with an Idempotency-Key."""

from typing import Any

from tests.rpc.builders import idempotency_header, raw_call, reason_of
from tests.support.world import HttpResponse, World

CREATE = "createTestClock"
SENT = (
    '{"frozenTime":"2027-01-01T00:00:00Z","transactions":[{"at":"2027-02-01T00:00:00Z","name":"Zürich / A",'
    '"amount":1,"currency":"CHF","type":"INCOME"}],"goals":[{"name":"G","targetAmount":2.5,"initialAmount":0}]}'
)


async def create(world: World, token: str, key: str, params: str = SENT) -> HttpResponse:
    """Create a clock with parameters as JSON text."""
    return await world.post(raw_call(CREATE, params), token, **idempotency_header(key))


async def clock_of(world: World, token: str, key: str, params: str = SENT) -> Any:
    response = await create(world, token, key, params)
    assert "result" in response.json, response.json
    return response.json["result"]["clock"]


def faults_in(response: HttpResponse) -> dict[str, str]:
    assert reason_of(response) == "INVALID_PARAMS"
    return {fault["path"]: fault["rule"] for fault in response.json["error"]["data"]["errors"]}


async def live_clock_ids(world: World, token: str) -> list[str]:
    listed = await world.result("listTestClocks", {"limit": 100}, token)
    return [clock["id"] for clock in listed["clocks"]]
