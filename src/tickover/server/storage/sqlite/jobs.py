"""Jobs of the SQLite writer, and what they share. `logins.py` has those for signing in."""

from typing import Any

import apsw

from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.storage.rows import connections_of, existing_clock, owner_values, stored_clock
from tickover.server.storage.sqlite import logins, statements
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    Owner,
    StoredAccessToken,
    StoredClock,
    StoredConnection,
    TooManyConnections,
    TooManyTokens,
)


def find_owner(db: apsw.Connection, owner: Owner) -> bytes | None:
    """Return the user's key, or None if the token was revoked."""
    user: bytes | None = db.execute(statements.FIND_OWNER, owner_values(owner)).get
    return user


def find_creation(db: apsw.Connection, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
    found: Any = db.execute(statements.FIND_CREATION, (*owner_values(owner), digest, min_live_key)).fetchone()
    return None if found is None else existing_clock(*found)


def find_clock(db: apsw.Connection, key: bytes, owner: Owner, known_revision: int | None = None) -> StoredClock | None:
    found: Any = db.execute(statements.FIND_CLOCK, (*owner_values(owner), key, known_revision)).fetchone()
    return None if found is None else stored_clock(key, *found)


def delete_clock(db: apsw.Connection, key: bytes, owner: Owner) -> bool:
    db.execute(statements.DELETE_CLOCK, (*owner_values(owner), key))
    if not db.changes():
        return False
    db.execute("delete from schedules where clock_key = ?", (key,))
    db.execute("delete from creations where clock_key = ?", (key,))
    db.execute("delete from connections where clock_key = ?", (key,))
    return True


def create_access_token(
    db: apsw.Connection, new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
) -> Created | TooManyTokens | None:
    """Return None if the owner's token was revoked."""
    user = find_owner(db, owner)
    if user is None:
        return None
    created_at, expires_at = to_micros(new.created_at), to_micros(new.expires_at)
    count, first_expires_at = db.execute(statements.COUNT_ACCESS_TOKENS, (user, created_at)).get
    if count >= limit:
        return TooManyTokens(from_micros(first_expires_at))
    values = digest, user, expires_at, new.key, new.name, new.read_only, created_at
    db.execute(statements.INSERT_ACCESS_TOKEN, values)
    return Created()


def create_connection(
    db: apsw.Connection, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
) -> Created | TooManyConnections | None:
    found = _list_connections(db, clock_key, owner)
    if found is None:
        return None
    if len(found) >= limit:
        return TooManyConnections()
    values = new.protocol, new.institution, to_micros(new.created_at), new.faults
    db.execute(statements.INSERT_CONNECTION, (new.key, clock_key, *values, setup_digest))
    return Created()


def delete_connection(db: apsw.Connection, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
    if _list_connections(db, clock_key, owner) is None:
        return None
    db.execute("delete from connections where key = ? and clock_key = ?", (key, clock_key))
    return bool(db.changes())


def _list_connections(db: apsw.Connection, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
    return connections_of(db.execute(statements.LIST_CONNECTIONS, (*owner_values(owner), clock_key)).fetchall())


def sweep(db: apsw.Connection, now: Instant, limit: int) -> int:
    """Delete up to `limit` expired rows of each kind. Return the number of changes."""
    before, min_live_key = db.total_changes(), first_live_key(now)
    dead = db.execute("select key from clocks where key < ? order by key limit ?", (min_live_key, limit)).fetchall()
    db.executemany("delete from schedules where clock_key = ?", dead)
    db.executemany("delete from clocks where key = ?", dead)
    db.execute(statements.SWEEP_CREATIONS, (min_live_key, limit))
    db.execute(statements.SWEEP_CONNECTIONS, (min_live_key, limit))
    db.execute(statements.SWEEP_TOKENS, (to_micros(now), limit))
    logins.sweep(db, now, limit)
    return db.total_changes() - before
