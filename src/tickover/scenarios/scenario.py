"""Parsed scenarios, and their expansion into plans for a given start."""

from collections.abc import Callable, Mapping, Sequence, Sized
from datetime import datetime
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tickover.api import plans, timestamps
from tickover.api.arguments import InstantLike, to_exact_decimal, to_instant
from tickover.api.clocks import TransactionEntry, TransferEntry
from tickover.api.durations import Duration
from tickover.api.expectations import Expectation
from tickover.api.fields import TransactionType
from tickover.api.limits import MAX_CLOCK_ITEMS, MAX_CLOCK_TRANSACTIONS, MAX_NAME, SPAN_YEARS
from tickover.api.plans import Plan, PlannedAccount, PlannedGoal, PlannedTransaction, PlannedTransfer
from tickover.scenarios.adjustments import Adjustments, AmountRange
from tickover.scenarios.errors import Location, Mistakes, ScenarioError
from tickover.scenarios.limits import CLOCK, Limit, Limits
from tickover.scenarios.timings import LocalTime, Point, Timing, Window

_OPPOSITES: Final[dict[TransactionType, TransactionType]] = {"INCOME": "EXPENSE", "EXPENSE": "INCOME"}


class Occurrence(Struct, frozen=True):
    """One payment: when it happens, and its nominal instant before any adjustment."""

    at: datetime
    nominal: datetime
    amount: Decimal
    index: int
    """Its number among the nominal instants."""
    is_reversal: bool = False
    authorized_at: datetime | None = None
    """When a card payment becomes pending in the bank."""


class Payments(Struct, frozen=True, kw_only=True):
    """When a transaction or contribution happens, and how much it is."""

    location: Location
    amounts: tuple[Decimal, ...] | AmountRange
    """One for all instants, one for each instant, or a range."""
    timing: Timing
    adjustments: Adjustments
    reversed_after: Duration | None = None
    pending: Duration | None = None
    """How long before it the bank shows a card payment as pending."""

    def nominal_instants(self, window: Window) -> list[datetime]:
        with self.location.wrap_errors():
            return self.timing.instants(window)

    def occurrences(self, nominal: Sequence[datetime], window: Window) -> list[Occurrence]:
        local_time = self.timing.local_time
        with self.location.wrap_errors():
            payments = [
                Occurrence(
                    at,
                    instant,
                    self._amount(index, instant),
                    index,
                    authorized_at=None if self.pending is None else local_time.subtract(at, self.pending, window.start),
                )
                for index, instant, at in self.adjustments.apply(nominal, local_time, window)
            ]
            if self.reversed_after is None:
                return payments
            reversals = [
                replace(
                    payment, at=local_time.add(payment.at, self.reversed_after), is_reversal=True, authorized_at=None
                )
                for payment in payments
            ]
            return [*payments, *(reversal for reversal in reversals if reversal.at <= window.end)]

    def _amount(self, index: int, nominal: datetime) -> Decimal:
        if isinstance(self.amounts, AmountRange):
            day = self.timing.local_time.day_of(nominal)
            return to_exact_decimal(self.amounts.draw(self.adjustments.variety, day))
        return _nth(self.amounts, index)


def _nth(amounts: Sequence[Decimal], index: int) -> Decimal:
    """Return an amount of a list, or the only one."""
    return amounts[index] if len(amounts) > 1 else amounts[0]


class TransactionItem(Struct, frozen=True, kw_only=True):
    name: str
    type: TransactionType
    currency: str
    category: str | None
    account: str | None
    payments: Payments
    authorized_amount: Decimal | None = None
    """What the bank shows before a card payment is booked."""
    authorized_name: str | None = None

    @property
    def types(self) -> set[TransactionType]:
        """The types of its transactions. A reversal has the opposite type."""
        return {self.type} if self.payments.reversed_after is None else {self.type, _OPPOSITES[self.type]}

    def plan(self, occurrence: Occurrence) -> PlannedTransaction:
        category = UNSET if self.category is None else self.category
        account = UNSET if self.account is None else self.account
        planned = TransactionEntry(
            occurrence.at, self.name, occurrence.amount, self.currency, self.type, category, account
        )
        if occurrence.is_reversal:
            return replace(planned, type=_OPPOSITES[self.type], name=f"Reversal: {self.name}"[:MAX_NAME])
        if occurrence.authorized_at is None:
            return planned
        return replace(
            planned,
            authorized_at=occurrence.authorized_at,
            authorized_amount=UNSET if self.authorized_amount is None else self.authorized_amount,
            authorized_name=UNSET if self.authorized_name is None else self.authorized_name,
        )


