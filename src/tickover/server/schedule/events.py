"""The events of a schedule, in order, and their cursors.

An event's ID is derived from the ID of its item, so it stays the same in every response.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import Struct, json

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.items import item_id
from tickover.server.schedule.ledger import Book, Ledger, LedgerGoal
from tickover.server.schedule.money import Amount, to_number
from tickover.server.schedule.schedule import TRANSACTIONS

_POSTED: Final = 0
_REACHED: Final = 1
_CURSOR: Final = re.compile(r"cursor_([0-9a-f]{16})_([0-9a-f]{4})_([0-9a-f]{8})_([01])")
_TRANSFERS_OFFSET: Final = 2**31
"""Sorts transfers after transactions, whose group they share."""
_MICROS_OFFSET: Final = 2**63
"""Makes instants before 1970 positive."""
_encode: Final = json.Encoder().encode


class EventKey(NamedTuple):
    """The place of an event in the order of all events."""

    at: Instant
    group: int
    number: int
    """The last number of the item's ID, so that transfers follow transactions."""
    step: int
    """0: the item is posted. 1: it reached the goal."""


class Event(NamedTuple):
    group: int
    position: int
    """The position of the item in its group. Transfers follow transactions."""
    step: int


class EventIndex(Struct, frozen=True):
    """All events of a schedule, sorted, and their instants."""

    instants: Sequence[Instant]
    events: Sequence[Event]


class EventQuery(Struct, frozen=True):
    """Which events to return: those after `after` and `cursor`, up to `until`. Without `after`, from the start."""

    frozen_time: Instant
    until: Instant
    limit: int
    after: Instant | None = None
    cursor: EventKey | None = None
    opening: Mapping[str, Fraction] = {}


def index_events(ledger: Ledger) -> EventIndex:
    """Return the events in order: by instant, then transactions, transfers, and goals in their order."""
    schedule = ledger.schedule
    instants = [*schedule.transactions.instants, *schedule.transfers.instants]
    events = [Event(TRANSACTIONS, position, _POSTED) for position in range(len(instants))]
    for group, (goal, savings) in enumerate(zip(schedule.goals, ledger.goals, strict=True), start=1):
        contributions = goal.contributions.instants
        # A goal that starts at its target is not reached by a contribution.
        reached = bisect_left(savings.sums, savings.target)
        for position, at in enumerate(contributions):
            instants.append(at)
            events.append(Event(group, position, _POSTED))
            if position + 1 == reached:
                instants.append(at)
                events.append(Event(group, position, _REACHED))
    # The sort is stable, so events of one instant stay in the order above.
    order = sorted(range(len(instants)), key=instants.__getitem__)
    return EventIndex([instants[index] for index in order], [events[index] for index in order])


def _encoded(ledger: Ledger, group: int, position: int) -> bytes:
    schedule = ledger.schedule
    if group != TRANSACTIONS:
        return schedule.goals[group - 1].contributions.encoded[position]
    count = len(ledger.transactions)
    return schedule.transactions.encoded[position] if position < count else schedule.transfers.encoded[position - count]


def _key(ledger: Ledger, index: EventIndex, i: int) -> EventKey:
    group, position, step = index.events[i]
    id = item_id(_encoded(ledger, group, position))
    number = int(id[id.rindex("_") + 1 :])
    is_transfer = group == TRANSACTIONS and position >= len(ledger.transactions)
    return EventKey(index.instants[i], group, number + (_TRANSFERS_OFFSET if is_transfer else 0), step)


def write_cursor(key: EventKey) -> str:
    """Return the cursor of the page after this event."""
    return f"cursor_{to_micros(key.at) + _MICROS_OFFSET:016x}_{key.group:04x}_{key.number:08x}_{key.step}"


def read_cursor(text: str) -> EventKey | None:
    """Return the key in a cursor, or None if the cursor is invalid."""
    found = _CURSOR.fullmatch(text)
    if found is None:
        return None
    micros, group, number, step = (int(digits, 16) for digits in found.groups())
    try:
        return EventKey(from_micros(micros - _MICROS_OFFSET), group, number, step)
    except OverflowError:
        return None


