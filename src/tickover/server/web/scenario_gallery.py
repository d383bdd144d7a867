"""The included scenarios for the console, each with the clock that it creates this month."""

import asyncio
from collections.abc import Iterator

from msgspec import Raw, json

from tickover.api import plans
from tickover.api.timestamps import Instant, first_of_month


class ScenarioGallery:
    """Caches the gallery's JSON for one month."""

    def __init__(self) -> None:
        self._month: Instant | None = None
        self._json = b""
        self._lock = asyncio.Lock()

    async def to_json(self, now: Instant) -> bytes:
        """Return the scenarios as JSON. A scenario without a start begins on the first day of the month of `now`."""
        month = first_of_month(now)
        async with self._lock:
            if month != self._month:
                self._json = await asyncio.to_thread(_encode, month)
                self._month = month
        return self._json


def _encode(month: Instant) -> bytes:
    return json.encode(list(_items(month)))


def _items(month: Instant) -> Iterator[dict[str, str | Raw]]:
    from tickover import scenarios

    for name in scenarios.names():
        scenario = scenarios.load(name)
        plan = scenario.plan(scenario.start or month)
        yield {
            "name": name,
            "title": scenario.title,
            "about": scenario.about,
            # The scenario in TOML.
            "text": scenario.text,
            # Those of createTestClock. A scenario can have more items than it accepts.
            "params": Raw(plans.encode_json(plan)),
        }
