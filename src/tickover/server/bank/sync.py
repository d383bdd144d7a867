"""What has changed in a bank's rows since a client was there, and the cursors that say when that was.

A cursor has no list of rows. What has happened to a clock never changes, and the numbers of items are never used again.
So the instant of the clock, and the numbers that its schedule had given out, tell which rows the client has.
"""

import hmac
import struct
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec import Struct

from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.bank_view import BankView, Row

_STATE: Final = struct.Struct(">qIII")
_OFFSET: Final = struct.Struct(">I")
_SIGNATURE_BYTES: Final = 16

Sign = Callable[[bytes], bytes]
"""Returns a digest that only this server can compute."""


class State(NamedTuple):
    """When a client was there. All rows that were shown then follow from it."""

    at: Instant
    transactions: int = 0
    """The numbers that the schedule had given to transactions."""
    transfers: int = 0
    withdrawn: int = 0
    """The number of payments that had been withdrawn."""

    def had(self, row: Row) -> bool:
        return row.is_shown(self.at) and row.number < (self.transfers if row.transfer_id else self.transactions)


START: Final = State(datetime.min.replace(tzinfo=UTC))
"""Before everything."""


class Cursor(NamedTuple):
    """The place of a client in the changes from `seen` to `target`. Both are the same after the last page."""

    seen: State
    target: State
    offset: int = 0


def state_of(view: BankView, at: Instant) -> State:
    schedule = view.schedule
    return State(at, schedule.transactions.next_number, schedule.transfers.next_number, len(schedule.withdrawn))


class RemovedRow(Struct, frozen=True):
    """A row that the bank no longer shows: its payment was booked under another ID, or cancelled."""

    account_id: str
    transaction_id: str


def changes(
    view: BankView, seen: State, at: Instant, account_id: str | None = None
) -> tuple[Sequence[int], list[RemovedRow]]:
    """Return what a client that was there at `seen` doesn't know at `at`, of one account or of all.

    Returns the positions of added rows, and the removed rows. Rows never change otherwise.
    """
    rows = view.rows
    # The client has all rows that begin before `seen.at`, because new items are never in the past.
    known = [position for position in view.between(seen.at, seen.at) if seen.had(rows[position])]
    ended = view.ended(at)
    added: Sequence[int] = view.between(seen.at, at)
    # Most often none is hidden, and the range saves walking all rows for each page.
    if hidden := {*known, *ended}:
        added = [position for position in added if position not in hidden]
    gone = [rows[position] for position in ended if seen.had(rows[position])]
    removed = [RemovedRow(row.account.id, row.id) for row in gone]
    removed += [
        RemovedRow(account.id, id)
        for payment, account, id in view.withdrawn(seen.withdrawn)
        if payment.authorized_at <= seen.at and payment.number < seen.transactions
    ]
    if account_id is not None:
        added = [position for position in added if rows[position].account.id == account_id]
        removed = [row for row in removed if row.account_id == account_id]
    return added, removed


class Page(NamedTuple):
    """A part of the changes."""

    added: Sequence[int]
    """Positions of rows."""
    removed: list[RemovedRow]
    next: Cursor
    has_more: bool


def read_page(view: BankView, now: State, cursor: Cursor, count: int, account_id: str | None = None) -> Page | None:
    """Return the next changes for a client with this cursor. The pages of a cursor add up to all changes.

    Return None if what is shown has changed since the first page, so that the client has to begin again.
    """
    if cursor.offset and any(changes(view, cursor.target, now.at, account_id)):
        return None
    added, removed = changes(view, cursor.seen, now.at, account_id)
    end = cursor.offset + count
    has_more = end < len(added) + len(removed)
    return Page(
        added[cursor.offset : end],
        removed[max(cursor.offset - len(added), 0) : max(end - len(added), 0)],
        Cursor(cursor.seen, now, end) if has_more else Cursor(now, now),
        has_more,
    )


def write_cursor(cursor: Cursor, sign: Sign) -> str:
    payload = _write_state(cursor.seen)
    if cursor.target != cursor.seen:
        payload += _write_state(cursor.target) + _OFFSET.pack(cursor.offset)
    return urlsafe_b64encode(payload + sign(payload)[:_SIGNATURE_BYTES]).rstrip(b"=").decode()


def read_cursor(text: str, sign: Sign) -> Cursor | None:
    """Return the cursor, or None if it isn't one of these."""
    if not text:
        return Cursor(START, START)
    try:
        decoded = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    payload, signature = decoded[:-_SIGNATURE_BYTES], decoded[-_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, sign(payload)[:_SIGNATURE_BYTES]):
        return None
    seen = _read_state(payload)
    if len(payload) == _STATE.size:
        return Cursor(seen, seen)
    [offset] = _OFFSET.unpack(payload[2 * _STATE.size :])
    return Cursor(seen, _read_state(payload[_STATE.size :]), offset)


def _write_state(state: State) -> bytes:
    return _STATE.pack(to_micros(state.at), *state[1:])


def _read_state(payload: bytes) -> State:
    micros, *numbers = _STATE.unpack_from(payload)
    return State(from_micros(micros), *numbers)
