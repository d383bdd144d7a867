"""The ledger of a schedule: its sums and balances, as pure functions of schedule and instant.

`events`, `expectations` and `totals` are computed from a ledger.

Sums are integers of a common unit for each currency and account, computed once for each schedule. The opening balance
of a currency only shifts them, so a query looks up a few numbers.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NamedTuple

from msgspec import Struct, UnsetType, json

from tickover.api.timestamps import Instant
from tickover.server.schedule.items import StoredTransaction, StoredTransfer, decode_items
from tickover.server.schedule.money import Amount, Savings, to_common_unit, to_fraction, to_number
from tickover.server.schedule.schedule import GoalHead, Schedule, decode_opening_balances


class LedgerGoal(Struct, frozen=True):
    """A goal with its sums before the first contribution and after each one, as integers of 1/unit."""

    id: str
    name: str
    unit: int
    target: int
    sums: Sequence[int]


class Turnover(NamedTuple):
    """What has changed a balance so far, as integers of 1/unit."""

    income: int = 0
    expense: int = 0
    transferred_in: int = 0
    transferred_out: int = 0


_INCOME, _EXPENSE, _IN, _OUT = range(len(Turnover._fields))
_DECREASES: Final = {_EXPENSE, _OUT}


_Change = tuple[Instant, int, int, Amount]
"""What an item changes in a book: its instant, its position, the member of the turnover, and the amount."""


class Book(Struct, frozen=True):
    """The balance of a currency or an account, as integers of 1/unit. A currency's is without its opening balance.

    The lists of states start with the one before the first item. After that, they have the state after all items of
    each instant.
    """

    unit: int
    positions: list[int]
    """The items that change the book: positions among all transactions, followed by all transfers."""
    running_balances: dict[int, int]
    """The balance after each of them, by position."""
    instants: list[Instant]
    """The distinct instants. They have no entry for the state before the first item."""
    ends: list[int]
    """The number of items up to each instant."""
    turnovers: list[tuple[int, ...]]
    """The members of a Turnover."""
    balances: list[int]
    lowest: list[int]
    """The index of the earliest lowest balance so far."""
    highest: list[int]

    def index_at(self, at: Instant) -> int:
        """Return the index of the state at `at`, after all items of that instant."""
        return bisect_right(self.instants, at)

    def add_state(self, at: Instant, turnover: tuple[int, ...], balance: int) -> None:
        """Append the state after the last item."""
        index = len(self.balances)
        self.instants.append(at)
        self.ends.append(len(self.positions))
        self.turnovers.append(turnover)
        self.balances.append(balance)
        lowest, highest = self.lowest[-1], self.highest[-1]
        self.lowest.append(index if balance < self.balances[lowest] else lowest)
        self.highest.append(index if balance > self.balances[highest] else highest)


def _new_book(unit: int = 1, opening: int = 0) -> Book:
    return Book(unit, [], {}, [], [0], [Turnover()], [opening], [0], [0])


_ITEMS_PER_STEP: Final = 250
_EMPTY_BOOK: Final = _new_book()
_ZERO: Final = Fraction(0)
_decode_goal_head: Final = json.Decoder(GoalHead).decode


class Ledger:
    """The sums of one schedule. They don't depend on an instant or on opening balances, so a ledger can be cached.

    It has them after all steps of `build`.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.accounts = {head.key: head for head in (account.head for account in schedule.accounts)}
        self.transactions: list[StoredTransaction] = []
        self.transfers: list[StoredTransfer] = []
        self.counts = [0] * len(schedule.transactions.encoded)
        """The amount of each transaction, in the unit of its currency."""
        self._currency_books: dict[str, Book] = {}
        self._account_books: dict[str, Book] = {}

    def build(self) -> Iterator[None]:
        """Compute the sums. Pause after every few hundred items, so that other work can run in between."""
        encoded = self.schedule.transactions.encoded
        for first in range(0, len(encoded), _ITEMS_PER_STEP):
            if first:
                yield
            self.transactions += decode_items(StoredTransaction, encoded[first : first + _ITEMS_PER_STEP])
        self.transfers = decode_items(StoredTransfer, self.schedule.transfers.encoded)
        by_currency, by_account = self._changes()
        left = _ITEMS_PER_STEP
        for key, changes in (*sorted(by_currency.items()), *by_account.items()):
            left -= len(changes)
            if left < 0:
                yield
                left = _ITEMS_PER_STEP
            if key in by_account:
                self._account_books[key] = self._open_book(changes, self.accounts[key].opening_balance)
            else:
                self._currency_books[key] = self._open_book(changes, 0, self.counts)

    def _changes(self) -> tuple[dict[str, list[_Change]], dict[str, list[_Change]]]:
        """Return what items change in the book of each currency, and of each account."""
        by_currency: dict[str, list[_Change]] = {head.currency: [] for head in self.accounts.values()}
        by_account: dict[str, list[_Change]] = {key: [] for key in self.accounts}
        for position, (at, item) in enumerate(zip(self.schedule.transactions.instants, self.transactions, strict=True)):
            change = at, position, _INCOME if item.type == "INCOME" else _EXPENSE, item.amount
            by_currency.setdefault(item.currency, []).append(change)
            if item.account is not None:
                by_account[item.account].append(change)
        for position, transfer in enumerate(self.transfers, start=len(self.transactions)):
            sent = transfer.at, position, _OUT, transfer.amount
            received = transfer.at, position, _IN, transfer.arriving
            by_account[transfer.from_].append(sent)
            by_account[transfer.to].append(received)
            by_currency[transfer.currency].append(sent)
            by_currency[transfer.received_currency or transfer.currency].append(received)
        if self.transfers:
            for changes in (*by_currency.values(), *by_account.values()):
                changes.sort(key=itemgetter(0, 1))
        return by_currency, by_account

    @property
    def currencies(self) -> Collection[str]:
        return self._currency_books

    def currency_book(self, currency: str) -> Book:
        return self._currency_books.get(currency, _EMPTY_BOOK)

    def account_book(self, key: str) -> Book:
        return self._account_books.get(key, _EMPTY_BOOK)

    def opening_balances(self, given: Mapping[str, Amount] | UnsetType) -> dict[str, Fraction]:
        """Return the opening balance of each currency: those that are given, or else those of the clock."""
        if self.accounts:
            balances: dict[str, Fraction] = {}
            for head in self.accounts.values():
                opening = balances.get(head.currency, _ZERO)
                balances[head.currency] = opening + to_fraction(head.opening_balance)
            return balances
        if isinstance(given, UnsetType):
            given = decode_opening_balances(self.schedule)
        return {currency: to_fraction(amount) for currency, amount in given.items()}

    def item_ids(self, positions: Iterable[int]) -> list[str]:
        """Return the IDs of transactions and transfers."""
        count = len(self.transactions)
        return [
            self.transactions[position].id if position < count else self.transfers[position - count].id
            for position in positions
        ]

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

    def _open_book(self, changes: Sequence[_Change], opening: Amount, amounts: list[int] | None = None) -> Book:
        """Return the book of these changes. Fill `amounts` with those of transactions, by position."""
        (balance, *counts), unit = to_common_unit([opening, *[change[3] for change in changes]])
        book = _new_book(unit, balance)
        sums = [0, 0, 0, 0]
        for index, ((at, position, kind, _), count) in enumerate(zip(changes, counts, strict=True)):
            change = -count if kind in _DECREASES else count
            balance += change
            sums[kind] += count
            book.positions.append(position)
            book.running_balances[position] = balance
            if amounts is not None and position < len(amounts):
                amounts[position] = count
            if index + 1 == len(changes) or changes[index + 1][0] != at:
                book.add_state(at, tuple(sums), balance)
        return book


