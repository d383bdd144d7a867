"""The events of a schedule, in order, and their cursors.

An event's ID is derived from the ID of its item, so it stays the same in every response.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from fractions import Fraction
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec import Struct

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.encoded import ENCODER, contributions_json, transaction_json, transfer_json
from tickover.server.schedule.items import Item, StoredContribution, StoredTransaction, StoredTransfer
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.money import Amount, to_number

_CLOCK: Final = 0
_POSTED: Final = 0
_REACHED: Final = 1
_CURSOR: Final = re.compile(r"cursor_([0-9a-f]{16})_([0-9a-f]{4})_([0-9a-f]{8})_([01])")
_TRANSFERS_OFFSET: Final = 2**31
"""Sorts transfers after transactions, whose group they share."""
_MICROS_OFFSET: Final = 2**63
"""Makes instants before 1970 positive."""
_ZERO: Final = Fraction(0)
_Description = tuple[str, str, dict[str, Any]]
"""The ID of what an event is about, the type of the event, and further members."""


class EventKey(NamedTuple):
    """The place of an event in the order of all events."""

    at: Instant
    owner: int
    """0: the clock itself, which has transactions and transfers. Otherwise the index of the goal plus 1."""
    number: int
    """The number of the item, with an offset for transfers, so that they follow transactions."""
    step: int
    """0: the item is posted. 1: it reached the goal."""


class Event(NamedTuple):
    at: Instant
    owner: int
    item: Item
    position: int
    """The position of the item among those of its owner. Transfers follow transactions."""
    step: int

    @property
    def key(self) -> EventKey:
        offset = _TRANSFERS_OFFSET if isinstance(self.item, StoredTransfer) else 0
        return EventKey(self.at, self.owner, self.item.number + offset, self.step)


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


class EncodedPage(NamedTuple):
    events: Iterator[bytes]
    """Each as JSON."""
    next_cursor: str | None
    """None if there is no other page."""


def write_cursor(key: EventKey) -> str:
    """Return the cursor of the page after this event."""
    return f"cursor_{to_micros(key.at) + _MICROS_OFFSET:016x}_{key.owner:04x}_{key.number:08x}_{key.step}"


def read_cursor(text: str) -> EventKey | None:
    """Return the key in a cursor, or None if the cursor is invalid."""
    found = _CURSOR.fullmatch(text)
    if found is None:
        return None
    micros, owner, number, step = (int(digits, 16) for digits in found.groups())
    try:
        return EventKey(from_micros(micros - _MICROS_OFFSET), owner, number, step)
    except OverflowError:
        return None


class Events:
    """All events of a schedule in order: by instant, then transactions, transfers, and goals in their order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._schedule = ledger.schedule
        events: list[Event] = []
        for position, item in enumerate(ledger.items):
            events.append(Event(item.at, _CLOCK, item, position, _POSTED))
        for owner, goal in enumerate(self._schedule.goals, start=_CLOCK + 1):
            # A goal that starts at its target is not reached by a contribution.
            reached = bisect_left(goal.savings.sums, goal.savings.target)
            for position, paid in enumerate(goal.contributions.all):
                events.append(Event(paid.at, owner, paid, position, _POSTED))
                if position + 1 == reached:
                    events.append(Event(paid.at, owner, paid, position, _REACHED))
        # The sort is stable, so events of one instant stay in the order above.
        self._events = sorted(events, key=_instant_of)

    def page(self, query: EventQuery) -> EncodedPage:
        first = 0 if query.after is None else bisect_right(self._events, query.after, key=_instant_of)
        if query.cursor is not None:
            first = max(first, bisect_right(self._events, query.cursor, key=_key_of))
        end = bisect_right(self._events, query.until, key=_instant_of)
        last = min(first + query.limit, end)
        encoded = (ENCODER.encode(self._describe(event, query)) for event in self._events[first:last])
        return EncodedPage(encoded, write_cursor(self._events[last - 1].key) if last < end else None)

    def _describe(self, event: Event, query: EventQuery) -> dict[str, Any]:
        """Return the members of the event."""
        at, item = event.at, event.item
        if isinstance(item, StoredTransaction):
            id, type, members = self._describe_transaction(item, event.position, query)
        elif isinstance(item, StoredTransfer):
            id, type, members = self._describe_transfer(item, event.position, query)
        else:
            id, type, members = self._describe_contribution(item, event)
        pending = {"pending": True} if at > query.frozen_time else {}
        return {"id": f"evt_{id}", "at": at, "type": type, **pending, **members}

    def _describe_transaction(self, item: StoredTransaction, position: int, query: EventQuery) -> _Description:
        encoded = transaction_json(self._schedule.transaction_id(item.number), item)
        members = {"transaction": encoded, "balance": self._balance(item.currency, position, query)}
        if item.account is not None:
            members["accountBalance"] = self._balance(item.account, position, query)
        return encoded.id, "transaction.posted", members

    def _describe_transfer(self, item: StoredTransfer, position: int, query: EventQuery) -> _Description:
        encoded = transfer_json(self._schedule.transfer_id(item.number), item)
        balances = [self._balance(account, position, query) for account in (item.from_, item.to)]
        members = {"transfer": encoded, "fromBalance": balances[0], "toBalance": balances[1]}
        return encoded.id, "transfer.posted", members

    def _describe_contribution(self, item: StoredContribution, event: Event) -> _Description:
        schedule, goal = self._schedule, event.owner - 1
        id = schedule.goal_id(goal)
        if event.step == _REACHED:
            return id, "goal.reached", {"goalId": id}
        [encoded] = contributions_json(schedule.contribution_prefix(goal), [item])
        current = schedule.goals[goal].savings.progress(event.position + 1).current_amount
        return encoded.id, "contribution.posted", {"goalId": id, "contribution": encoded, "currentAmount": current}

    def _balance(self, name: str, position: int, query: EventQuery) -> Amount:
        """Return the balance of a currency or an account after the item at this position."""
        book, opening = self._ledger.book(name), query.opening.get(name, _ZERO)
        balance = book.running_balances[position] * opening.denominator + opening.numerator * book.unit
        return to_number(balance, opening.denominator * book.unit)
