"""Helpers for tests with fifty concurrent callers."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from tests.support.connections import Connection
from tests.support.program import verify_params
from tests.support.world import HttpResponse

CROWD = 50


def outcomes(responses: Iterable[HttpResponse]) -> Counter[str]:
    """Count responses by reason; "ok" counts results."""
    return Counter(
        response.json["error"]["data"]["reason"] if "error" in response.json else "ok" for response in responses
    )


def wrong_guesses(email: str, code: str, amount: int) -> list[dict[str, str]]:
    """Return the parameters of this number of different wrong codes."""
    return [verify_params(email, f"{(int(code) + distance) % 1_000_000:06}") for distance in range(1, amount + 1)]


def written(moment: datetime) -> str:
    """Return a timestamp in UTC and whole seconds, so that texts sort like instants."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


class Watch:
    """Checks that responses about one clock never go back in time."""

    def __init__(self, clock: Any) -> None:
        self._id = clock["id"]
        self.latest_instant = clock["frozenTime"]

    async def advance(self, connection: Connection, instants: list[str]) -> None:
        for asked in instants:
            before = self.latest_instant
            response = await connection.call("advanceTestClock", {"id": self._id, "frozenTime": asked})
            instant = _frozen_time_of(response, asked)
            assert instant >= before
            self.latest_instant = max(self.latest_instant, instant)


def _frozen_time_of(response: Any, asked: str) -> str:
    """Check that the clock is at the requested time or later."""
    if "result" in response:
        frozen_time: str = response["result"]["clock"]["frozenTime"]
        assert frozen_time == asked
        return frozen_time
    data = response["error"]["data"]
    assert data["reason"] == "TIME_BEFORE_CURRENT"
    current: str = data["currentFrozenTime"]
    assert current > asked
    return current
