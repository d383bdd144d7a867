"""Plans with more items than one call accepts: createTestClock creates the clock, and amendments add the rest."""

import re
from collections.abc import Iterator
from decimal import Decimal
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.clocks import ContributionEntry, Snapshot
from tickover.api.errors import Fault, Rejection, invalid_params
from tickover.api.limits import (
    MAX_ADDED,
    MAX_CLOCK_CURRENCIES,
    MAX_CLOCK_GOALS,
    MAX_CLOCK_ITEMS,
    MAX_CLOCK_TRANSACTIONS,
    MAX_CONTRIBUTIONS,
    MAX_GOAL_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_TRANSACTIONS,
)
from tickover.api.plans import Plan, PlannedContribution, PlannedGoal, PlannedItem, PlannedTransaction

_ADDED: Final = re.compile(r"add\.\w+\[(\d+)\](.*)")


class _Item(NamedTuple):
    path: str
    """Where it is in the plan."""
    item: PlannedTransaction | PlannedGoal | ContributionEntry[Decimal]
    goal: int = 0
    """The position of a contribution's goal."""


class Addition(Struct, frozen=True):
    """Items of one kind that an amendment adds."""

    members: list[_Item]

    def items(self, clock: Snapshot) -> list[PlannedItem]:
        return [
            PlannedContribution(item.at, item.amount, clock.goals[goal].id)
            if isinstance(item, ContributionEntry)
            else item
            for _, item, goal in self.members
        ]

    def locate(self, rejection: Rejection) -> Rejection:
        """Return the rejection with the paths of the plan instead of those of the amendment."""
        if not rejection.faults:
            return rejection
        return invalid_params("createTestClock", [self._locate(fault) for fault in rejection.faults])

    def _locate(self, fault: Fault) -> Fault:
        match = _ADDED.fullmatch(fault.path)
        return replace(fault, path=self.members[int(match[1])].path + match[2]) if match else fault


def split_plan(plan: Plan) -> tuple[Plan, list[Addition]]:
    """Return the plan for createTestClock, and what to add afterwards. Raise Rejection if no clock can hold it all."""
    if faults := list(_find_faults(plan)):
        raise invalid_params("createTestClock", faults)
    goals = [replace(goal, contributions=goal.contributions[:MAX_CONTRIBUTIONS]) for goal in plan.goals]
    first = replace(plan, transactions=plan.transactions[:MAX_TRANSACTIONS], goals=goals[:MAX_GOALS])
    more_goals = [_Item(f"goals[{index}]", goal) for index, goal in enumerate(goals)][MAX_GOALS:]
    transactions = [_Item(f"transactions[{index}]", item) for index, item in enumerate(plan.transactions)]
    contributions = [
        _Item(f"goals[{position}].contributions[{index}]", item, position)
        for position, goal in enumerate(plan.goals)
        for index, item in enumerate(goal.contributions)
        if index >= MAX_CONTRIBUTIONS
    ]
    kinds = [more_goals, transactions[MAX_TRANSACTIONS:], contributions]
    additions = [
        Addition(kind[start : start + MAX_ADDED]) for kind in kinds for start in range(0, len(kind), MAX_ADDED)
    ]
    # An expectation may be about an item that comes later.
    return (replace(first, expectations=()) if additions else first), additions


def addition_key(key: str, number: int) -> str:
    """Return the idempotency key of an addition. It depends only on the key of the whole plan."""
    return sha256(f"{key} {number}".encode()).hexdigest()


def is_incomplete(rejection: Rejection) -> bool:
    """Return whether the clock lacks what the amendment adds. A reused key belongs to a clock of another plan."""
    return not any(fault.rule == "reused" for fault in rejection.faults)


def _find_faults(plan: Plan) -> Iterator[Fault]:
    payments = [len(goal.contributions) for goal in plan.goals]
    counts = [
        ("transactions", len(plan.transactions), MAX_CLOCK_TRANSACTIONS),
        ("currencies", len({item.currency for item in plan.transactions}), MAX_CLOCK_CURRENCIES),
        ("goals", len(plan.goals), MAX_CLOCK_GOALS),
        *((f"goals[{index}].contributions", count, MAX_GOAL_CONTRIBUTIONS) for index, count in enumerate(payments)),
        ("transactions and contributions", len(plan.transactions) + sum(payments), MAX_CLOCK_ITEMS),
    ]
    for path, count, limit in counts:
        if count > limit:
            yield Fault(path, "count", f"must have at most {limit:,} entries, not {count:,}", count)