class TransferItem(Struct, frozen=True, kw_only=True):
    name: str
    from_: str
    to: str
    received: tuple[Decimal, ...] | None
    """The amounts that arrive in another currency: one for all instants, or one for each."""
    payments: Payments

    def plan(self, occurrence: Occurrence) -> PlannedTransfer:
        received = UNSET if self.received is None else _nth(self.received, occurrence.index)
        return TransferEntry(occurrence.at, self.name, self.from_, self.to, occurrence.amount, received)


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
    """Transactions, transfers and goals over a length of time. `plan` expands them for a start."""

    location: Location
    title: str
    about: str
    start: datetime | None
    """The start in the file, if any."""
    length: Duration
    transactions: tuple[TransactionItem, ...]
    goals: tuple[GoalItem, ...]
    transfers: tuple[TransferItem, ...] = ()
    accounts: tuple[PlannedAccount, ...] = ()
    opening: Mapping[str, Decimal] = {}
    """Balances before the start."""
    expectations: tuple[ExpectItem, ...] = ()

    @property
    def text(self) -> str:
        """The file's content."""
        return self.location.source.text

    def plan(self, start: InstantLike | None = None, limits: Limits = CLOCK) -> Plan:
        """Expand the scenario from `start` or from the file's start. Sort items by time, then by order in the file."""
        window = self.window(start)
        if len(self.goals) > limits.goals.maximum:
            raise self.location.error(f"{limits.goals.error_text(len(self.goals))}; remove some", "goals")
        mistakes = Mistakes()
        found: list[tuple[PlannedTransaction | PlannedTransfer, datetime]] = []
        goals, expectations = [], []
        with mistakes.collect():
            found = self.occurrences(start, limits)
        for goal in self.goals:
            with mistakes.collect():
                goals.append(goal.plan(window, limits.contributions))
        for expectation in self.expectations:
            with mistakes.collect():
                expectations.append(expectation.plan(window))
        mistakes.raise_all()
        count = len(found) + sum(len(goal.contributions) for goal in goals)
        if count > MAX_CLOCK_ITEMS:
            limit_text = f"{count:,} transactions, transfers and contributions exceed the limit of {MAX_CLOCK_ITEMS:,}"
            raise self.location.error(f"{limit_text} per clock; reduce length, or remove some")
        return Plan(
            frozen_time=window.start,
            transactions=[item for item, _ in found if isinstance(item, TransactionEntry)],
            goals=goals,
            name=self.title or UNSET,
            accounts=self.accounts,
            transfers=tuple(item for item, _ in found if isinstance(item, TransferEntry)),
            opening_balances=self.opening or UNSET,
            expectations=tuple(expectations),
        )

    def occurrences(
        self, start: InstantLike | None = None, limits: Limits = CLOCK
    ) -> list[tuple[PlannedTransaction | PlannedTransfer, datetime]]:
        """Return the plan's transactions and transfers in order of time, each with its nominal instant."""
        window, mistakes = self.window(start), Mistakes()
        found: list[tuple[PlannedTransaction | PlannedTransfer, datetime]] = []
        groups: list[tuple[Sequence[TransactionItem | TransferItem], Limit]] = [
            (self.transactions, limits.transactions),
            (self.transfers, limits.transfers),
        ]
        for items, limit in groups:
            with mistakes.collect():
                for index, occurrence in _expand(self.location, [item.payments for item in items], window, limit):
                    found.append((items[index].plan(occurrence), occurrence.nominal))
        mistakes.raise_all()
        if len(found) > MAX_CLOCK_TRANSACTIONS:
            limit_text = f"{len(found):,} transactions and transfers exceed the limit of {MAX_CLOCK_TRANSACTIONS:,}"
            raise self.location.error(f"{limit_text} per clock; reduce length, or remove some")
        return sorted(found, key=lambda pair: pair[0].at)

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
    location: Location, items: Sequence[Payments], window: Window, limit: Limit
) -> list[tuple[int, Occurrence]]:
    """Return every occurrence with the index of its item, in order of time. Raise ScenarioError above the limit."""
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
    count = sum(map(len, found))
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
