"""Rows of clocks. Both databases have the same columns."""

from collections.abc import Sequence
from typing import Any

from msgspec import UnsetType
from msgspec.structs import replace

from tickover.api.timestamps import from_micros
from tickover.server.domain.clocks import Clock
from tickover.server.storage.store import ClockScan, NameChanges, StoredClock


def stored_clock(key: bytes, *columns: Any) -> StoredClock:
    """Return the clock of the columns start_time, frozen_time, max_time, name, labels, revision, and perhaps body."""
    start_time, frozen_time, max_time, name, labels, revision, *schedule = columns
    instants = from_micros(start_time), from_micros(frozen_time), from_micros(max_time)
    return StoredClock(Clock(key, *instants, name, labels, revision), schedule[0] if schedule else b"")


def scan_of(rows: Sequence[Sequence[Any]]) -> ClockScan:
    """Return the result of a search. Its rows start with a key, and a row without other values ends an early scan."""
    clocks = [stored_clock(*row).clock for row in rows if row[1] is not None]
    return ClockScan(clocks, next((row[0] for row in rows if row[1] is None), None))


def rename(clock: Clock, changes: NameChanges) -> Clock:
    name = clock.name if isinstance(changes.name, UnsetType) else changes.name
    labels = clock.labels if isinstance(changes.labels, UnsetType) else changes.labels
    return replace(clock, name=name, labels=labels)


def stored_bytes(clock: Clock, schedule: bytes = b"") -> int:
    """Return the bytes of a clock that count for its owner's limit."""
    return len(schedule) + len((clock.name or "").encode()) + len((clock.labels or "").encode())
