"""Calls are unavailable while the wall clock is wrong by decades."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.rpc.builders import reason_of, send
from tests.support.world import World

WRONG = [datetime(1969, 12, 31, tzinfo=UTC), datetime(1970, 1, 7, 23, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
CALLS: dict[str, Any] = {
    "createTestClock": {},
    "listTestClocks": {},
    "sendLoginCodeEmail": send("ben@example.test"),
    "rpc.discover": {},
}


@pytest.mark.parametrize("now", WRONG, ids=str)
@pytest.mark.parametrize("method", CALLS)
async def test_calls_are_unavailable_while_the_wall_clock_is_wrong(
    world: World, token: str, method: str, now: datetime
) -> None:
    right, world.now = world.now, now
    response = await world.call(method, CALLS[method], token)
    assert (response.status, response.headers["retry-after"], reason_of(response)) == (503, "1", "UNAVAILABLE")
    assert f"it says {now:%Y-%m-%d}" in response.json["error"]["message"]
    if now < right:
        assert await world.store.sweep(now, 10) == 0, "nothing has expired"
    world.now = right
    assert "result" in (await world.call(method, CALLS[method], token)).json, "nothing is left of it"
