"""Reads and sweeps rows of clocks, inside a transaction."""

from typing import Any

import apsw

from tickover.server.storage.rows import stored_clock
from tickover.server.storage.sqlite import statements
from tickover.server.storage.store import ExistingClock, Owner


def owner_values(owner: Owner) -> tuple[bytes | None, bytes | None]:
    """Return the user's key or the token's digest, as the statements expect them."""
    return (owner, None) if isinstance(owner, bytes) else (None, owner.digest)


def find_owner(db: apsw.Connection, owner: Owner) -> bytes | None:
    """Return the user's key, or None if the token was revoked."""
    row: Any = db.execute(statements.FIND_OWNER, owner_values(owner)).fetchone()
    user: bytes | None = row[0]
    return user


def existing_clock(params: bytes, *columns: Any) -> ExistingClock:
    return ExistingClock(params, stored_clock(*columns))


def find_creation(db: apsw.Connection, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
    found: Any = db.execute(statements.FIND_CREATION, (*owner_values(owner), digest, min_live_key)).fetchone()
    return None if found is None else existing_clock(*found)


def read_schedule(db: apsw.Connection, key: bytes, revision: int = 0, known_revision: int | None = None) -> bytes:
    """Return the clock's schedule, or nothing if its revision is known."""
    if revision == known_revision:
        return b""
    row: Any = db.execute(statements.FIND_SCHEDULE, (key,)).fetchone()
    schedule: bytes = row[0]
    return schedule


def sweep_clocks(db: apsw.Connection, min_live_key: bytes, limit: int) -> None:
    """Delete expired clocks and idempotency records."""
    dead = db.execute("select key from clocks where key < ? order by key limit ?", (min_live_key, limit)).fetchall()
    db.executemany("delete from schedules where clock_key = ?", dead)
    db.executemany("delete from clocks where key = ?", dead)
    db.execute(
        "delete from creations"
        " where digest in (select digest from creations where clock_key < ? order by clock_key limit ?)",
        (min_live_key, limit),
    )
