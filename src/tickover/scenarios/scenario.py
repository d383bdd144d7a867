"""Parsed scenarios, and their expansion into plans for a given start."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import repeat
from operator import itemgetter
from typing import Final, TypeVar

from msgspec import Struct

from tickover.api import plans, timestamps
from tickover.api.arguments import InstantLike, to_instant
from tickover.api.durations import Duration
from tickover.api.limits import SPAN_YEARS
from tickover.api.plans import Plan, PlannedContribution, PlannedGoal, PlannedTransaction
from tickover.api.results import TransactionType
from tickover.scenarios.expectations import ExpectItem
from tickover.scenarios.locations import CONTRIBUTIONS, TRANSACTIONS, Limit, Location
from tickover.scenarios.timings import Timing, Window

_TRANSACTION_BUILDERS: Final = {"INCOME": plans.income, "EXPENSE": plans.expense}


class ScheduledItem(Struct, frozen=True, kw_only=True):
    """Amounts and their timing."""

    location: Location
    amounts: tuple[Decimal, ...]
    """One for all instants, or one for each instant."""
    timing: Timing

    def instants(self, window: Window) -> list[datetime]:
        with self.location.wrap_errors():
            return self.timing.instants(window)


_Item = TypeVar("_Item", bound=ScheduledItem)


class TransactionItem(ScheduledItem, frozen=True, kw_only=True):
    name: str
    type: TransactionType
    currency: str
    category: str | None = None

    def plan(self, amount: Decimal, at: datetime) -> PlannedTransaction:
        return _TRANSACTION_BUILDERS[self.type](self.name, amount, self.currency, at, self.category)


class ContributionItem(ScheduledItem, frozen=True, kw_only=True):
    def plan(self, amount: Decimal, at: datetime) -> PlannedContribution:
        return plans.contribution(amount, at)


class GoalItem(Struct, frozen=True, kw_only=True):
    location: Location
    name: str
    target: Decimal
    initial: Decimal
    contributions: tuple[ContributionItem, ...]

    def plan(self, window: Window) -> PlannedGoal:
        occurrences = _expand(self.location, self.contributions, window, CONTRIBUTIONS)
        contributions = [item.plan(amount, at) for item, amount, at in occurrences]
        return plans.goal(self.name, self.target, self.initial, contributions)


class Scenario(Struct, frozen=True, kw_only=True):
    """Transactions and goals over a length of time. `plan` expands them for a start."""

    location: Location
    title: str
    about: str
    start: datetime | None
    """The start in the file, if any."""
    length: Duration
    transactions: tuple[TransactionItem, ...]
    goals: tuple[GoalItem, ...]
    opening: Mapping[str, Decimal] = {}
    expectations: tuple[ExpectItem, ...] = ()

    def plan(self, start: InstantLike | None = None) -> Plan:
        """Expand the scenario from `start` or from the file's start. Sort items by time, then by order in the file."""
        window = self.window(start)
        occurrences = _expand(self.location, self.transactions, window, TRANSACTIONS)
        return Plan(
            frozen_time=window.start,
            transactions=[item.plan(amount, at) for item, amount, at in occurrences],
            goals=[goal.plan(window) for goal in self.goals],
            opening=self.opening,
            expectations=tuple(expectation.plan(window) for expectation in self.expectations),
        )

    def window(self, start: InstantLike | None = None) -> Window:
        """Return the start and the end. Raise ScenarioError if no clock can cover them."""
        with self.location.wrap_errors():
            begin = self.start if start is None else _to_instant(start)
            if begin is None:
                raise ValueError("the scenario has no start; pass one")
            return Window(begin, _end(begin, self.length))


def _to_instant(start: InstantLike) -> datetime:
    try:
        return to_instant(start)
    except ValueError as error:
        raise ValueError(f"the start {error}") from None


def _end(start: datetime, length: Duration) -> datetime:
    if not 1 + SPAN_YEARS <= start.year <= 9999 - SPAN_YEARS:
        raise ValueError(f"the start must be in the years {1 + SPAN_YEARS:04} to {9999 - SPAN_YEARS}")
    try:
        end = length.add_to(start)
    except OverflowError:
        end = None
    if end is None or end > timestamps.years_after(start):
        raise ValueError(f"length must be at most {SPAN_YEARS} years, the longest time that a clock covers")
    return end


def _expand(
    location: Location, items: Sequence[_Item], window: Window, limit: Limit
) -> list[tuple[_Item, Decimal, datetime]]:
    """Return every occurrence of every item in order of time. Raise ScenarioError if they exceed the limit."""
    instants = [item.instants(window) for item in items]
    counts = [len(found) for found in instants]
    if sum(counts) > limit.maximum:
        period = f" from {timestamps.write(window.start)} to {timestamps.write(window.end)}"
        busiest = counts.index(max(counts))
        advice = f"reduce length, or repeat {items[busiest].location.item} fewer than {counts[busiest]:,} times"
        raise location.error(f"{limit.error_text(sum(counts), period)}; {advice}")
    occurrences = [
        (item, amount, at)
        for item, found in zip(items, instants, strict=True)
        for amount, at in zip(item.amounts if len(item.amounts) > 1 else repeat(item.amounts[0]), found, strict=False)
    ]
    return sorted(occurrences, key=itemgetter(2))
