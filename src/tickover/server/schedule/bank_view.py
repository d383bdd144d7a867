"""What a bank shows at an instant: accounts, balances and rows, as pure functions of a ledger and the instant."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Final

from msgspec import UNSET, Struct

from tickover.api.fields import AccountType
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import StoredTransaction
from tickover.server.schedule.ledger import Book, Ledger
from tickover.server.schedule.money import Amount, to_common_unit
from tickover.server.schedule.schedule import WithdrawnPayment

_ZERO: Final = Fraction(0)
_start_of: Final = attrgetter("at")


class BankAccount(Struct, frozen=True):
    id: str
    name: str
    currency: str
    type: AccountType
    book: Book
    opening: Fraction
    """In addition to the balances of the book."""

    def balance(self, at: Instant) -> Fraction:
        return self.book.balance(self.book.index_at(at), self.opening)


class Row(Struct, frozen=True, gc=False):
    """An item that is booked, or a payment that is authorized until it is booked."""

    id: str
    number: int
    """That of the item. Transactions and transfers have their own numbers."""
    account: BankAccount
    at: Instant
    """The instant from which it is shown."""
    name: str
    amount: Amount
    """Negative if money goes out."""
    authorized_at: Instant
    until: Instant | None = None
    """The instant at which a payment is booked, exclusive."""
    category: str | None = None
    pending_id: str | None = None
    """The ID of the row that a booked payment had before."""
    transfer_id: str | None = None
    """The ID of the transfer, which has two rows."""
    is_internal: bool = False
    """Whether it is a transfer inside of one currency."""

    @property
    def is_pending(self) -> bool:
        return self.until is not None

    def is_shown(self, at: Instant) -> bool:
        return self.at <= at and (self.until is None or at < self.until)


class BankView:
    """The accounts and all rows of one schedule, at any instant."""

    def __init__(self, ledger: Ledger, clock_key: bytes) -> None:
        self.schedule = ledger.schedule
        self._ledger = ledger
        self._prefix = f"acct_{clock_key.hex()}_"

    @cached_property
    def accounts(self) -> Mapping[str, BankAccount]:
        """By key, in the order of the clock. Without accounts, a clock has one for each currency that it ever had."""
        ledger, prefix = self._ledger, self._prefix
        if ledger.accounts:
            return {
                key: BankAccount(prefix + key, each.name, each.currency, each.type, ledger.book(key), _ZERO)
                for key, each in ledger.accounts.items()
            }
        opening = ledger.opening_balances(UNSET)
        # The account of a withdrawn payment may have no other item.
        withdrawn = [payment.account for payment in self.schedule.withdrawn]
        accounts = {}
        for currency in sorted({*ledger.currencies, *opening, *withdrawn, *self.schedule.former_currencies}):
            key, book = currency.lower(), ledger.book(currency)
            balance = opening.get(currency, _ZERO)
            accounts[key] = BankAccount(prefix + key, currency, currency, "CHECKING", book, balance)
        return accounts

    @cached_property
    def rows(self) -> list[Row]:
        """All rows, sorted by the instant from which they are shown."""
        return sorted([*self._transactions(), *self._transfers()], key=_start_of)

    @cached_property
    def known_ids(self) -> Set[str]:
        """The IDs of all rows and transfers."""
        return {row.id for row in self.rows} | {row.transfer_id for row in self.rows if row.transfer_id}

    @cached_property
    def _pending(self) -> list[int]:
        """The positions of payments before they are booked."""
        return [position for position, row in enumerate(self.rows) if row.is_pending]

    @cached_property
    def _pending_by_account(self) -> Mapping[str, list[Row]]:
        """The same payments, by the ID of their account."""
        found = defaultdict[str, list[Row]](list)
        for position in self._pending:
            found[self.rows[position].account.id].append(self.rows[position])
        return found

    def between(self, first: Instant, last: Instant) -> range:
        """Return the positions of rows that begin at or between these instants."""
        return range(bisect_left(self.rows, first, key=_start_of), bisect_right(self.rows, last, key=_start_of))

    def ended(self, at: Instant) -> list[int]:
        """Return the positions of payments that are no longer shown, or not yet."""
        return [position for position in self._pending if not self.rows[position].is_shown(at)]

    def available(self, account: BankAccount, at: Instant) -> Fraction:
        """Return the balance with the payments that are authorized."""
        pending = [row.amount for row in self._pending_by_account[account.id] if row.is_shown(at)]
        counts, unit = to_common_unit(pending)
        return account.balance(at) + Fraction(sum(counts), unit)

    def withdrawn(self, first: int) -> Iterator[tuple[WithdrawnPayment, BankAccount, str]]:
        """Return the payments that were cancelled after their authorization, from the `first` one on.

        Each with its account and the ID of its pending row.
        """
        for payment in self.schedule.withdrawn[first:]:
            yield payment, self.accounts[payment.account.lower()], self._pending_id(payment.number)

    def _pending_id(self, number: int) -> str:
        return f"{self.schedule.transaction_id(number)}_p"

    def _transactions(self) -> Iterator[Row]:
        for item in self._ledger.transactions:
            id, account, at = self.schedule.transaction_id(item.number), self._account_of(item), item.at
            authorized_at, pending_id = item.authorized_at or at, None
            if authorized_at != at:
                pending_id = self._pending_id(item.number)
                name, amount = item.authorized_name or item.name, item.sign * (item.authorized_amount or item.amount)
                yield Row(
                    pending_id, item.number, account, authorized_at, name, amount, authorized_at, at, item.category
                )
            yield Row(
                id, item.number, account, at, item.name, item.sign * item.amount, authorized_at,
                category=item.category, pending_id=pending_id,
            )  # fmt: skip

    def _account_of(self, item: StoredTransaction) -> BankAccount:
        return self.accounts[item.account or item.currency.lower()]

    def _transfers(self) -> Iterator[Row]:
        for item in self._ledger.transfers:
            transfer = self.schedule.transfer_id(item.number)
            sides = ("out", item.from_, -item.amount), ("in", item.to, item.arriving)
            for side, key, amount in sides:
                yield Row(
                    f"{transfer}_{side}", item.number, self.accounts[key], item.at, item.name, amount, item.at,
                    transfer_id=transfer, is_internal=item.received is None,
                )  # fmt: skip
