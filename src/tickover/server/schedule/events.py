"""The events of a schedule, in order, and their cursors.

An event's ID is derived from the ID of its item, so it stays the same in every response.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from fractions import Fraction
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec import Raw, Struct

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.items import ENCODER, StoredTransaction, item_id
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.money import Amount, to_number
from tickover.server.schedule.schedule import TRANSACTIONS

_POSTED: Final = 0
_REACHED: Final = 1
_CURSOR: Final = re.compile(r"cursor_([0-9a-f]{16})_([0-9a-f]{4})_([0-9a-f]{8})_([01])")
_TRANSFERS_OFFSET: Final = 2**31
"""Sorts transfers after transactions, whose group they share."""
_MICROS_OFFSET: Final = 2**63
"""Makes instants before 1970 positive."""
_ZERO: Final = Fraction(0)


class EventKey(NamedTuple):
    """The place of an event in the order of all events."""

    at: Instant
    group: int
    number: int
    """The last number of the item's ID, so that transfers follow transactions."""
    step: int
    """0: the item is posted. 1: it reached the goal."""


class Event(NamedTuple):
    at: Instant
    group: int
    position: int
    """The position of the item in its group. Transfers follow transactions."""
    step: int
    encoded: bytes
    """The item."""

    @property
    def key(self) -> EventKey:
        id = item_id(self.encoded)
        number = int(id.rpartition("_")[2]) + (_TRANSFERS_OFFSET if id.startswith("tfr_") else 0)
        return EventKey(self.at, self.group, number, self.step)


_instant_of: Final = attrgetter("at")
_key_of: Final = attrgetter("key")


class EventQuery(Struct, frozen=True):
    """Which events to return: those after `after` and `cursor`, up to `until`. Without `after`, from the start."""

    frozen_time: Instant
    until: Instant
    limit: int
    after: Instant | None = None
    cursor: EventKey | None = None
    opening: Mapping[str, Fraction] = {}


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


class Events:
    """All events of a schedule in order: by instant, then transactions, transfers, and goals in their order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        schedule = ledger.schedule
        transactions, transfers = schedule.transactions, schedule.transfers
        instants, encoded = transactions.instants + transfers.instants, transactions.encoded + transfers.encoded
        positions = range(len(instants))
        events = [Event(instants[each], TRANSACTIONS, each, _POSTED, encoded[each]) for each in positions]
        for group, (goal, savings) in enumerate(zip(schedule.goals, ledger.goals, strict=True), start=1):
            # A goal that starts at its target is not reached by a contribution.
            reached = bisect_left(savings.sums, savings.target)
            instants, encoded = goal.contributions.instants, goal.contributions.encoded
            for position, at in enumerate(instants):
                events.append(Event(at, group, position, _POSTED, encoded[position]))
                if position + 1 == reached:
                    events.append(Event(at, group, position, _REACHED, encoded[position]))
        # The sort is stable, so events of one instant stay in the order above.
        self._events = sorted(events, key=_instant_of)

    def page(self, query: EventQuery) -> bytes:
        """Return a page of events and the cursor of the next page, as JSON."""
        first = 0 if query.after is None else bisect_right(self._events, query.after, key=_instant_of)
        if query.cursor is not None:
            first = max(first, bisect_right(self._events, query.cursor, key=_key_of))
        end = bisect_right(self._events, query.until, key=_instant_of)
        last = min(first + query.limit, end)
        page: dict[str, Any] = {"events": [self._describe(event, query) for event in self._events[first:last]]}
        if last < end:
            page["nextCursor"] = write_cursor(self._events[last - 1].key)
        return ENCODER.encode(page)

    def _describe(self, event: Event, query: EventQuery) -> dict[str, Any]:
        """Return the members of the event."""
        at, group, position, step, encoded = event
        ledger, item = self._ledger, Raw(encoded)
        members: dict[str, Any] = {"id": f"evt_{item_id(encoded)}", "at": at, "type": "transaction.posted"}
        if at > query.frozen_time:
            members["pending"] = True
        if group != TRANSACTIONS:
            goal = ledger.goals[group - 1]
            members["goalId"] = goal.id
            if step == _REACHED:
                members["id"], members["type"] = f"evt_{goal.id}", "goal.reached"
            else:
                members["type"], members["contribution"] = "contribution.posted", item
                members["currentAmount"] = to_number(goal.sums[position + 1], goal.unit)
        elif isinstance(found := ledger.items[position], StoredTransaction):
            members["transaction"] = item
            members["balance"] = self._balance(found.currency, position, query)
            if found.account is not None:
                members["accountBalance"] = self._balance(found.account, position, query)
        else:
            members["type"], members["transfer"] = "transfer.posted", item
            members["fromBalance"] = self._balance(found.from_, position, query)
            members["toBalance"] = self._balance(found.to, position, query)
        return members

    def _balance(self, name: str, position: int, query: EventQuery) -> Amount:
        """Return the balance of a currency or an account after the item at this position."""
        book, opening = self._ledger.book(name), query.opening.get(name, _ZERO)
        balance = book.running_balances[position] * opening.denominator + opening.numerator * book.unit
        return to_number(balance, opening.denominator * book.unit)
