"""The ledger of a schedule: its sums and balances, as pure functions of schedule and instant.

`events`, `expectations` and `totals` are computed from a ledger.

Sums are integers of a common unit for each currency and account, computed once for each schedule. The opening balance
of a currency only shifts them, so a query computes little.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from msgspec import Struct, UnsetType

from tickover.api.timestamps import Instant
from tickover.server.schedule.items import StoredTransaction, StoredTransfer
from tickover.server.schedule.money import Amount, to_common_unit, to_fraction, to_number
from tickover.server.schedule.schedule import Schedule

_INCOME, _EXPENSE, _IN, _OUT = range(4)
"""The members of a turnover, which is what has changed a balance so far, as integers of 1/unit."""
_DECREASES: Final = {_EXPENSE, _OUT}


_Change = tuple[Instant, int, int, Amount]
"""What an item changes in a book: its instant, its position, the member of the turnover, and the amount."""


class Step(NamedTuple):
    """The position of an item, and the balance before and after it."""

    position: int
    before: int
    after: int

    @property
    def change(self) -> int:
        return self.after - self.before


class Book(Struct, frozen=True):
    """The balance of a currency or an account, as integers of 1/unit. A currency's is without its opening balance.

    The lists of states start with the one before the first item. After that, they have the state after all items of
    each instant.
    """

    unit: int
    running_balances: dict[int, int]
    """The balance after each item, by its position among all transactions, followed by all transfers."""
    instants: list[Instant]
    """The distinct instants. They have no entry for the state before the first item."""
    ends: list[int]
    """The number of items up to each instant."""
    turnovers: list[tuple[int, ...]]
    balances: list[int]
    lowest: list[int]
    """The lowest balance up to each state."""
    highest: list[int]

    def index_at(self, at: Instant) -> int:
        """Return the index of the state at `at`, after all items of that instant."""
        return bisect_right(self.instants, at)

    def steps(self, index: int) -> Iterator[Step]:
        """Return what each item of a state's instant does. A transfer inside of a currency changes nothing."""
        before = self.balances[index - 1]
        for position, after in islice(self.running_balances.items(), self.ends[index - 1], self.ends[index]):
            yield Step(position, before, after)
            before = after

    def balance(self, index: int, opening: Fraction) -> Fraction:
        """Return the balance of a state, with an opening balance."""
        return opening + Fraction(self.balances[index], self.unit)


_ITEMS_PER_STEP: Final = 250
_ZERO: Final = Fraction(0)


