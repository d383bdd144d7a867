"""The fixture `clock`: creates clocks from scenarios, plans or parts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Unpack

from msgspec import UNSET
from msgspec.structs import replace

from tickover.api.arguments import Amount, InstantLike
from tickover.api.plans import PlanParts
from tickover.client import Clock, Expectation, Plan, Reason, Rejection, Tickover
from tickover.scenarios import Scenario, load

START: Final = datetime(2027, 1, 1, tzinfo=UTC)
"""The start of clocks without an explicit start, so that tests don't depend on the current date."""


class ClockFactory:
    """Creates clocks for one user."""

    def __init__(self, client: Tickover) -> None:
        self._client = client
        self._created: list[Clock] = []

    def __call__(
        self,
        source: str | Path | Scenario | Plan | None = None,
        *,
        start: InstantLike | None = None,
        **parts: Unpack[PlanParts],
    ) -> Clock:
        """Create a clock from a scenario (its name, path or object), from a plan, or from the parts of a plan."""
        __tracebackhide__ = True
        if start is not None and (source is None or isinstance(source, Plan)):
            raise ValueError("start requires a scenario; use frozen_time instead, in the plan if there is one")
        if source is None:
            clock = self._client.create_clock(**{"frozen_time": START, **parts})  # type: ignore[arg-type]
        elif parts:
            raise ValueError(f"pass either a plan or its parts ({', '.join(parts)})")
        elif isinstance(source, Plan):
            plan = replace(source, frozen_time=START) if source.frozen_time is UNSET else source
            clock = self._client.create_clock(plan)
        else:
            scenario = source if isinstance(source, Scenario) else load(source)
            begin = start or scenario.start or START
            clock = self._client.create_clock_from_scenario(text=scenario.text, start=begin)
        self._created.append(clock)
        return clock

    def check_clocks(
        self,
        *expectations: Expectation,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> None:
        """Check all clocks that were created and not deleted."""
        __tracebackhide__ = True
        for clock in self._created:
            try:
                clock.check(*expectations, until=until, opening_balances=opening_balances)
            except Rejection as rejection:
                if rejection.reason is not Reason.CLOCK_NOT_FOUND:
                    raise
