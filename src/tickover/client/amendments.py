"""The parameters of amendments."""

from collections.abc import Mapping, Sequence
from typing import Any

from tickover.api.clocks import Contribution, Goal, GoalEntry, Transaction, TransactionEntry, Transfer, TransferEntry
from tickover.api.plans import PlannedContribution, PlannedItem

Item = Transaction | Transfer | Contribution | str
"""A transaction, a transfer or a contribution of a clock, or its ID."""


Additions = Sequence[PlannedItem] | Mapping[str, Any]
"""Items to add, or the parameter `add` of amendTestClock as in JSON."""


def added_items(items: Additions, goals: Sequence[Goal]) -> Mapping[str, Any]:
    """Return the parameter `add`. `goals` are those of the clock, to find a goal by its name."""
    if isinstance(items, Mapping):
        return items
    return {
        "transactions": [item for item in items if isinstance(item, TransactionEntry)],
        "transfers": [item for item in items if isinstance(item, TransferEntry)],
        "goals": [item for item in items if isinstance(item, GoalEntry)],
        "contributions": [
            {"goalId": _goal_id(item, goals), "at": item.at, "amount": item.amount}
            for item in items
            if isinstance(item, PlannedContribution)
        ],
    }


def _goal_id(item: PlannedContribution, goals: Sequence[Goal]) -> str:
    if not isinstance(item.goal, str):
        raise ValueError("a contribution needs the goal that it belongs to: contribution(..., goal=NAME_OR_ID)")
    named = [goal.id for goal in goals if goal.name == item.goal]
    if len(named) > 1:
        raise ValueError(f"the clock has {len(named)} goals with the name {item.goal!r}; use an ID")
    if not named and not item.goal.startswith("goal_"):
        raise ValueError(f"the clock has no goal with the name {item.goal!r}")
    return named[0] if named else item.goal


def ids_in_fork(items: Sequence[Item], original_id: str, fork_id: str) -> list[str]:
    """Return the IDs that items of a clock have in its fork."""
    original, fork = (id.removeprefix("clock_").replace("-", "") for id in (original_id, fork_id))
    return [(item if isinstance(item, str) else item.id).replace(original, fork, 1) for item in items]
