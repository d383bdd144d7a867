"""What a bank shows at an instant: accounts, balances and rows, as pure functions of a ledger and the instant."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec import UNSET

from tickover.api.timestamps import Instant
from tickover.server.lru_cache import LruCache
from tickover.server.schedule import row_ids
from tickover.server.schedule.bank_rows import BankAccount, Row, Source, State, transaction_rows, transfer_rows
from tickover.server.schedule.items import StoredTransaction
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.money import to_common_unit
from tickover.server.schedule.quirks import NO_QUIRKS, AppliedQuirks

_START: Final = datetime.min.replace(tzinfo=UTC)
"""Before everything."""
_ZERO: Final = Fraction(0)
_since: Final = attrgetter("since")
_ITEMS_PER_STEP: Final = 100
_MAX_RECENT_CHANGES: Final = 4


class Changes(NamedTuple):
    """What changed between two states."""

    added: list[int]
    """Positions of rows in the later view, as below."""
    modified: list[int]
    """Rows that have the ID of an earlier one, and another content."""
    removed: list[Row]


class BankView:
    """The accounts and all rows of one schedule, at any instant. It has the rows after all steps of `build`."""

    def __init__(self, ledger: Ledger, quirks: AppliedQuirks = NO_QUIRKS) -> None:
        self.schedule = ledger.schedule
        self._quirks = quirks
        self._ledger = ledger
        self.rows: list[Row] = []
        """Sorted by the instant from which they are shown."""
        self.recent_changes: LruCache[tuple[State, State], Changes] = LruCache(_MAX_RECENT_CHANGES)
        self._recently_shown: LruCache[State, list[int]] = LruCache(_MAX_RECENT_CHANGES)

    def build(self) -> Iterator[None]:
        """Compute the rows. Pause now and then for other work."""
        rows: list[Row] = []
        for count, found in enumerate(self._items()):
            rows += self._quirks.apply(found)
            if count % _ITEMS_PER_STEP == 0:
                yield
        rows.sort(key=_since)
        self.rows = rows

    def _items(self) -> Iterator[Sequence[Row]]:
        """Return the rows of each transaction, and of each transfer."""
        schedule, accounts = self.schedule, self.accounts
        for position, item in enumerate(schedule.cancelled_payments):
            source = Source(schedule.transaction_id(item.number), item.number, cancellation=position)
            yield list(transaction_rows(source, accounts[_account_of(item)], item))
        for item in self._ledger.transactions:
            source = Source(schedule.transaction_id(item.number), item.number)
            yield list(transaction_rows(source, accounts[_account_of(item)], item))
        for transfer in self._ledger.transfers:
            id, is_internal = schedule.transfer_id(transfer.number), transfer.received is None
            yield transfer_rows(Source(id, transfer.number, True, is_internal), accounts, transfer)

    def state(self, at: Instant) -> State:
        """Return the state of this schedule at an instant."""
        schedule = self.schedule
        numbers = schedule.transactions.next_number, schedule.transfers.next_number
        return State(at, *numbers, len(schedule.cancelled_payments), self._quirks.names)

    @cached_property
    def accounts(self) -> Mapping[str, BankAccount]:
        """By key, in the order of the clock. Without accounts, a clock has one for each currency that it ever had."""
        ledger = self._ledger
        if ledger.accounts:
            return {
                key: BankAccount(
                    self._account_id(key), key, each.name, each.currency, each.type, ledger.book(key), _ZERO
                )
                for key, each in ledger.accounts.items()
            }
        opening = ledger.opening_balances(UNSET)
        # The account of a cancelled payment may have no other item.
        cancelled = [payment.currency for payment in self.schedule.cancelled_payments]
        accounts = {}
        for currency in sorted({*ledger.currencies, *opening, *cancelled, *self.schedule.former_currencies}):
            key, book = currency.lower(), ledger.book(currency)
            balance = opening.get(currency, _ZERO)
            accounts[key] = BankAccount(self._account_id(key), key, currency, currency, "CHECKING", book, balance)
        return accounts

    def _account_id(self, key: str) -> str:
        id = f"acct_{self.schedule.key.hex()}_{key}"
        if "NEW_IDS_ON_RELINK" in self._quirks.names:
            return row_ids.of_connection(id, self._quirks.connection.key)
        return id

    def begin_between(self, first: Instant, last: Instant) -> range:
        """Return the positions of rows that begin at or between these instants."""
        return range(bisect_left(self.rows, first, key=_since), bisect_right(self.rows, last, key=_since))

    def shown(self, state: State) -> Sequence[int]:
        """Return the positions of the rows that are shown in a state."""
        # Apps fetch the same state more than once.
        found = self._recently_shown.get(state)
        if found is None:
            shows, rows = state.shows, self.rows
            found = [position for position in self.begin_between(_START, state.at) if shows(rows[position])]
            self._recently_shown.put(state, found)
        return found

    def differ_between(self, before: State, now: State) -> Sequence[int]:
        """Return the positions of all rows that may be shown in only one of these states."""
        begin, ends = self.begin_between(before.at, now.at), self._ends
        ended = ends[bisect_left(ends, (before.at, 0)) : bisect_right(ends, (now.at, len(self.rows)))]
        cancelled = self._cancelled[bisect_left(self._cancelled, (before.cancellations, 0)) :]
        # Most often there are none, and the range saves walking all rows.
        if not ended and not cancelled:
            return begin
        return sorted({*begin, *(position for _, position in (*ended, *cancelled))})

    @cached_property
    def _ends(self) -> list[tuple[Instant, int]]:
        """The positions of rows that end, sorted by their end."""
        return sorted((row.until, position) for position, row in enumerate(self.rows) if row.until is not None)

    @cached_property
    def _cancelled(self) -> list[tuple[int, int]]:
        """The positions of rows that end by a cancellation, sorted by its number."""
        return sorted(
            (row.source.cancellation, position)
            for position, row in enumerate(self.rows)
            if row.source.cancellation is not None
        )

    def available(self, account: BankAccount, at: Instant) -> Fraction:
        """Return the balance with the payments that are authorized."""
        held = [row.content.amount for row in self._holds[account.key] if row.since <= at < (row.until or at)]
        counts, unit = to_common_unit(held)
        return account.balance(at) + Fraction(sum(counts), unit)

    @cached_property
    def _holds(self) -> Mapping[str, list[Row]]:
        """The pending rows, by the key of their account."""
        found = defaultdict[str, list[Row]](list)
        for rows in self._items():
            if rows[0].content.is_pending and rows[0].source.cancellation is None:
                found[rows[0].account.key].append(rows[0])
        return found


def _account_of(item: StoredTransaction) -> str:
    return item.account or item.currency.lower()