def events(ledger: Ledger, index: EventIndex, query: EventQuery) -> bytes:
    """Return a page of events and the cursor of the next page, as JSON."""
    first = 0 if query.after is None else bisect_right(index.instants, query.after)
    if query.cursor is not None:
        every = range(len(index.events))
        first = max(first, bisect_right(every, query.cursor, key=lambda i: _key(ledger, index, i)))
    end = bisect_right(index.instants, query.until)
    last = min(first + query.limit, end)
    writer = _EventWriter(ledger, query)
    page = b",".join([writer.write(index.instants[i], *index.events[i]) for i in range(first, last)])
    if last >= end:
        return b'{"events":[%b]}' % page
    return b'{"events":[%b],"nextCursor":"%b"}' % (page, write_cursor(_key(ledger, index, last - 1)).encode())


class _EventWriter:
    def __init__(self, ledger: Ledger, query: EventQuery) -> None:
        self._ledger = ledger
        self._query = query
        self._openings: dict[str, tuple[int, int, int]] = {}

    def write(self, at: Instant, group: int, position: int, step: int) -> bytes:
        pending = b',"pending":true' if at > self._query.frozen_time else b""
        encoded_at, encoded = _encode(at), _encoded(self._ledger, group, position)
        if group == TRANSACTIONS and position >= len(self._ledger.transactions):
            return self._transfer_posted(encoded_at, pending, encoded, position)
        if group == TRANSACTIONS:
            return self._transaction_posted(encoded_at, pending, encoded, position)
        goal = self._ledger.goals[group - 1]
        if step == _REACHED:
            id = goal.id.encode()
            return b'{"id":"evt_%b","at":%b,"type":"goal.reached"%b,"goalId":"%b"}' % (id, encoded_at, pending, id)
        return _contribution_posted(encoded_at, pending, goal, encoded, to_number(goal.sums[position + 1], goal.unit))

    def _transaction_posted(self, at: bytes, pending: bytes, encoded: bytes, position: int) -> bytes:
        transaction = self._ledger.transactions[position]
        book = self._ledger.currency_book(transaction.currency)
        offset, factor, unit = self._opening(transaction.currency, book)
        balance = _encode(to_number(book.running_balances[position] * factor + offset, unit))
        if transaction.account is not None:
            balance += b',"accountBalance":%b' % self._account_balance(transaction.account, position)
        return b'{"id":"evt_%b","at":%b,"type":"transaction.posted"%b,"transaction":%b,"balance":%b}' % (
            transaction.id.encode(), at, pending, encoded, balance,
        )  # fmt: skip

    def _transfer_posted(self, at: bytes, pending: bytes, encoded: bytes, position: int) -> bytes:
        transfer = self._ledger.transfers[position - len(self._ledger.transactions)]
        ends = [self._account_balance(key, position) for key in (transfer.from_, transfer.to)]
        return b'{"id":"evt_%b","at":%b,"type":"transfer.posted"%b,"transfer":%b,"fromBalance":%b,"toBalance":%b}' % (
            transfer.id.encode(),
            at,
            pending,
            encoded,
            *ends,
        )

    def _account_balance(self, key: str, position: int) -> bytes:
        book = self._ledger.account_book(key)
        return _encode(to_number(book.running_balances[position], book.unit))

    def _opening(self, currency: str, book: Book) -> tuple[int, int, int]:
        """Return the opening balance in a unit that is a multiple of the book's, the factor, and the unit."""
        found = self._openings.get(currency)
        if found is None:
            opening = self._query.opening.get(currency, Fraction(0))
            factor = opening.denominator
            found = self._openings[currency] = (opening.numerator * book.unit, factor, factor * book.unit)
        return found


def _contribution_posted(at: bytes, pending: bytes, goal: LedgerGoal, encoded: bytes, current: Amount) -> bytes:
    return (
        b'{"id":"evt_%b","at":%b,"type":"contribution.posted"%b,"goalId":"%b","contribution":%b,"currentAmount":%b}'
        % (item_id(encoded).encode(), at, pending, goal.id.encode(), encoded, _encode(current))
    )
