"""createTestClock: authentication, the form of its result and error, and the quota.

tests/unit/test_explain.py has the rules of its parameters, and test_properties.py those of views.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.rpc.builders import BEN, call, goal, transaction
from tests.support.world import World, open_world

CREATE = "createTestClock"


# Results and errors


async def test_empty_clock_has_all_fields(world: World, token: str) -> None:
    world.now = datetime(2027, 1, 2, 3, 4, 5, 678_999, UTC)
    result = await world.result("createTestClock", {}, token)
    assert result.keys() == {"clock"}
    clock = result["clock"]
    assert re.fullmatch(r"clock_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", clock.pop("id"))
    assert clock == {
        "status": "READY",
        "frozenTime": "2027-01-02T03:04:05.678999Z",
        "maxTime": "2037-01-02T03:04:05.678999Z",
        "expiresAt": "2027-01-09T03:04:05.678000Z",
        "transactions": [],
        "pendingTransactions": [],
        "goals": [],
    }


async def test_error_object_has_the_documented_form(world: World, token: str) -> None:
    entries = [transaction(), transaction(), transaction(), transaction(amount=-5)]
    params = {"transactions": entries, "goals": [goal(targetAmount=1000, initialAmount=1001)]}
    response = await world.post(call(CREATE, params), token)
    amount = {"path": "transactions[3].amount", "rule": "positive", "message": "must be greater than 0", "got": -5}
    initial = {"path": "goals[0].initialAmount", "rule": "max", "message": "must not exceed targetAmount (1000)"}
    assert response.json == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32602,
            "message": "2 fields of createTestClock are invalid.",
            "data": {"reason": "INVALID_PARAMS", "errors": [amount, initial | {"got": 1001}]},
        },
    }


# Quota


async def test_number_of_live_clocks_is_limited(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=3) as world:
        ana, ben = await world.sign_in(), await world.sign_in(BEN)
        for _ in range(3):
            await world.create(ana)
            world.pass_time(hours=1)
        response = await world.call(CREATE, {}, ana)
        wait = 7 * 86_400 - 3 * 3_600
        assert (response.status, response.headers["retry-after"]) == (429, str(wait))
        assert response.json["error"]["code"] == -32005
        assert response.json["error"]["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": wait}
        await world.create(ben)

        world.pass_time(seconds=wait - 0.000001)
        response = await world.call(CREATE, {}, ana)
        assert response.json["error"]["data"]["retryAfterSeconds"] == 1
        world.pass_time(microseconds=1)
        await world.create(ana)
        response = await world.call(CREATE, {}, ana)
        assert response.json["error"]["data"]["retryAfterSeconds"] == 3_600


async def test_bytes_of_a_user_are_limited_in_every_operation(tmp_path: Path, database_url: str) -> None:
    labels = {f"label{number}": "x" * 200 for number in range(20)}
    async with open_world(tmp_path, database_url, max_bytes_per_user=3_000) as world:
        token = await world.sign_in()
        clock = await world.create(token)
        id = {"id": clock["id"]}
        calls: dict[str, dict[str, Any]] = {
            CREATE: {"labels": labels},
            "forkTestClock": {**id, "labels": labels},
            "updateTestClock": {**id, "labels": labels},
            "amendTestClock": {**id, "add": {"transactions": [transaction()] * 100}},
        }
        for method, params in calls.items():
            error = await world.error(method, params, token)
            assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 7 * 86_400}, method
            assert "the limit of 3000 bytes" in error["message"]
        assert await world.result("getTestClock", id, token) == {"clock": clock}
