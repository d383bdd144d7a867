"""Scenarios, and their expansion into plans for a given start."""

from collections.abc import Mapping, Sequence, Sized
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import Annotated, Final

from msgspec import UNSET, Struct

from tickover.api import plans, timestamps
from tickover.api.clocks import TransactionEntry, TransferEntry
from tickover.api.command_arguments import InstantLike, to_instant
from tickover.api.connections import BankSettings
from tickover.api.durations import Duration
from tickover.api.limits import (
    MAX_ACCOUNTS,
    MAX_CLOCK_GOALS,
    MAX_CLOCK_ITEMS,
    MAX_CLOCK_TRANSACTIONS,
    MAX_CONTRIBUTIONS,
    MAX_EXPECTATIONS,
    MAX_GOAL_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_OPENING_BALANCES,
    MAX_TRANSACTIONS,
    MAX_TRANSFERS,
    SPAN_YEARS,
)
from tickover.api.plans import Plan
from tickover.scenarios import readers
from tickover.scenarios.bank_table import Bank
from tickover.scenarios.item_tables import Account, Expect, Goal, Transaction, Transfer
from tickover.scenarios.payments import Defaults, Payments, PlannedEntry
from tickover.scenarios.scenario_errors import Mistakes, ScenarioError
from tickover.scenarios.timings import Window
from tickover.scenarios.toml_tables import ByType, InnerTable, Limit, Mapped, Table, Tables

_MAX_DATES: Final = 5_000
_MAX_CONTRIBUTION_DATES: Final = 1_000
"""Nominal dates before adjustments. They bound the time that a plan takes."""


class Limits(Struct, frozen=True):
    """How many items a plan can have."""

    transactions: Limit
    transfers: Limit
    goals: Limit
    contributions: Limit


CLOCK: Final = Limits(
    Limit("transactions", MAX_CLOCK_TRANSACTIONS, "clock"),
    Limit("transfers", MAX_CLOCK_TRANSACTIONS, "clock"),
    Limit("goals", MAX_CLOCK_GOALS, "clock"),
    Limit("contributions", MAX_GOAL_CONTRIBUTIONS, "goal"),
)
"""What a clock can hold."""
ONE_CALL: Final = Limits(
    Limit("transactions", MAX_TRANSACTIONS, "call"),
    Limit("transfers", MAX_TRANSFERS, "call"),
    Limit("goals", MAX_GOALS, "call"),
    Limit("contributions", MAX_CONTRIBUTIONS, "goal of a call"),
)
"""What createTestClock accepts."""


