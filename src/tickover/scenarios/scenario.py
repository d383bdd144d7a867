"""Parsed scenarios, and their expansion into plans for a given start."""

from collections.abc import Callable, Mapping, Sequence, Sized
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tickover.api import plans, timestamps
from tickover.api.arguments import InstantLike, to_instant
from tickover.api.durations import Duration
from tickover.api.expectations import Expectation
from tickover.api.fields import TransactionType
from tickover.api.limits import MAX_NAME, SPAN_YEARS
from tickover.api.plans import Plan, PlannedGoal, PlannedTransaction
from tickover.scenarios.adjustments import Adjustments, AmountRange
from tickover.scenarios.errors import Location, Mistakes, ScenarioError
from tickover.scenarios.limits import CLOCK, Limit, Limits
from tickover.scenarios.timings import LocalTime, Point, Timing, Window

_TRANSACTION_BUILDERS: Final = {"INCOME": plans.income, "EXPENSE": plans.expense}
_OPPOSITES: Final[dict[TransactionType, TransactionType]] = {"INCOME": "EXPENSE", "EXPENSE": "INCOME"}


class Occurrence(Struct, frozen=True):
    """One payment: when it happens, and its nominal instant before any adjustment."""

    at: datetime
    nominal: datetime
    amount: Decimal
    is_reversal: bool = False


class Payments(Struct, frozen=True, kw_only=True):
    """When a transaction or contribution happens, and how much it is."""

    location: Location
    amounts: tuple[Decimal, ...] | AmountRange
    """One for all instants, one for each instant, or a range."""
    timing: Timing
    adjustments: Adjustments
    reversed_after: Duration | None = None

    def nominal_instants(self, window: Window) -> list[datetime]:
        with self.location.wrap_errors():
            return self.timing.instants(window)

    def occurrences(self, nominal: Sequence[datetime], window: Window) -> list[Occurrence]:
        local_time = self.timing.local_time
        with self.location.wrap_errors():
            payments = [
                Occurrence(at, instant, self._amount(index, local_time.to_local(instant).date()))
                for index, instant, at in self.adjustments.apply(nominal, local_time, window)
            ]
            if self.reversed_after is None:
                return payments
            reversals = [
                replace(payment, at=local_time.add(payment.at, self.reversed_after), is_reversal=True)
                for payment in payments
            ]
            return [*payments, *(reversal for reversal in reversals if reversal.at <= window.end)]

    def _amount(self, index: int, day: date) -> Decimal:
        if isinstance(self.amounts, AmountRange):
            return self.amounts.draw(self.adjustments.variety, day)
        return self.amounts[index] if len(self.amounts) > 1 else self.amounts[0]


class TransactionItem(Struct, frozen=True, kw_only=True):
    name: str
    type: TransactionType
    currency: str
    category: str | None
    payments: Payments

    @property
    def types(self) -> set[TransactionType]:
        """The types of its transactions. A reversal has the opposite type."""
        return {self.type} if self.payments.reversed_after is None else {self.type, _OPPOSITES[self.type]}

    def plan(self, occurrence: Occurrence) -> PlannedTransaction:
        type, name = self.type, self.name
        if occurrence.is_reversal:
            type, name = _OPPOSITES[type], f"Reversal: {name}"[:MAX_NAME]
        with self.payments.location.wrap_errors():
            return _TRANSACTION_BUILDERS[type](name, occurrence.amount, self.currency, occurrence.at, self.category)


class GoalItem(Struct, frozen=True, kw_only=True):
    location: Location
    name: str
    target: Decimal
    initial: Decimal
    contributions: tuple[Payments, ...]

    def plan(self, window: Window, limit: Limit) -> PlannedGoal:
        contributions = []
        for index, occurrence in _expand(self.location, self.contributions, window, limit):
            with self.contributions[index].location.wrap_errors():
                contributions.append(plans.contribution(occurrence.amount, occurrence.at))
        return plans.goal(self.name, self.target, self.initial, contributions)


class ExpectItem(Struct, frozen=True, kw_only=True):
    """One expectation of a file. Its instants depend on the scenario's start."""

    location: Location
    build: Callable[..., Expectation]
    points: Mapping[str, Point]
    """The points in time that `build` needs, by their keys in the file."""
    local_time: LocalTime

    def plan(self, window: Window) -> Expectation:
        with self.location.wrap_errors():
            instants = {key: self._instant(key, window) for key in self.points}
            return self.build(**{"from_" if key == "from" else key: instant for key, instant in instants.items()})

    def _instant(self, key: str, window: Window) -> datetime:
        point = self.points[key]
        instant = point.instant(self.local_time, window)
        if not window.start <= instant <= window.end:
            when = timestamps.write(instant)
            raise ValueError(f"{key} {point.text} is {when}, outside of the scenario, {_period(window)}")
        return instant


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

    def plan(self, start: InstantLike | None = None, limits: Limits = CLOCK, *, has_balances: bool = False) -> Plan:
        """Expand the scenario from `start` or from the file's start. Sort items by time, then by order in the file.

        With `has_balances`, the plan has opening balances instead of transactions for them.
        """
        if has_balances and self.opening:
            plan = replace(self, opening={}).plan(start, limits)
            return replace(plan, opening_balances=dict(self.opening))
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
        payments = [item.payments for item in self.transactions]
        found = _expand(self.location, payments, window, limits.transactions, len(opening))
        return [
            *((transaction, window.start) for transaction in opening),
            *((self.transactions[index].plan(occurrence), occurrence.nominal) for index, occurrence in found),
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
    location: Location, items: Sequence[Payments], window: Window, limit: Limit, others: int = 0
) -> list[tuple[int, Occurrence]]:
    """Return every occurrence with the index of its item, in order of time. Raise ScenarioError above the limit.

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
            problem = f"more than {limit.max_nominal:,} {limit.items} from {_period(window)}"
            raise _limit_error(location, items, nominal, problem)
        with mistakes.collect():
            found[-1] = item.occurrences(nominal[-1], window)
    mistakes.raise_all()
    count = sum(map(len, found)) + others
    if count > limit.maximum:
        raise _limit_error(location, items, found, limit.error_text(count, f" from {_period(window)}"))
    occurrences = [(index, occurrence) for index, group in enumerate(found) for occurrence in group]
    return sorted(occurrences, key=lambda pair: pair[1].at)


def _limit_error(location: Location, items: Sequence[Payments], found: Sequence[Sized], problem: str) -> ScenarioError:
    counts = [len(one) for one in found]
    busiest = counts.index(max(counts))
    advice = f"reduce length, or repeat {items[busiest].location.item} fewer than {counts[busiest]:,} times"
    return location.error(f"{problem}; {advice}")


def _period(window: Window) -> str:
    return f"{timestamps.write(window.start)} to {timestamps.write(window.end)}"
