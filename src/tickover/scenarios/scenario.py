"""Scenarios as they were read, and the plans that they become once it is known when they start."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from itertools import repeat
from operator import itemgetter
from typing import Final, TypeVar

from msgspec import Struct

from tickover import plans
from tickover.core import moments
from tickover.core.limits import SPAN_YEARS
from tickover.core.results import TransactionType
from tickover.plans import InstantLike, Plan, PlannedContribution, PlannedGoal, PlannedTransaction
from tickover.scenarios.locations import CONTRIBUTIONS, TRANSACTIONS, Limit, Place
from tickover.scenarios.timings import Timing, Window
from tickover.spans import Duration

_MAKERS: Final = {"INCOME": plans.income, "EXPENSE": plans.expense}


class Money(Struct, frozen=True, kw_only=True):
    """Amounts and when they are due."""

    place: Place
    amounts: tuple[Decimal, ...]
    """One for all instants, or one for each."""
    timing: Timing

    def instants(self, window: Window) -> list[datetime]:
        with self.place.blamed():
            return self.timing.instants(window)


_Money = TypeVar("_Money", bound=Money)


class TransactionItem(Money, frozen=True, kw_only=True):
    name: str
    type: TransactionType
    currency: str
    category: str | None = None

    def planned(self, amount: Decimal, at: datetime) -> PlannedTransaction:
        return _MAKERS[self.type](self.name, amount, self.currency, at, self.category)


class ContributionItem(Money, frozen=True, kw_only=True):
    def planned(self, amount: Decimal, at: datetime) -> PlannedContribution:
        return plans.contribution(amount, at)


class GoalItem(Struct, frozen=True, kw_only=True):
    place: Place
    name: str
    target: Decimal
    initial: Decimal
    contributions: tuple[ContributionItem, ...]

    def planned(self, window: Window) -> PlannedGoal:
        due = _all_due(self.place, self.contributions, window, CONTRIBUTIONS)
        contributions = [item.planned(amount, at) for item, amount, at in due]
        return plans.goal(self.name, self.target, self.initial, contributions)


class Scenario(Struct, frozen=True, kw_only=True):
    """What months of money look like, before it is known when they are."""

    place: Place
    title: str
    about: str
    start: datetime | None
    """The start that the file fixes, if it fixes one."""
    length: Duration
    transactions: tuple[TransactionItem, ...]
    goals: tuple[GoalItem, ...]

    def plan(self, start: InstantLike | None = None) -> Plan:
        """All that happens, in order of time and then as in the file; without a start, from the file's own."""
        window = self.window(start)
        due = _all_due(self.place, self.transactions, window, TRANSACTIONS)
        return Plan(
            frozen_time=window.start,
            transactions=[item.planned(amount, at) for item, amount, at in due],
            goals=[item.planned(window) for item in self.goals],
        )

    def window(self, start: InstantLike | None = None) -> Window:
        """From the start, or the file's own, to the end of its length; ScenarioError when a clock cannot run so."""
        with self.place.blamed():
            begin = self.start if start is None else _instant(start)
            if begin is None:
                raise ValueError("it has no start of its own; say when it is to start")
            return Window(begin, _end(begin, self.length))


def _instant(start: InstantLike) -> datetime:
    try:
        return plans.to_instant(start)
    except ValueError as error:
        raise ValueError(f"the start {error}") from None


def _end(start: datetime, length: Duration) -> datetime:
    if not 1 + SPAN_YEARS <= start.year <= 9999 - SPAN_YEARS:
        raise ValueError(f"the start must lie in the years {1 + SPAN_YEARS:04} to {9999 - SPAN_YEARS}")
    try:
        end = length.add_to(start)
    except OverflowError:
        end = None
    if end is None or end > moments.years_after(start):
        raise ValueError(f"length must be at most {SPAN_YEARS} years, because no clock runs longer")
    return end


def _all_due(
    place: Place, items: Sequence[_Money], window: Window, limit: Limit
) -> list[tuple[_Money, Decimal, datetime]]:
    """Every item with every amount and instant that it has, in order of time; ScenarioError when they are too many."""
    instants = [item.instants(window) for item in items]
    counts = [len(found) for found in instants]
    if sum(counts) > limit.most:
        between = f" from {moments.write(window.start)} to {moments.write(window.end)}"
        busiest = counts.index(max(counts))
        rarer = f"let {items[busiest].place.item} happen less often than {counts[busiest]:,} times"
        raise place.error(f"{limit.told(sum(counts), between)}; shorten length, or {rarer}")
    due = [
        (item, amount, at)
        for item, found in zip(items, instants, strict=True)
        for amount, at in zip(item.amounts if len(item.amounts) > 1 else repeat(item.amounts[0]), found, strict=False)
    ]
    return sorted(due, key=itemgetter(2))