def _ledger_goal(head: GoalHead, savings: Savings) -> LedgerGoal:
    # Large integers are stored as text.
    return LedgerGoal(head.id, head.name, int(savings.unit), int(savings.target), [*map(int, savings.sums)])


def balances(ledger: Ledger, start: Instant, at: Instant, opening: Mapping[str, Fraction]) -> dict[str, Any]:
    """Return the balance of each currency and account at `at`, with its lowest and highest point since the start."""

    def describe(book: Book, opening: Fraction) -> dict[str, Any]:
        return _describe(book, start, at, opening, has_transfers=bool(ledger.accounts))

    currencies = [
        {"currency": currency, **describe(ledger.currency_book(currency), opening.get(currency, _ZERO))}
        for currency in sorted({*ledger.currencies, *opening})
    ]
    if not ledger.accounts:
        return {"balances": currencies}
    accounts = [
        {"account": key, "currency": head.currency, **describe(ledger.account_book(key), _ZERO)}
        for key, head in ledger.accounts.items()
    ]
    return {"balances": currencies, "accounts": accounts}


def _describe(book: Book, start: Instant, at: Instant, opening: Fraction, *, has_transfers: bool) -> dict[str, Any]:
    index = book.index_at(at)
    turnover = Turnover(*book.turnovers[index])

    def balance(index: int) -> Amount:
        return fraction_to_number(opening + Fraction(book.balances[index], book.unit))

    def point(index: int) -> dict[str, Any]:
        # The opening balance is the state before the other items of the start.
        return {"at": book.instants[index - 1] if index else start, "balance": balance(index)}

    members = {
        "opening": balance(0),
        "income": to_number(turnover.income, book.unit),
        "expense": to_number(turnover.expense, book.unit),
    }
    if has_transfers:
        members["transferredIn"] = to_number(turnover.transferred_in, book.unit)
        members["transferredOut"] = to_number(turnover.transferred_out, book.unit)
    extremes = {"lowest": point(book.lowest[index]), "highest": point(book.highest[index])}
    return {**members, "balance": balance(index), **extremes}


def fraction_to_number(amount: Fraction) -> Amount:
    """Return the double nearest to an exact amount, or an int if that is whole."""
    return to_number(amount.numerator, amount.denominator)
