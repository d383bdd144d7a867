"""The ledger of a schedule: its sums and balances, as pure functions of schedule and instant.

`events`, `expectations` and `totals` are computed from a ledger.

Sums are integers of a common unit for each currency, computed once for each schedule. An opening balance only shifts
them, so a query looks up a few numbers.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from msgspec import Struct, json

from tickover.api.plans import OPENING_BALANCE
from tickover.api.timestamps import Instant
from tickover.server.schedule.money import Amount, Savings, to_common_unit, to_fraction, to_number
from tickover.server.schedule.schedule import GoalHead, Schedule, StoredTransaction


class LedgerGoal(Struct, frozen=True):
    """A goal with its sums before the first contribution and after each one, as integers of 1/unit."""

    id: str
    name: str
    unit: int
    target: int
    sums: Sequence[int]


class Account(Struct, frozen=True):
    """The balance of one currency, without the opening balance of a call, as integers of 1/unit.

    The lists start with the state before the first transaction, but after those that are opening balances. After that,
    they have the state after all transactions of each instant.
    """

    unit: int
    positions: list[int]
    """The currency's transactions, as positions among all transactions."""
    instants: list[Instant]
    """The distinct instants. They have no entry for the state before the first transaction."""
    ends: list[int]
    """The number of the currency's transactions up to each instant."""
    incomes: list[int]
    expenses: list[int]
    balances: list[int]
    lowest: list[int]
    """The index of the earliest lowest balance so far."""
    highest: list[int]

    def index_at(self, at: Instant) -> int:
        """Return the index of the state at `at`, after all transactions of that instant."""
        return bisect_right(self.instants, at)


_ITEMS_PER_STEP: Final = 250
_EMPTY_ACCOUNT: Final = Account(1, [], [], [0], [0], [0], [0], [0], [0])
_decode_transactions: Final = json.Decoder(list[StoredTransaction]).decode
_decode_goal_head: Final = json.Decoder(GoalHead).decode


class Ledger:
    """The sums of one schedule. They don't depend on an instant or on opening balances, so a ledger can be cached.

    It has them after all steps of `build`.
    """

    def __init__(self, schedule: Schedule, start: Instant) -> None:
        count = len(schedule.transactions.encoded)
        self.schedule = schedule
        self.transactions: list[StoredTransaction] = []
        self.counts = [0] * count
        """The amount of each transaction, in the unit of its currency."""
        self.running_balances = [0] * count
        """The balance after each transaction, in the unit of its currency, without an opening balance."""
        self.openings: set[int] = set()
        """The transactions that are opening balances, as positions among all transactions."""
        self._start = start
        self._accounts: dict[str, Account] = {}

    def build(self) -> Iterator[None]:
        """Compute the sums. Pause after every few hundred items, so that other work can run in between."""
        encoded = self.schedule.transactions.encoded
        for first in range(0, len(encoded), _ITEMS_PER_STEP):
            if first:
                yield
            some = encoded[first : first + _ITEMS_PER_STEP]
            self.transactions += _decode_transactions(b"[%b]" % b",".join(some))
        at_start = range(self.schedule.transactions.count_until(self._start))
        self.openings = {index for index in at_start if self.transactions[index].category == OPENING_BALANCE}
        positions: dict[str, list[int]] = {}
        for position, transaction in enumerate(self.transactions):
            positions.setdefault(transaction.currency, []).append(position)
        left = _ITEMS_PER_STEP
        for currency in sorted(positions):
            left -= len(positions[currency])
            if left < 0:
                yield
                left = _ITEMS_PER_STEP
            self._accounts[currency] = self._open_account(positions[currency])

    @property
    def currencies(self) -> Collection[str]:
        return self._accounts

    def account(self, currency: str) -> Account:
        return self._accounts.get(currency, _EMPTY_ACCOUNT)

    @cached_property
    def goals(self) -> Sequence[LedgerGoal]:
        heads = [_decode_goal_head(b"{%b}" % goal.head) for goal in self.schedule.goals]
        return [_ledger_goal(head, goal.savings) for head, goal in zip(heads, self.schedule.goals, strict=True)]

    @cached_property
    def positions_by_name(self) -> Mapping[str, Sequence[int]]:
        positions: dict[str, list[int]] = {}
        for position, transaction in enumerate(self.transactions):
            positions.setdefault(transaction.name, []).append(position)
        return positions

    def _open_account(self, positions: list[int]) -> Account:
        """Fill `counts` and `running_balances` for one currency, and return its account."""
        counts, unit = to_common_unit([self.transactions[position].amount for position in positions])
        account = Account(unit, positions, [], [0], [0], [0], [0], [0], [0])
        at = [self.schedule.transactions.instants[position] for position in positions]
        income = expense = balance = 0
        for index, (position, count) in enumerate(zip(positions, counts, strict=True)):
            is_income = self.transactions[position].type == "INCOME"
            change = count if is_income else -count
            balance += change
            if position in self.openings:
                account.balances[0] += change
            elif is_income:
                income += count
            else:
                expense += count
            self.counts[position] = count
            self.running_balances[position] = balance
            if index + 1 == len(at) or at[index + 1] != at[index]:
                _add_state(account, at[index], index + 1, income, expense)
        return account


def _add_state(account: Account, at: Instant, end: int, income: int, expense: int) -> None:
    balance, index = account.balances[0] + income - expense, len(account.balances)
    account.instants.append(at)
    account.ends.append(end)
    account.incomes.append(income)
    account.expenses.append(expense)
    account.balances.append(balance)
    lowest, highest = account.lowest[-1], account.highest[-1]
    account.lowest.append(index if balance < account.balances[lowest] else lowest)
    account.highest.append(index if balance > account.balances[highest] else highest)


def _ledger_goal(head: GoalHead, savings: Savings) -> LedgerGoal:
    # Large integers are stored as text.
    return LedgerGoal(head.id, head.name, int(savings.unit), int(savings.target), [*map(int, savings.sums)])


def balances(ledger: Ledger, start: Instant, at: Instant, opening: Mapping[str, Amount]) -> list[dict[str, Any]]:
    """Return the balance of each currency at `at`, with its lowest and highest point since the start."""
    currencies = sorted({*ledger.currencies, *opening})
    return [
        {"currency": currency, **_balance(ledger.account(currency), start, at, to_fraction(opening.get(currency, 0)))}
        for currency in currencies
    ]


def _balance(account: Account, start: Instant, at: Instant, opening: Fraction) -> dict[str, Any]:
    index = account.index_at(at)

    def balance(index: int) -> Amount:
        return fraction_to_number(opening + Fraction(account.balances[index], account.unit))

    def point(index: int) -> dict[str, Any]:
        # The opening balance is the state before the other items of the start.
        return {"at": account.instants[index - 1] if index else start, "balance": balance(index)}

    return {
        "opening": balance(0),
        "income": to_number(account.incomes[index], account.unit),
        "expense": to_number(account.expenses[index], account.unit),
        "balance": balance(index),
        "lowest": point(account.lowest[index]),
        "highest": point(account.highest[index]),
    }


def fraction_to_number(amount: Fraction) -> Amount:
    """Return the double nearest to an exact amount, or an int if that is whole."""
    return to_number(amount.numerator, amount.denominator)
