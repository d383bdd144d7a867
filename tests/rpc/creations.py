"""Clocks that are created with an Idempotency-Key: what is sent, and what is told."""

from typing import Any

from tests.rpc.builders import keyed, raw_call, reason_of
from tests.support.world import HttpResponse, World

CREATE = "createTestClock"
SENT = (
    '{"frozenTime":"2027-01-01T00:00:00Z","transactions":[{"at":"2027-02-01T00:00:00Z","name":"Zürich / A",'
    '"amount":1,"currency":"CHF","type":"INCOME"}],"goals":[{"name":"G","targetAmount":2.5,"initialAmount":0}]}'
)


async def create(world: World, token: str, key: str, params: str = SENT) -> HttpResponse:
    """Parameters as the very text given."""
    return await world.post(raw_call(CREATE, params), token, **keyed(key))


async def clock_of(world: World, token: str, key: str, params: str = SENT) -> Any:
    answer = await create(world, token, key, params)
    assert "result" in answer.json, answer.json
    return answer.json["result"]["clock"]


def faults_in(answer: HttpResponse) -> dict[str, str]:
    assert reason_of(answer) == "INVALID_PARAMS"
    return {fault["path"]: fault["rule"] for fault in answer.json["error"]["data"]["errors"]}


async def living(world: World, token: str) -> list[str]:
    listed = await world.result("listTestClocks", {"limit": 100}, token)
    return [clock["id"] for clock in listed["clocks"]]
