"""What a bank shows at an instant: accounts, balances and rows, as pure functions of a ledger and the instant."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Final

from msgspec import UNSET, Struct

from tickover.api.fields import AccountType
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import StoredTransaction, authorization_of
from tickover.server.schedule.ledger import Book, Ledger
from tickover.server.schedule.money import Amount, to_common_unit

_ZERO: Final = Fraction(0)


class BankAccount(Struct, frozen=True):
    id: str
    name: str
    currency: str
    type: AccountType
    book: Book
    opening: Fraction
    """In addition to the balances of the book."""

    def balance(self, at: Instant) -> Fraction:
        return self.opening + Fraction(self.book.balances[self.book.index_at(at)], self.book.unit)


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """A row of an account: an item that is booked, or a payment that is authorized until it is booked."""

    id: str
    account: BankAccount
    number: int
    """The last number of the item's ID. Transactions and transfers have their own numbers."""
    is_transfer: bool = False
    shown_from: Instant
    shown_until: Instant | None = None
    """Exclusive."""
    authorized_at: Instant
    name: str
    amount: Amount
    """Negative if money goes out."""
    category: str | None = None
    pending_id: str | None = None
    """The ID of the row that a booked payment had before."""

    @property
    def is_pending(self) -> bool:
        return self.shown_until is not None

    def is_shown(self, at: Instant) -> bool:
        return self.shown_from <= at and (self.shown_until is None or at < self.shown_until)


class Withdrawn(Struct, frozen=True):
    """A row that ended because its payment was cancelled."""

    id: str
    account: BankAccount
    number: int
    shown_from: Instant


class BankView:
    """The accounts and all rows of one schedule, at any instant."""

    def __init__(self, ledger: Ledger, clock_key: bytes) -> None:
        self._ledger = ledger
        self._prefix = f"acct_{clock_key.hex()}_"

    @cached_property
    def accounts(self) -> Mapping[str, BankAccount]:
        """By key, in the order of the clock. Without accounts, a clock has one for each currency."""
        ledger = self._ledger
        if ledger.accounts:
            return {
                key: BankAccount(
                    self._prefix + key, head.name, head.currency, head.type, ledger.account_book(key), _ZERO
                )
                for key, head in ledger.accounts.items()
            }
        opening = ledger.opening_balances(UNSET)
        # The account of a withdrawn payment may have no other item.
        withdrawn = [payment.account for payment in ledger.schedule.withdrawn]
        accounts = {}
        for currency in sorted({*ledger.currencies, *opening, *withdrawn}):
            key, book = currency.lower(), ledger.currency_book(currency)
            balance = opening.get(currency, _ZERO)
            accounts[key] = BankAccount(self._prefix + key, currency, currency, "CHECKING", book, balance)
        return accounts

    @cached_property
    def rows(self) -> list[Row]:
        """All rows, sorted by the instant from which they are shown."""
        return sorted([*self._transactions(), *self._transfers()], key=attrgetter("shown_from"))

    @cached_property
    def starts(self) -> list[Instant]:
        """The instant from which each row is shown."""
        return [row.shown_from for row in self.rows]

    @cached_property
    def pending_rows(self) -> list[int]:
        """The positions of payments before they are booked."""
        return [position for position, row in enumerate(self.rows) if row.is_pending]

    @cached_property
    def _pending_by_account(self) -> Mapping[str, list[Row]]:
        """The same payments, by the ID of their account."""
        found: dict[str, list[Row]] = {}
        for position in self.pending_rows:
            found.setdefault(self.rows[position].account.id, []).append(self.rows[position])
        return found

    @cached_property
    def withdrawn(self) -> list[Withdrawn]:
        """In the order of the cancellations."""
        withdrawn = []
        for payment in self._ledger.schedule.withdrawn:
            account = self.accounts[payment.account.lower()]
            withdrawn.append(Withdrawn(f"{payment.id}_p", account, _number(payment.id), payment.authorized_at))
        return withdrawn

    def between(self, first: Instant, last: Instant) -> range:
        """Return the positions of rows that begin at or between these instants."""
        return range(self.position_of(first), bisect_right(self.starts, last))

    def position_of(self, at: Instant) -> int:
        """Return the position of the first row that begins at or after this instant."""
        return bisect_left(self.starts, at)

    def ended(self, at: Instant) -> set[int]:
        """Return the positions of rows that are no longer shown."""
        return {position for position in self.pending_rows if not self.rows[position].is_shown(at)}

    def available(self, account: BankAccount, at: Instant) -> Fraction:
        """Return the balance with the payments that are authorized."""
        pending = self._pending_by_account.get(account.id, ())
        counts, unit = to_common_unit([row.amount for row in pending if row.is_shown(at)])
        return account.balance(at) + Fraction(sum(counts), unit)

    def _transactions(self) -> Iterator[Row]:
        items, ledger = self._ledger.schedule.transactions, self._ledger
        for at, encoded, item in zip(items.instants, items.encoded, ledger.transactions, strict=True):
            account = self.accounts[item.account or item.currency.lower()]
            authorized = authorization_of(encoded)
            if authorized is None or authorized.authorized_at == at:
                yield _row(item, account, at, at)
                continue
            authorized_at = authorized.authorized_at
            pending = _row(authorized.payment_of(item), account, authorized_at, authorized_at, shown_until=at)
            yield pending
            yield _row(item, account, at, authorized_at, pending_id=pending.id)

    def _transfers(self) -> Iterator[Row]:
        for transfer in self._ledger.transfers:
            for side in transfer.sides:
                yield Row(
                    id=side.id, account=self.accounts[side.account], number=_number(transfer.id), is_transfer=True,
                    shown_from=transfer.at, authorized_at=transfer.at, name=transfer.name, amount=side.amount,
                )  # fmt: skip


def _row(
    item: StoredTransaction,
    account: BankAccount,
    shown_from: Instant,
    authorized_at: Instant,
    *,
    shown_until: Instant | None = None,
    pending_id: str | None = None,
) -> Row:
    return Row(
        id=item.id, account=account, number=_number(item.id), shown_from=shown_from, shown_until=shown_until,
        authorized_at=authorized_at, name=item.name, amount=item.signed_amount, category=item.category,
        pending_id=pending_id,
    )  # fmt: skip


def _number(id: str) -> int:
    return int(id.removesuffix("_p").rpartition("_")[2])
