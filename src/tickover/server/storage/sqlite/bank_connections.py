"""Connections of clocks in SQLite. Each function that writes is a job of the writer."""

from typing import Any, Final

import apsw

from tickover.api.timestamps import to_micros
from tickover.server.storage.sqlite import statements
from tickover.server.storage.sqlite.rows import owner_values
from tickover.server.storage.sqlite.statements import OWNER
from tickover.server.storage.store import Created, Owner, StoredConnection, TooManyConnections

_COLUMNS: Final = "connections.key, protocol, institution, connections.created_at, faults, access_digest is not null"
# A clock without connections has one row without values.
LIST: Final = f"""
    select {_COLUMNS} from clocks left join connections on clock_key = clocks.key
    where clocks.key = ?3 and owner = {OWNER}"""
FIND: Final = f"""
    select {_COLUMNS}, login_required, owner, clocks.key, start_time, frozen_time, max_time, name, labels, revision,
      case when revision is not ?4 then (select body from schedules where schedules.clock_key = clocks.key) end
    from connections join clocks on clocks.key = connections.clock_key
    where access_digest = ?1 and protocol = ?2 and connections.clock_key >= ?3"""
FIND_INSTITUTION: Final = "select institution from connections where key = ? and clock_key >= ?"
CLAIM: Final = """
    update connections set setup_digest = null, access_digest = ?2
    where setup_digest = ?1 and protocol = ?3 and clock_key >= ?4 returning key"""
REQUIRE_LOGIN: Final = """
    update connections set login_required = 1
    where access_digest = ? and protocol = ? and clock_key >= ? returning 1"""
END: Final = "delete from connections where access_digest = ? and protocol = ? and clock_key >= ? returning 1"
_COUNT: Final = "select count(*) from connections where clock_key = ?"
_INSERT: Final = """
    insert into connections (key, clock_key, protocol, institution, created_at, faults, setup_digest)
    values (?, ?, ?, ?, ?, ?, ?)"""
_DELETE: Final = "delete from connections where key = ? and clock_key = ? returning 1"


def create(
    db: apsw.Connection, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
) -> Created | TooManyConnections | None:
    if db.execute(statements.FIND_CLOCK, (*owner_values(owner), clock_key)).fetchone() is None:
        return None
    counted: Any = db.execute(_COUNT, (clock_key,)).fetchone()
    if counted[0] >= limit:
        return TooManyConnections()
    values = new.protocol, new.institution, to_micros(new.created_at), new.faults
    db.execute(_INSERT, (new.key, clock_key, *values, setup_digest))
    return Created()


def delete(db: apsw.Connection, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
    if db.execute(statements.FIND_CLOCK, (*owner_values(owner), clock_key)).fetchone() is None:
        return None
    return bool(db.execute(_DELETE, (key, clock_key)).fetchall())


def sweep(db: apsw.Connection, min_live_key: bytes, limit: int) -> None:
    db.execute(
        "delete from connections"
        " where key in (select key from connections where clock_key < ? order by clock_key limit ?)",
        (min_live_key, limit),
    )
