"""All that is on a clock's schedule in one order, whatever it is."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from tickover.cli import formatting
from tickover.client.clocks import AdvanceResult
from tickover.core.results import Contribution, Goal, Snapshot, Transaction

Lane = Literal["in", "out", "goals"]


class Item(NamedTuple):
    """A transaction or a contribution, with texts that are safe to show."""

    at: datetime
    name: str
    amount: Decimal
    """Below zero when it goes out."""
    currency: str
    """Empty for a contribution, which has none."""
    lane: Lane
    happened: bool


def items_of(snapshot: Snapshot) -> list[Item]:
    """Everything that has happened and that is to come, in order of time."""
    return sorted(_unsorted(snapshot), key=lambda item: item.at)


def items_in(happened: AdvanceResult) -> list[Item]:
    """Everything that an advance made happen, in order of time."""
    items = [of_transaction(one, happened=True) for one in happened.transactions]
    items += [of_contribution(goal, one, happened=True) for goal, one in happened.contributions]
    return sorted(items, key=lambda item: item.at)


def _unsorted(snapshot: Snapshot) -> Iterator[Item]:
    yield from (of_transaction(one, happened=True) for one in snapshot.transactions)
    yield from (of_transaction(one, happened=False) for one in snapshot.pending_transactions)
    for goal in snapshot.goals:
        yield from (of_contribution(goal, one, happened=True) for one in goal.contributions)
        yield from (of_contribution(goal, one, happened=False) for one in goal.upcoming_contributions)


def of_transaction(transaction: Transaction, *, happened: bool) -> Item:
    comes_in = transaction.type == "INCOME"
    return Item(
        at=transaction.at,
        name=formatting.safe(transaction.name),
        amount=transaction.amount if comes_in else -transaction.amount,
        currency=formatting.safe(transaction.currency),
        lane="in" if comes_in else "out",
        happened=happened,
    )


def of_contribution(goal: Goal, contribution: Contribution, *, happened: bool) -> Item:
    return Item(contribution.at, formatting.safe(goal.name), contribution.amount, "", "goals", happened)
