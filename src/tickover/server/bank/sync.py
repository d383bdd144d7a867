"""Pages of what has changed in a bank since a client was there, and the cursors that say when that was.

A cursor has no list of rows. All rows that a bank has shown follow from its state.
"""

import hmac
import struct
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec import Struct

from tickover.api.connections import ALL_QUIRKS
from tickover.api.timestamps import from_micros, to_micros
from tickover.server.schedule.bank_changes import Shown, find_changes
from tickover.server.schedule.bank_rows import State
from tickover.server.schedule.bank_view import Changes

_STATE: Final = struct.Struct(">qIIIH")
_OFFSET: Final = struct.Struct(">I")
_SIGNATURE_BYTES: Final = 16

Sign = Callable[[bytes], bytes]
"""Returns a digest that only this server can compute."""

START: Final = State(datetime.min.replace(tzinfo=UTC))
"""Before everything."""


class Cursor(NamedTuple):
    """The place of a client in the changes from `seen` to `target`. Both are the same after the last page."""

    seen: State
    target: State
    offset: int = 0


class RemovedRow(Struct, frozen=True):
    account_id: str
    transaction_id: str


class Page(NamedTuple):
    """A part of the changes."""

    added: Sequence[int]
    """Positions of rows."""
    modified: Sequence[int]
    removed: list[RemovedRow]
    next: Cursor
    has_more: bool


def read_page(before: Shown, now: Shown, cursor: Cursor, count: int, account: str | None = None) -> Page | None:
    """Return the next changes for a client with this cursor, of one account or of all. It has what was shown `before`.

    The pages of a cursor add up to all changes. Return None if what is shown has changed since the first page, so that
    the client has to begin again.
    """
    if cursor.offset and _has_changed(cursor.target, now, account):
        return None
    added, modified, removed = _changes(before, now, account)
    first_modified, first_removed = len(added), len(added) + len(modified)
    start, end = cursor.offset, cursor.offset + count
    has_more = end < first_removed + len(removed)
    return Page(
        added[start:end],
        modified[max(start - first_modified, 0) : max(end - first_modified, 0)],
        [
            RemovedRow(row.account.id, row.id)
            for row in removed[max(start - first_removed, 0) : max(end - first_removed, 0)]
        ],
        Cursor(cursor.seen, now.state, end) if has_more else Cursor(now.state, now.state),
        has_more,
    )


def _has_changed(target: State, now: Shown, account: str | None) -> bool:
    # Other quirks have other rows, even if these tell the same.
    return target.quirks != now.state.quirks or any(_changes(Shown(now.view, target), now, account))


def _changes(before: Shown, now: Shown, account: str | None) -> Changes:
    changes = find_changes(before, now)
    if account is None:
        return changes
    rows = now.view.rows
    added, modified = (
        [position for position in positions if rows[position].account.key == account]
        for positions in (changes.added, changes.modified)
    )
    return Changes(added, modified, [row for row in changes.removed if row.account.key == account])


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
    bits = sum(1 << index for index, quirk in enumerate(ALL_QUIRKS) if quirk in state.quirks)
    return _STATE.pack(to_micros(state.at), *state[1:-1], bits)


def _read_state(payload: bytes) -> State:
    micros, transactions, transfers, cancellations, bits = _STATE.unpack_from(payload)
    quirks = frozenset(quirk for index, quirk in enumerate(ALL_QUIRKS) if bits >> index & 1)
    return State(from_micros(micros), transactions, transfers, cancellations, quirks)
