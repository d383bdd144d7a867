"""A valid call of every operation that needs a token."""

from typing import Any

from tests.support.world import World

AT = "2027-03-01T00:00:00Z"
SCENARIO = 'goals = [{name = "Trip", target = 100}]'


async def calls_with_token(world: World, token: str) -> dict[str, dict[str, Any]]:
    """Return the parameters of each operation, for a new clock. `logout` is the last."""
    clock = {"id": (await world.create(token, frozenTime="2027-02-01T00:00:00Z"))["id"]}
    return {
        "createTestClock": {},
        "advanceTestClock": {**clock, "frozenTime": AT},
        "getTestClock": clock,
        "listTestClocks": {},
        "updateTestClock": {**clock, "name": "Nightly run"},
        "forkTestClock": clock,
        "amendTestClock": {**clock, "add": {"goals": [{"name": "Trip", "targetAmount": 100}]}},
        "listTestClockEvents": clock,
        "getTestClockBalances": clock,
        "checkTestClock": {**clock, "expectations": [{"posted": {"name": "Rent", "by": AT}}]},
        "expandScenario": {"text": SCENARIO},
        "exportTestClock": {**clock, "format": "csv"},
        "getCurrentUser": {},
        "createAccessToken": {"name": "CI"},
        "listAccessTokens": {},
        "revokeAccessToken": {"id": (await world.result("createAccessToken", {"name": "old"}, token))["id"]},
        "deleteTestClock": clock,
        "logout": {},
    }