class Ledger:
    """The sums of one schedule. They don't depend on an instant or on opening balances, so a ledger can be cached.

    It has them after all steps of `build`.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.accounts = {account.key: account for account in schedule.accounts}
        self.transactions = schedule.transactions.all
        self.transfers = schedule.transfers.all
        self._books: dict[str, Book] = {}
        """By currency and by account. The key of an account has no uppercase letters."""

    def build(self) -> Iterator[None]:
        """Compute the sums. Pause after every few hundred items, so that other work can run in between."""
        left = _ITEMS_PER_STEP
        for name, changes in self._changes().items():
            left -= len(changes)
            if left < 0:
                yield
                left = _ITEMS_PER_STEP
            self._books[name] = _open_book(changes, self.accounts[name].opening_balance if name in self.accounts else 0)

    def _changes(self) -> dict[str, list[_Change]]:
        """Return what items change in the book of each currency, and of each account."""
        names = [name for account in self.accounts.values() for name in (account.currency, account.key)]
        by_name = defaultdict[str, list[_Change]](list, {name: [] for name in names})
        for position, item in enumerate(self.transactions):
            change = item.at, position, _INCOME if item.type == "INCOME" else _EXPENSE, item.amount
            by_name[item.currency].append(change)
            if item.account is not None:
                by_name[item.account].append(change)
        for position, transfer in enumerate(self.transfers, start=len(self.transactions)):
            sent = transfer.at, position, _OUT, transfer.amount
            received = transfer.at, position, _IN, transfer.arriving
            by_name[transfer.from_].append(sent)
            by_name[transfer.to].append(received)
            by_name[transfer.currency].append(sent)
            by_name[transfer.received_currency or transfer.currency].append(received)
        if self.transfers:
            for changes in by_name.values():
                changes.sort(key=itemgetter(0, 1))
        return by_name

    @property
    def currencies(self) -> Set[str]:
        """The currencies of items and accounts."""
        return self._books.keys() - self.accounts

    def book(self, name: str) -> Book:
        """Return the book of a currency or of an account."""
        return self._books.get(name) or _open_book((), 0)

    def opening_balances(self, given: Mapping[str, Amount] | UnsetType) -> dict[str, Fraction]:
        """Return the opening balance of each currency: those that are given, or else those of the clock."""
        if self.accounts:
            balances: dict[str, Fraction] = {}
            for account in self.accounts.values():
                opening = balances.get(account.currency, _ZERO)
                balances[account.currency] = opening + to_fraction(account.opening_balance)
            return balances
        if isinstance(given, UnsetType):
            given = self.schedule.opening_balances or {}
        return {currency: to_fraction(amount) for currency, amount in given.items()}

    @cached_property
    def items(self) -> Sequence[StoredTransaction | StoredTransfer]:
        """Transactions, followed by transfers, as the positions of books count them."""
        return [*self.transactions, *self.transfers]

    def item_ids(self, positions: Iterable[int]) -> list[str]:
        """Return the IDs of transactions and transfers."""
        schedule, items = self.schedule, (self.items[position] for position in positions)
        return [
            schedule.transfer_id(item.number)
            if isinstance(item, StoredTransfer)
            else schedule.transaction_id(item.number)
            for item in items
        ]

    @cached_property
    def positions_by_name(self) -> Mapping[str, Sequence[int]]:
        positions: dict[str, list[int]] = {}
        for position, transaction in enumerate(self.transactions):
            positions.setdefault(transaction.name, []).append(position)
        return positions


def _open_book(changes: Sequence[_Change], opening: Amount) -> Book:
    """Return the book of these changes."""
    (balance, *counts), unit = to_common_unit([opening, *[change[3] for change in changes]])
    book = Book(unit, {}, [], [0], [(0, 0, 0, 0)], [balance], [balance], [balance])
    sums = [0, 0, 0, 0]
    for index, ((at, position, kind, _), count) in enumerate(zip(changes, counts, strict=True)):
        balance += -count if kind in _DECREASES else count
        sums[kind] += count
        book.running_balances[position] = balance
        if index + 1 == len(changes) or changes[index + 1][0] != at:
            book.instants.append(at)
            book.ends.append(len(book.running_balances))
            book.turnovers.append(tuple(sums))
            book.balances.append(balance)
            book.lowest.append(min(balance, book.lowest[-1]))
            book.highest.append(max(balance, book.highest[-1]))
    return book


def balances(ledger: Ledger, start: Instant, at: Instant, opening: Mapping[str, Fraction]) -> dict[str, Any]:
    """Return the balance of each currency and account at `at`, with its lowest and highest point since the start."""

    def describe(name: str) -> dict[str, Any]:
        return _describe(ledger, name, start, at, opening.get(name, _ZERO))

    currencies = [{"currency": name, **describe(name)} for name in sorted({*ledger.currencies, *opening})]
    if not ledger.accounts:
        return {"balances": currencies}
    accounts = [
        {"account": account.key, "currency": account.currency, **describe(account.key)}
        for account in ledger.accounts.values()
    ]
    return {"balances": currencies, "accounts": accounts}


def _describe(ledger: Ledger, name: str, start: Instant, at: Instant, opening: Fraction) -> dict[str, Any]:
    book = ledger.book(name)
    index = book.index_at(at)
    income, expense, transferred_in, transferred_out = (to_number(sum, book.unit) for sum in book.turnovers[index])

    def balance(index: int) -> Amount:
        return fraction_to_number(book.balance(index, opening))

    def earliest(extremes: Sequence[int]) -> dict[str, Any]:
        found = bisect_left(extremes, True, hi=index, key=lambda extreme: extreme == extremes[index])
        # The opening balance is the state before the other items of the start.
        return {"at": book.instants[found - 1] if found else start, "balance": balance(found)}

    members = {"opening": balance(0), "income": income, "expense": expense}
    if ledger.accounts:
        members |= {"transferredIn": transferred_in, "transferredOut": transferred_out}
    return {**members, "balance": balance(index), "lowest": earliest(book.lowest), "highest": earliest(book.highest)}


def fraction_to_number(amount: Fraction) -> Amount:
    """Return the double nearest to an exact amount, or an int if that is whole."""
    return to_number(amount.numerator, amount.denominator)
