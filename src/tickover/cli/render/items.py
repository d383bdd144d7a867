"""Transactions and contributions of a clock in one sorted list."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from tickover.api.clocks import Contribution, Goal, Snapshot, Transaction
from tickover.api.plans import is_opening_balance
from tickover.api.terminal import sanitize
from tickover.client.clocks import AdvanceResult

Lane = Literal["in", "out", "goals", "opening"]


class Item(NamedTuple):
    """A transaction or a contribution with sanitized text."""

    at: datetime
    name: str
    amount: Decimal
    """Negative for an expense."""
    currency: str
    """Empty for a contribution."""
    lane: Lane
    happened: bool


def clock_items(snapshot: Snapshot) -> list[Item]:
    """Return all items of the clock in order of time."""
    return sorted(_clock_items(snapshot), key=lambda item: item.at)


def advance_items(result: AdvanceResult) -> list[Item]:
    """Return the items that an advance made happen, in order of time."""
    items = [_transaction_item(transaction, happened=True) for transaction in result.transactions]
    items += [_contribution_item(goal, contribution, happened=True) for goal, contribution in result.contributions]
    return sorted(items, key=lambda item: item.at)


def items_by_id(snapshot: Snapshot) -> dict[str, Item]:
    """Return all items of the clock by their IDs."""
    items = {one.id: _transaction_item(one, happened=True) for one in snapshot.transactions}
    items |= {one.id: _transaction_item(one, happened=False) for one in snapshot.pending_transactions}
    for goal in snapshot.goals:
        items |= {one.id: _contribution_item(goal, one, happened=True) for one in goal.contributions}
        items |= {one.id: _contribution_item(goal, one, happened=False) for one in goal.upcoming_contributions}
    return items


def _clock_items(snapshot: Snapshot) -> Iterator[Item]:
    yield from (_transaction_item(one, happened=True) for one in snapshot.transactions)
    yield from (_transaction_item(one, happened=False) for one in snapshot.pending_transactions)
    for goal in snapshot.goals:
        yield from (_contribution_item(goal, one, happened=True) for one in goal.contributions)
        yield from (_contribution_item(goal, one, happened=False) for one in goal.upcoming_contributions)


def _transaction_item(transaction: Transaction, *, happened: bool) -> Item:
    is_income = transaction.type == "INCOME"
    lane: Lane = "in" if is_income else "out"
    return Item(
        at=transaction.at,
        name=sanitize(transaction.name),
        amount=transaction.amount if is_income else -transaction.amount,
        currency=sanitize(transaction.currency),
        lane="opening" if is_opening_balance(transaction) else lane,
        happened=happened,
    )


def _contribution_item(goal: Goal, contribution: Contribution, *, happened: bool) -> Item:
    return Item(contribution.at, sanitize(goal.name), contribution.amount, "", "goals", happened)
