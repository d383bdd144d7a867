"""Parsed scenarios, and their expansion into plans for a given start."""

from collections.abc import Mapping, Sequence, Sized
from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tickover.api import plans, timestamps
from tickover.api.arguments import InstantLike, to_instant
from tickover.api.durations import Duration
from tickover.api.fields import TransactionType
from tickover.api.limits import MAX_NAME, SPAN_YEARS
from tickover.api.plans import Plan, PlannedContribution, PlannedGoal, PlannedTransaction
from tickover.scenarios.adjustments import Adjustments
from tickover.scenarios.expectations import ExpectItem
from tickover.scenarios.locations import CLOCK, Limit, Limits, Location, Mistakes, ScenarioError
from tickover.scenarios.timings import Timing, Window
from tickover.scenarios.variety import AmountRange

_TRANSACTION_BUILDERS: Final = {"INCOME": plans.income, "EXPENSE": plans.expense}
_OPPOSITES: Final[dict[TransactionType, TransactionType]] = {"INCOME": "EXPENSE", "EXPENSE": "INCOME"}


class Occurrence(Struct, frozen=True):
    """One payment: when it happens, and its nominal instant before any adjustment."""

    at: datetime
    nominal: datetime
    amount: Decimal
    is_reversal: bool = False


class ScheduledItem(Struct, frozen=True, kw_only=True):
    """Amounts, their timing and its adjustments."""

    location: Location
    amounts: tuple[Decimal, ...] | AmountRange
    """One for all instants, one for each instant, or a range."""
    timing: Timing
    adjustments: Adjustments

    def nominal_instants(self, window: Window) -> list[datetime]:
        with self.location.wrap_errors():
            return self.timing.instants(window)

    def occurrences(self, nominal: Sequence[datetime], window: Window) -> list[Occurrence]:
        local_time = self.timing.local_time
        with self.location.wrap_errors():
            return [
                Occurrence(at, instant, self._amount(index, local_time.to_local(instant).date()))
                for index, instant, at in self.adjustments.apply(nominal, local_time, window)
            ]

    def _amount(self, index: int, day: date) -> Decimal:
        if isinstance(self.amounts, AmountRange):
            return self.amounts.draw(self.adjustments.variety, day)
        return self.amounts[index] if len(self.amounts) > 1 else self.amounts[0]


_Item = TypeVar("_Item", bound=ScheduledItem)


class TransactionItem(ScheduledItem, frozen=True, kw_only=True):
    name: str
    type: TransactionType
    currency: str
    category: str | None = None
    reversed_after: Duration | None = None

    def occurrences(self, nominal: Sequence[datetime], window: Window) -> list[Occurrence]:
        payments = super().occurrences(nominal, window)
        if self.reversed_after is None:
            return payments
        with self.location.wrap_errors():
            reversals = [replace(payment, at=self._reversal(payment), is_reversal=True) for payment in payments]
        return [*payments, *(reversal for reversal in reversals if reversal.at <= window.end)]

    def _reversal(self, payment: Occurrence) -> datetime:
        assert self.reversed_after is not None
        return self.timing.local_time.add(payment.at, self.reversed_after)

    @property
    def types(self) -> set[TransactionType]:
        """The types of its transactions. A reversal has the opposite type."""
        return {self.type} if self.reversed_after is None else {self.type, _OPPOSITES[self.type]}

    def plan(self, occurrence: Occurrence) -> PlannedTransaction:
        type, name = self.type, self.name
        if occurrence.is_reversal:
            type, name = _OPPOSITES[type], f"Reversal: {name}"[:MAX_NAME]
        with self.location.wrap_errors():
            return _TRANSACTION_BUILDERS[type](name, occurrence.amount, self.currency, occurrence.at, self.category)


class ContributionItem(ScheduledItem, frozen=True, kw_only=True):
    def plan(self, occurrence: Occurrence) -> PlannedContribution:
        with self.location.wrap_errors():
            return plans.contribution(occurrence.amount, occurrence.at)


