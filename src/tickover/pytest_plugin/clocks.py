"""The fixture `clock`: creates clocks from scenarios, plans or parts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Unpack

from msgspec import UNSET
from msgspec.structs import replace

from tickover.api.arguments import Amount, InstantLike, to_instant
from tickover.api.plans import PlanParts
from tickover.client import Clock, Expectation, Plan, Reason, Rejection, Tickover
from tickover.client.calls import build_plan
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
        given = source if source is None or isinstance(source, Plan) else _scenario_plan(source, start)
        plan = build_plan(given, parts)
        clock = self._client.create_clock(replace(plan, frozen_time=START) if plan.frozen_time is UNSET else plan)
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


def _scenario_plan(source: str | Path | Scenario, start: InstantLike | None) -> Plan:
    scenario = source if isinstance(source, Scenario) else load(source)
    return scenario.plan(scenario.start or START if start is None else to_instant(start))
