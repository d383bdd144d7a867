"""The tables in the lists of a scenario: accounts, transactions, transfers, goals and expectations."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, tzinfo
from decimal import Decimal
from typing import Annotated, Final

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from tickover.api import expectations, plans, timestamps
from tickover.api.clocks import TransactionEntry, TransferEntry
from tickover.api.durations import Duration
from tickover.api.expectations import (
    BalanceExpectationEntry,
    Expectation,
    ExpectationEntry,
    Period,
    TotalExpectationEntry,
)
from tickover.api.fields import AccountType, TransactionType
from tickover.api.limits import MAX_GOAL_CONTRIBUTIONS, MAX_NAME
from tickover.api.plans import PlannedAccount, PlannedContribution, PlannedTransaction, PlannedTransfer
from tickover.scenarios import readers
from tickover.scenarios.payments import Payments, PlannedEntry, nth
from tickover.scenarios.scenario_errors import quote
from tickover.scenarios.timings import DEFAULT_TIME, LocalTime, Point, Window
from tickover.scenarios.toml_tables import Limit, OneOrMore, Tables, TableValues

_OPPOSITES: Final[dict[TransactionType, TransactionType]] = {"INCOME": "EXPENSE", "EXPENSE": "INCOME"}


class Account(TableValues, frozen=True, kw_only=True):
    key: Annotated[str, readers.ACCOUNT_KEY]
    name: Annotated[str, readers.NAME]
    currency: Annotated[str, readers.CURRENCY] = ""
    type: Annotated[AccountType, readers.ACCOUNT_TYPE] = "CHECKING"
    opening_balance: Annotated[Decimal, readers.BALANCE] = Decimal(0)

    def plan(self) -> PlannedAccount:
        return plans.account(self.key, self.name, self.currency, self.type, self.opening_balance)


class Transaction(Payments, frozen=True, kw_only=True):
    name: Annotated[str, readers.NAME]
    type: Annotated[TransactionType, readers.TYPE]
    currency: Annotated[str, readers.CURRENCY] = ""
    category: Annotated[str | UnsetType, readers.CATEGORY] = UNSET
    account: Annotated[str | UnsetType, readers.ACCOUNT_KEY] = UNSET
    reversed_after: Annotated[Duration | None, readers.DURATION] = None
    pending: Annotated[Duration | None, readers.DURATION] = None
    """How long before it the bank shows a card payment as pending."""
    authorized_at: Annotated[Point | None, readers.POINT] = None
    """When the bank begins to show it as pending, instead of how long before."""
    authorized_amount: Annotated[Decimal | UnsetType, readers.AMOUNT] = UNSET
    """What the bank shows before a card payment is booked."""
    authorized_name: Annotated[str | UnsetType, readers.NAME] = UNSET

    def check(self) -> None:
        super().check()
        if "authorized_at" in self.table and ("pending" in self.table or not self.at):
            self.table.report("authorized_at requires at, and can't be used with pending", "authorized_at")
        for key in ("authorized_amount", "authorized_name"):
            if key in self.table and "pending" not in self.table and "authorized_at" not in self.table:
                self.table.report(f'{key} requires pending, for example "2 days"', key)

    @property
    def types(self) -> set[TransactionType]:
        """The types of its transactions. A reversal has the opposite type."""
        return {self.type} if self.reversed_after is None else {self.type, _OPPOSITES[self.type]}

    def entry(self, at: datetime, amount: Decimal, index: int, window: Window) -> PlannedTransaction:
        planned = TransactionEntry(at, self.name, amount, self.currency, self.type, self.category, self.account)
        if self.authorized_at is not None:
            authorized_at = self._authorized_at(self.authorized_at, at, window)
        elif self.pending is not None:
            authorized_at = self.local_time.subtract(at, self.pending, window.start)
        else:
            return planned
        return replace(
            planned,
            authorized_at=authorized_at,
            authorized_amount=self.authorized_amount,
            authorized_name=self.authorized_name,
        )

    def _authorized_at(self, point: Point, at: datetime, window: Window) -> datetime:
        authorized_at = point.instant(self.local_time, window)
        if not window.start <= authorized_at <= at:
            problem = f"must be from the start to the payment, {timestamps.write(at)}"
            raise ValueError(f"authorized_at {point.text} is {timestamps.write(authorized_at)}; it {problem}")
        return authorized_at

    def entries(self, nominal: Sequence[datetime], window: Window) -> list[PlannedEntry]:
        found = super().entries(nominal, window)
        if self.reversed_after is None:
            return found
        with self.table.wrap_errors():
            reversals = [
                replace(
                    planned,
                    at=self.local_time.add(planned.at, self.reversed_after),
                    type=_OPPOSITES[self.type],
                    name=f"Reversal: {self.name}"[:MAX_NAME],
                    authorized_at=UNSET,
                    authorized_amount=UNSET,
                    authorized_name=UNSET,
                )
                for planned, _ in found
            ]
        pairs = zip(reversals, (instant for _, instant in found), strict=True)
        return [*found, *(pair for pair in pairs if pair[0].at <= window.end)]


class Transfer(Payments, frozen=True, kw_only=True):
    name: Annotated[str, readers.NAME]
    from_account: Annotated[str, readers.ACCOUNT_KEY]
    to_account: Annotated[str, readers.ACCOUNT_KEY]
    received: Annotated[tuple[Decimal, ...], OneOrMore(readers.AMOUNT)] = ()
    """The amounts that arrive in another currency: one for all instants, or one for each."""

    def check(self) -> None:
        super().check()
        count = len(self.amount) if isinstance(self.amount, tuple) else 0
        if self.received and len(self.received) != count:
            self.table.report("received must have an amount for each amount that leaves", "received")

    def entry(self, at: datetime, amount: Decimal, index: int, window: Window) -> PlannedTransfer:
        received = nth(self.received, index) if self.received else UNSET
        return TransferEntry(at, self.name, self.from_account, self.to_account, amount, received)


class Contribution(Payments, frozen=True, kw_only=True):
    def entry(self, at: datetime, amount: Decimal, index: int, window: Window) -> PlannedContribution:
        return plans.contribution(amount, at)


class Goal(TableValues, frozen=True, kw_only=True):
    name: Annotated[str, readers.NAME]
    target: Annotated[Decimal, readers.AMOUNT]
    initial: Annotated[Decimal, readers.INITIAL_AMOUNT] = Decimal(0)
    contributions: Annotated[
        tuple[Contribution, ...], Tables(Contribution, Limit("contributions", MAX_GOAL_CONTRIBUTIONS, "goal"))
    ] = ()

    def check(self) -> None:
        if self.initial > self.target:
            problem = f"initial must be at most the target of {quote(self.target)}, not {quote(self.initial)}"
            self.table.report(problem, "initial")


_RANGE_KEYS: Final = ("currency", "account", "from", "until", "time")
_EXPECT_KEYS: Final = {
    "never_below": _RANGE_KEYS,
    "never_above": _RANGE_KEYS,
    "goal_reached": ("by", "time"),
    "total": ("currency", "category", "per", "at_least", "at_most"),
    "posted": ("by", "count", "time"),
}
"""The keys of each kind of expectation."""


class Expect(TableValues, frozen=True, kw_only=True):
    """One expectation. Its instants depend on the scenario's start."""

    never_below: Annotated[Decimal | UnsetType, readers.BOUND] = UNSET
    never_above: Annotated[Decimal | UnsetType, readers.BOUND] = UNSET
    goal_reached: Annotated[str | None, readers.NAME] = None
    total: Annotated[TransactionType | None, readers.TYPE] = None
    posted: Annotated[str | None, readers.NAME] = None
    currency: Annotated[str, readers.CURRENCY] = ""
    account: Annotated[str | UnsetType, readers.ACCOUNT_KEY] = UNSET
    from_: Annotated[Point | None, readers.POINT] = field(default=None, name="from")
    until: Annotated[Point | None, readers.POINT] = None
    time_of_day: Annotated[time, readers.TIME_OF_DAY] = field(default=DEFAULT_TIME, name="time")
    by: Annotated[Point, readers.POINT] = Point('"end"', "end")
    category: Annotated[str | UnsetType, readers.CATEGORY] = UNSET
    per: Annotated[Period, readers.PERIOD] = "ALL"
    at_least: Annotated[Decimal | UnsetType, readers.TOTAL_BOUND] = UNSET
    at_most: Annotated[Decimal | UnsetType, readers.TOTAL_BOUND] = UNSET
    count: Annotated[int, readers.TIMES] = 1
    timezone: tzinfo = UTC

    def check(self) -> None:
        words = [word for word in _EXPECT_KEYS if word in self.table]
        if len(words) != 1:
            self.table.report(f"must have exactly one of {', '.join(_EXPECT_KEYS)}")
            return
        allowed = (words[0], *_EXPECT_KEYS[words[0]])
        for key in self.table.values:
            if key not in allowed:
                self.table.report(f"{key} can't be used with {words[0]}; available keys: {', '.join(allowed)}", key)
        if "account" in self.table and "currency" in self.table:
            self.table.report("must have either account or currency", "account")
        if words == ["total"] and "at_least" not in self.table and "at_most" not in self.table:
            self.table.report("total requires at_least, at_most or both")
        if self.at_least is not UNSET and self.per != "ALL":
            # Nothing happens after the scenario's end, but the clock continues for ten years.
            self.table.report('at_least requires per = "all"')

    @property
    def needs_currency(self) -> bool:
        """Whether it is about a currency, and not about an account."""
        return not self.account and self.goal_reached is None and self.posted is None

    def plan(self, window: Window) -> Expectation:
        """Return the expectation. Raise ScenarioError if one of its instants is outside of the scenario."""
        with self.table.wrap_errors():
            if self.goal_reached is not None:
                return expectations.goal_reached(self.goal_reached, self._instant("by", self.by, window))
            if self.posted is not None:
                return expectations.posted(self.posted, self._instant("by", self.by, window), self.count)
            if self.total is not None:
                total = TotalExpectationEntry(
                    self.total, self.currency, self.per, self.category, self.at_least, self.at_most
                )
                return ExpectationEntry(total=total)
            balance = BalanceExpectationEntry(
                currency=UNSET if self.account else self.currency,
                account=self.account,
                at_least=self.never_below,
                at_most=self.never_above,
                from_=self._instant("from", self.from_, window) if self.from_ else UNSET,
                until=self._instant("until", self.until, window) if self.until else UNSET,
            )
            return ExpectationEntry(balance=balance)

    def _instant(self, key: str, point: Point, window: Window) -> datetime:
        instant = point.instant(LocalTime(self.time_of_day, self.timezone), window)
        if not window.start <= instant <= window.end:
            problem = f"{key} {point.text} is {timestamps.write(instant)}, outside of the scenario, {window}"
            raise ValueError(problem)
        return instant
