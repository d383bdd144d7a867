"""What a bank tells of an item: rows, each with an ID and a content, from one instant until another."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.connections import Quirk
from tickover.api.fields import AccountType
from tickover.api.timestamps import Instant
from tickover.server.schedule import row_ids
from tickover.server.schedule.items import StoredTransaction, StoredTransfer
from tickover.server.schedule.ledger import Book
from tickover.server.schedule.money import Amount


class BankAccount(Struct, frozen=True):
    id: str
    key: str
    name: str
    currency: str
    type: AccountType
    book: Book
    opening: Fraction
    """In addition to the balances of the book."""

    def balance(self, at: Instant) -> Fraction:
        return self.book.balance(self.book.index_at(at), self.opening)


class BankConnection(Struct, frozen=True):
    """What quirks need to know of the connection that reads a bank."""

    key: bytes = b""
    connected_at: Instant = datetime.min.replace(tzinfo=UTC)
    """The bank's time when the clock was connected."""


class Source(Struct, frozen=True, gc=False):
    """The transaction or transfer that a row is about."""

    id: str
    number: int
    """Transactions and transfers have their own numbers."""
    is_transfer: bool = False
    is_internal: bool = False
    """Whether it is a transfer inside of one currency."""
    cancellation: int | None = None
    """The position of a card payment among those that were cancelled after their authorization."""


class Content(Struct, frozen=True, gc=False):
    """What a row tells."""

    at: Instant
    """The date of the row."""
    name: str
    amount: Amount
    """Negative if money goes out."""
    authorized_at: Instant
    category: str | None = None
    is_pending: bool = False
    pending_id: str | None = None
    """The ID of the row that a booked payment had before."""
    has_id: bool = True
    """Whether the bank tells the ID."""


class Row(Struct, frozen=True, gc=False):
    id: str
    source: Source
    account: BankAccount
    content: Content
    since: Instant
    until: Instant | None = None
    """Exclusive. At an instant, an ID has one row at most."""


class State(NamedTuple):
    """An instant of a bank, and the changes of its schedule until then. All rows that it shows follow from that.

    What has happened never changes, and numbers of items are never used again.
    """

    at: Instant
    transactions: int = 0
    """The numbers that the schedule had given to transactions."""
    transfers: int = 0
    cancellations: int = 0
    """The number of card payments that had been cancelled after their authorization."""
    quirks: frozenset[Quirk] = frozenset()

    def shows(self, row: Row) -> bool:
        if self.at < row.since or (row.until is not None and row.until <= self.at):
            return False
        source = row.source
        if source.number >= (self.transfers if source.is_transfer else self.transactions):
            return False
        return source.cancellation is None or source.cancellation >= self.cancellations


def transaction_rows(source: Source, account: BankAccount, item: StoredTransaction) -> Iterator[Row]:
    """Return the row of a transaction. A card payment has a pending one, from its authorization until it is booked."""
    at = item.at
    content = Content(at, item.name, item.sign * item.amount, item.authorized_at or at, item.category)
    if item.authorized_at is not None and item.authorized_at != at:
        pending_id = row_ids.held(source.id)
        authorized = replace(
            content,
            at=item.authorized_at,
            name=item.authorized_name or item.name,
            amount=item.sign * (item.authorized_amount or item.amount),
            is_pending=True,
        )
        yield Row(pending_id, source, account, authorized, item.authorized_at, at)
        content = replace(content, pending_id=pending_id)
    yield Row(source.id, source, account, content, at)


def transfer_rows(source: Source, accounts: Mapping[str, BankAccount], item: StoredTransfer) -> tuple[Row, Row]:
    """Return the two rows of a transfer."""
    sent = Content(item.at, item.name, -item.amount, item.at)
    received = replace(sent, amount=item.arriving)
    out_id, in_id = row_ids.sides(source.id)
    sent_row = Row(out_id, source, accounts[item.from_], sent, item.at)
    return sent_row, Row(in_id, source, accounts[item.to], received, item.at)
