"""What the fixture `clock` is: makes clocks of all that a clock can be made of."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tickover.client import Clock, Plan, Tickover
from tickover.plans import InstantLike, PlannedGoal, PlannedTransaction, to_instant
from tickover.scenarios import Scenario, load

START: Final = datetime(2027, 1, 1, tzinfo=UTC)
"""Where clocks start that say nothing of it, so that tests do not depend on the day on which they run."""


class ClockFactory:
    """Makes clocks for one user."""

    def __init__(self, client: Tickover) -> None:
        self._client = client

    def __call__(
        self,
        what: str | Path | Scenario | Plan | None = None,
        *,
        start: InstantLike | None = None,
        frozen_time: InstantLike | None = None,
        transactions: Sequence[PlannedTransaction] = (),
        goals: Sequence[PlannedGoal] = (),
    ) -> Clock:
        """A new clock: of a scenario (its name, its path, or itself), of a plan, or of the parts given."""
        __tracebackhide__ = True
        parts = Plan(
            frozen_time=UNSET if frozen_time is None else to_instant(frozen_time),
            transactions=tuple(transactions),
            goals=tuple(goals),
        )
        if what is not None and parts != Plan():
            raise TypeError("frozen_time, transactions and goals are for a clock without a scenario or a plan")
        if start is not None and (what is None or isinstance(what, Plan)):
            raise TypeError("start is for a scenario; say frozen_time, or put it into the plan")
        if what is None:
            plan = parts
        elif isinstance(what, Plan):
            plan = what
        else:
            plan = _planned(what, start)
        return self._client.create_clock(replace(plan, frozen_time=START) if plan.frozen_time is UNSET else plan)


def _planned(what: str | Path | Scenario, start: InstantLike | None) -> Plan:
    scenario = what if isinstance(what, Scenario) else load(what)
    return scenario.plan(scenario.start or START if start is None else to_instant(start))
