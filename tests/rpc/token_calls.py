"""A valid call of every operation that needs a token."""

import json
from typing import Any

from tests.support.world import World
from tickover.server.operations import OPERATIONS
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK


async def calls_with_token(world: World, token: str) -> dict[str, dict[str, Any]]:
    """Return the parameters of each operation, for a new clock. Those that end the token are last."""
    clock = (await world.create(token, **next(iter(OPERATIONS["createTestClock"].examples.values()))))["id"]
    revoked = (await world.result("createAccessToken", {"name": "old"}, token))["id"]
    names = [name for name, operation in OPERATIONS.items() if operation.needs is not None]
    calls = {name: _for_clock(next(iter(OPERATIONS[name].examples.values())), clock) for name in names}
    calls["revokeAccessToken"] = {"id": revoked}
    connected = await world.result("connectTestClock", calls["connectTestClock"], token)
    calls["disconnectTestClock"] = {"id": clock, "connectionId": connected["connection"]["id"]}
    calls["advanceTestClock"] = {"id": clock, "frozenTime": "2027-02-01T00:00:00Z"}
    calls["listConnectionCalls"] = calls["disconnectTestClock"]
    calls["updateTestClockConnection"] = {**calls["disconnectTestClock"], "quirks": ["DOUBLES"]}
    return calls | {name: calls.pop(name) for name in ("deleteTestClock", "deleteCurrentUser", "logout")}


def _for_clock(params: Any, clock: str) -> dict[str, Any]:
    """Replace the clock of the examples, also in the IDs of its items."""
    written = json.dumps(params)
    for old, new in zip(_forms(EXAMPLE_CLOCK), _forms(clock), strict=True):
        written = written.replace(old, new)
    replaced: dict[str, Any] = json.loads(written)
    return {**replaced, "id": clock} if "id" in replaced else replaced


def _forms(id: str) -> tuple[str, str]:
    return id, id.removeprefix("clock_").replace("-", "")