class Scenario(Defaults, frozen=True, kw_only=True):
    """Transactions, transfers and goals over a length of time. `plan` expands them for a start."""

    title: Annotated[str, readers.NAME] = ""
    about: Annotated[str, readers.ABOUT] = ""
    currency: Annotated[str, readers.CURRENCY] = ""
    start: Annotated[datetime | None, readers.START] = None
    """The start in the file, if any."""
    length: Annotated[Duration, readers.LENGTH] = Duration(months=6)
    opening: Annotated[Mapping[str, Decimal], Mapped(readers.CURRENCY, readers.BALANCE, "{EUR = 1200}")] = {}
    """Balances before the start."""
    accounts: Annotated[tuple[Account, ...], Tables(Account, Limit("accounts", MAX_ACCOUNTS))] = ()
    transactions: Annotated[tuple[Transaction, ...], Tables(Transaction, CLOCK.transactions)] = ()
    transfers: Annotated[tuple[Transfer, ...], Tables(Transfer, CLOCK.transfers)] = ()
    goals: Annotated[tuple[Goal, ...], Tables(Goal, CLOCK.goals)] = ()
    expect: Annotated[tuple[Expect, ...], Tables(Expect, Limit("expectations", MAX_EXPECTATIONS))] = ()
    bank: Annotated[Bank | None, ByType(dict, InnerTable(Bank), readers.TABLE)] = None

    def check(self) -> None:
        super().check()
        if len(self.opening) > MAX_OPENING_BALANCES:
            problem = f"opening must have at most {MAX_OPENING_BALANCES} currencies, not {len(self.opening):,}"
            self.table.report(problem, "opening")
        if "opening" in self.table and "accounts" in self.table:
            problem = "opening can't be used with accounts; set the opening_balance of each account"
            self.table.report(problem, "opening")

    @property
    def text(self) -> str:
        """The file's content."""
        return self.table.source.text

    def plan(self, start: InstantLike | None = None, limits: Limits = CLOCK) -> Plan:
        """Expand the scenario from `start` or from the file's start. Sort items by time, then by order in the file."""
        window = self.window(start)
        if len(self.goals) > limits.goals.maximum:
            raise self.table.error(f"{limits.goals.excess(len(self.goals))}; remove some", "goals")
        mistakes = Mistakes()
        found: list[PlannedEntry] = []
        goals, expectations = [], []
        with mistakes.collect():
            # A plan has no bank, but its mistakes count.
            self.bank_defaults(start)
        with mistakes.collect():
            found = self.occurrences(start, limits)
        for goal in self.goals:
            with mistakes.collect():
                entries = _expand(goal.table, goal.contributions, window, limits.contributions, _MAX_CONTRIBUTION_DATES)
                contributions = [contribution for contribution, _ in entries]
                goals.append(plans.goal(goal.name, goal.target, goal.initial, contributions))
        for expectation in self.expect:
            with mistakes.collect():
                expectations.append(expectation.plan(window))
        mistakes.raise_all()
        count = len(found) + sum(len(goal.contributions) for goal in goals)
        self._check_count(count, Limit("transactions, transfers and contributions", MAX_CLOCK_ITEMS, "clock"))
        return Plan(
            frozen_time=window.start,
            transactions=[item for item, _ in found if isinstance(item, TransactionEntry)],
            goals=goals,
            name=self.title or UNSET,
            accounts=tuple(account.plan() for account in self.accounts),
            transfers=tuple(item for item, _ in found if isinstance(item, TransferEntry)),
            opening_balances=self.opening or UNSET,
            expectations=expectations,
        )

    def bank_defaults(self, start: InstantLike | None = None) -> BankSettings | None:
        """Return how the bank behaves for connections that an app makes itself, if the file says it."""
        return None if self.bank is None else self.bank.plan(self.window(start), self.timezone)

    def occurrences(self, start: InstantLike | None = None, limits: Limits = CLOCK) -> list[PlannedEntry]:
        """Return the plan's transactions and transfers in order of time, each with its nominal instant."""
        window, mistakes = self.window(start), Mistakes()
        found: list[PlannedEntry] = []
        with mistakes.collect():
            found += _expand(self.table, self.transactions, window, limits.transactions, _MAX_DATES)
        with mistakes.collect():
            found += _expand(self.table, self.transfers, window, limits.transfers, _MAX_DATES)
        mistakes.raise_all()
        self._check_count(len(found), Limit("transactions and transfers", MAX_CLOCK_TRANSACTIONS, "clock"))
        return sorted(found, key=lambda entry: entry[0].at)

    def _check_count(self, count: int, limit: Limit) -> None:
        if count > limit.maximum:
            raise self.table.error(f"{limit.excess(count)}; reduce length, or remove some")

    def window(self, start: InstantLike | None = None) -> Window:
        """Return the start and the end. Raise ScenarioError if no clock can cover them."""
        with self.table.wrap_errors():
            begin = self.start if start is None else _to_instant(start)
            if begin is None:
                raise ValueError("the scenario has no start; pass one")
            if not 1 + SPAN_YEARS <= begin.year <= 9999 - SPAN_YEARS:
                raise ValueError(f"the start must be in the years {1 + SPAN_YEARS:04} to {9999 - SPAN_YEARS}")
            try:
                end = self.length.add_to(begin)
            except OverflowError:
                end = datetime.max.replace(tzinfo=UTC)
            if end > timestamps.years_after(begin):
                raise ValueError(f"length must be at most {SPAN_YEARS} years, the longest time that a clock covers")
            return Window(begin, end)


def _to_instant(start: InstantLike) -> datetime:
    try:
        return to_instant(start)
    except ValueError as error:
        raise ValueError(f"the start {error}") from None


def _expand(
    table: Table, items: Sequence[Payments], window: Window, limit: Limit, max_dates: int
) -> list[PlannedEntry]:
    """Return the entries of all items in order of time. Raise ScenarioError above the limits."""
    mistakes = Mistakes()
    dates: list[Sized] = []
    found: list[list[PlannedEntry]] = []
    for item in items:
        nominal: list[datetime] = []
        found.append([])
        with mistakes.collect():
            nominal = item.nominal_instants(window)
        dates.append(nominal)
        if sum(map(len, dates)) > max_dates:
            raise _limit_error(table, items, dates, f"more than {max_dates:,} {limit.items} from {window}")
        with mistakes.collect():
            found[-1] = item.entries(nominal, window)
    mistakes.raise_all()
    count = sum(map(len, found))
    if count > limit.maximum:
        raise _limit_error(table, items, found, limit.excess(count, f" from {window}"))
    return sorted(chain.from_iterable(found), key=lambda entry: entry[0].at)


def _limit_error(table: Table, items: Sequence[Payments], found: Sequence[Sized], problem: str) -> ScenarioError:
    counts = [len(one) for one in found]
    busiest = counts.index(max(counts))
    advice = f"reduce length, or repeat {items[busiest].table.item} fewer than {counts[busiest]:,} times"
    return table.error(f"{problem}; {advice}")
