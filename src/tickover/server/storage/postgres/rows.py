"""Values of statements, and the results of their rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from asyncpg.pgproto.pgproto import UUID
from msgspec import UnsetType

from tickover.api.ids import creation_day
from tickover.api.timestamps import Instant, to_micros
from tickover.server.schedule.clocks import Clock
from tickover.server.storage.postgres import statements
from tickover.server.storage.rows import AMENDMENT_BYTES, MAX_AMENDMENT_BYTES, stored_clock
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    ExistingClock,
    NameChanges,
    NewSession,
    Owner,
    Quota,
    QuotaExceeded,
    StoredClock,
)


class TokenLookup(NamedTuple):
    digest: bytes
    now: Instant


class ClockInsert(NamedTuple):
    clock: Clock
    owner: Owner
    schedule: bytes
    min_live_key: bytes
    quota: Quota


class Advance(NamedTuple):
    key: bytes
    owner: Owner
    to: Instant
    known_revision: int | None = None


def clock_insert_values(new_clocks: Sequence[ClockInsert]) -> Sequence[object]:
    clocks = [new.clock for new in new_clocks]
    return (
        *owner_lists(new_clocks),
        slot_of(clocks[0].key),
        [UUID(clock.key) for clock in clocks],
        [to_micros(clock.start_time) for clock in clocks],
        [to_micros(clock.frozen_time) for clock in clocks],
        [to_micros(clock.max_time) for clock in clocks],
        [new.schedule for new in new_clocks],
        [clock.name for clock in clocks],
        [clock.labels for clock in clocks],
        [UUID(new.min_live_key) for new in new_clocks],
        new_clocks[0].quota.clocks,
        new_clocks[0].quota.bytes,
    )


def amendment_values(
    key: bytes, owner: Owner, amendment: Amendment, min_live_key: bytes, quota: Quota
) -> Sequence[object]:
    record = amendment.record
    return (
        *owner_values(owner),
        slot_of(key),
        UUID(key),
        amendment.revision,
        to_micros(amendment.valid_until),
        amendment.schedule,
        *name_values(amendment.names),
        record and record.key_digest,
        record and record.params_digest,
        UUID(min_live_key),
        quota.bytes,
        AMENDMENT_BYTES,
        MAX_AMENDMENT_BYTES,
    )


def name_values(changes: NameChanges) -> Sequence[object]:
    """Return whether there is a new name, the name, and the same for labels."""
    name, labels = [
        (False, None) if isinstance(change, UnsetType) else (True, change) for change in (changes.name, changes.labels)
    ]
    return *name, *labels


def amend_outcome(
    outcome: str | None, oldest: UUID | None, *existing: Any
) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
    match outcome:
        case "amended":
            return Amended(existing_clock(*existing).stored.clock)
        case "conflict":
            return Conflict(existing_clock(*existing).stored)
        case "existing":
            return existing_clock(*existing)
        case "quota":
            assert oldest is not None
            return QuotaExceeded("bytes", oldest.bytes)
    return None


def update_outcome(
    key: bytes, outcome: str | None, oldest: UUID | None, *columns: Any
) -> StoredClock | QuotaExceeded | None:
    if outcome is None:
        return None
    if oldest is not None:
        return QuotaExceeded("bytes", oldest.bytes)
    stored = stored_clock(key, *columns)
    return StoredClock(stored.clock, stored.schedule or b"")


def existing_clock(params: bytes, key: UUID, *columns: Any) -> ExistingClock:
    return ExistingClock(params, stored_clock(key.bytes, *columns))


def owner_values(owner: Owner) -> tuple[UUID | None, bytes | None]:
    """Return the user's key or the token's digest, as the statements expect them."""
    return (UUID(owner), None) if isinstance(owner, bytes) else (None, owner.digest)


def owner_lists(
    calls: Sequence[ClockInsert] | Sequence[Advance],
) -> tuple[list[UUID | None], list[bytes | None]]:
    values = [owner_values(call.owner) for call in calls]
    return [user for user, _ in values], [digest for _, digest in values]


def session_values(session: NewSession) -> Sequence[object]:
    instants = to_micros(session.created_at), to_micros(session.expires_at)
    return UUID(session.user_key), session.token_digest, *instants


def slot_of(key: bytes) -> int:
    """Return the partition of a clock's key."""
    return creation_day(key) % statements.SLOTS
