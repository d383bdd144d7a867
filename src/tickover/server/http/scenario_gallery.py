"""The scenarios that come with Tickover, as the console shows them: each with the clock that it makes this month."""

import asyncio
from collections.abc import Iterator

from msgspec import Raw, Struct, json

from tickover import scenarios
from tickover.api import plans, timestamps
from tickover.api.timestamps import Instant
from tickover.scenarios import Scenario, ScenarioError


class GalleryItem(Struct, frozen=True):
    """A scenario in the gallery."""

    name: str
    title: str
    about: str
    params: Raw
    """All that createTestClock takes."""


class ScenarioGallery:
    """Made when it is first asked for, and anew when a month has begun."""

    def __init__(self) -> None:
        self._month: Instant | None = None
        self._written = b""
        self._making = asyncio.Lock()

    async def to_json(self, now: Instant) -> bytes:
        """The scenarios as JSON, those without a start of their own from the first day of the month of `now`."""
        month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        async with self._making:
            if month != self._month:
                self._written = await asyncio.to_thread(_write, month)
                self._month = month
        return self._written


def _write(month: Instant) -> bytes:
    return json.encode(list(_shown(month)))


def _shown(month: Instant) -> Iterator[GalleryItem]:
    for name in scenarios.names():
        scenario = scenarios.load(name)
        try:
            plan = scenario.plan(_start(scenario, month))
        except ScenarioError:
            continue  # it cannot start then, and the others can
        yield GalleryItem(name, scenario.title, scenario.about, Raw(plans.encode_json(plan)))


def _start(scenario: Scenario, month: Instant) -> Instant:
    """Its own, if it has one; ScenarioError when that is so far off that nobody would look for it."""
    if scenario.start is None:
        return month
    earlier, later = sorted([scenario.start, month])
    if later > timestamps.years_after(earlier):
        raise scenario.location.error("its start is more than ten years away")
    return scenario.start