class GoalItem(Struct, frozen=True, kw_only=True):
    location: Location
    name: str
    target: Decimal
    initial: Decimal
    contributions: tuple[ContributionItem, ...]

    def plan(self, window: Window, limit: Limit) -> PlannedGoal:
        occurrences = _expand(self.location, self.contributions, window, limit)
        contributions = [item.plan(occurrence) for item, occurrence in occurrences]
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
    """Balances at the start. Each becomes a transaction."""
    expectations: tuple[ExpectItem, ...] = ()

    def plan(self, start: InstantLike | None = None, limits: Limits = CLOCK) -> Plan:
        """Expand the scenario from `start` or from the file's start. Sort items by time, then by order in the file."""
        window = self.window(start)
        if len(self.goals) > limits.goals.maximum:
            raise self.location.error(f"{limits.goals.error_text(len(self.goals))}; remove some", "goals")
        mistakes = Mistakes()
        transactions, goals, expectations = [], [], []
        with mistakes.collect():
            transactions = [transaction for transaction, _ in self.occurrences(start, limits)]
        for goal in self.goals:
            with mistakes.collect():
                goals.append(goal.plan(window, limits.contributions))
        for expectation in self.expectations:
            with mistakes.collect():
                expectations.append(expectation.plan(window))
        mistakes.raise_all()
        return Plan(frozen_time=window.start, transactions=transactions, goals=goals, expectations=tuple(expectations))

    def occurrences(
        self, start: InstantLike | None = None, limits: Limits = CLOCK
    ) -> list[tuple[PlannedTransaction, datetime]]:
        """Return the plan's transactions, each with its nominal instant. The opening balances come first."""
        window = self.window(start)
        opening = [_opening(window.start, currency, amount) for currency, amount in self.opening.items() if amount]
        found = _expand(self.location, self.transactions, window, limits.transactions, len(opening))
        return [
            *((transaction, window.start) for transaction in opening),
            *((item.plan(occurrence), occurrence.nominal) for item, occurrence in found),
        ]

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


def _opening(start: datetime, currency: str, amount: Decimal) -> PlannedTransaction:
    build = plans.income if amount > 0 else plans.expense
    return build(plans.OPENING_BALANCE, abs(amount), currency, start, plans.OPENING_BALANCE)


def _expand(
    location: Location, items: Sequence[_Item], window: Window, limit: Limit, others: int = 0
) -> list[tuple[_Item, Occurrence]]:
    """Return every occurrence of every item in order of time. Raise ScenarioError if they exceed the limit.

    `others` is the number of other occurrences that count.
    """
    mistakes = Mistakes()
    nominal: list[list[datetime]] = []
    found: list[list[Occurrence]] = []
    for item in items:
        nominal.append([])
        found.append([])
        with mistakes.collect():
            nominal[-1] = item.nominal_instants(window)
        if sum(map(len, nominal)) > limit.max_nominal:
            problem = f"more than {limit.max_nominal:,} {limit.items}{_period(window)}"
            raise _limit_error(location, items, nominal, problem)
        with mistakes.collect():
            found[-1] = item.occurrences(nominal[-1], window)
    mistakes.raise_all()
    count = sum(map(len, found)) + others
    if count > limit.maximum:
        raise _limit_error(location, items, found, limit.error_text(count, _period(window)))
    occurrences = [(item, one) for item, group in zip(items, found, strict=True) for one in group]
    return sorted(occurrences, key=lambda pair: pair[1].at)


def _limit_error(
    location: Location, items: Sequence[ScheduledItem], found: Sequence[Sized], problem: str
) -> ScenarioError:
    counts = [len(one) for one in found]
    busiest = counts.index(max(counts))
    advice = f"reduce length, or repeat {items[busiest].location.item} fewer than {counts[busiest]:,} times"
    return location.error(f"{problem}; {advice}")


def _period(window: Window) -> str:
    return f" from {timestamps.write(window.start)} to {timestamps.write(window.end)}"
