"""The included scenarios for the console, each with the clock that it creates this month."""

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
    text: str
    """The scenario in TOML."""
    params: Raw
    """The parameters of createTestClock."""
    opening: Raw
    """The opening balances, by currency."""
    expectations: Raw
    """The expectations, as in the parameters of checkTestClock."""


class ScenarioGallery:
    """Caches the gallery's JSON for one month."""

    def __init__(self) -> None:
        self._month: Instant | None = None
        self._json = b""
        self._lock = asyncio.Lock()

    async def to_json(self, now: Instant) -> bytes:
        """Return the scenarios as JSON. A scenario without a start begins on the first day of the month of `now`."""
        month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        async with self._lock:
            if month != self._month:
                self._json = await asyncio.to_thread(_encode, month)
                self._month = month
        return self._json


def _encode(month: Instant) -> bytes:
    return json.encode(list(_items(month)))


def _items(month: Instant) -> Iterator[GalleryItem]:
    for name in scenarios.names():
        scenario = scenarios.load(name)
        try:
            plan = scenario.plan(_start(scenario, month))
        except ScenarioError:
            # It can't start in this month.
            continue
        params, opening, expectations = (
            Raw(plans.encode_json(part)) for part in (plan.params, plan.opening, plan.expectations)
        )
        text = scenario.location.source.text
        yield GalleryItem(name, scenario.title, scenario.about, text, params, opening, expectations)


def _start(scenario: Scenario, month: Instant) -> Instant:
    """Return the scenario's start, or `month` if it has none. Raise ScenarioError if it is over ten years away."""
    if scenario.start is None:
        return month
    earlier, later = sorted([scenario.start, month])
    if later > timestamps.years_after(earlier):
        raise scenario.location.error("its start is more than ten years away")
    return scenario.start
