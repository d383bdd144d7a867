"""The SQLite store: a single writer, and reads on the event loop's thread.

A read looks up a few rows by key, mostly in cached pages. To pass it to another thread would take longer.
"""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
from msgspec import json

from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import Claimed, Limits, Send, TooSoon, Try
from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations, pending
from tickover.server.storage.rows import rename, scan_of, stored_bytes, stored_clock
from tickover.server.storage.sqlite import logins, statements
from tickover.server.storage.sqlite.quota import ClockQuota, OverQuota
from tickover.server.storage.sqlite.writer import Writer, immediate, to_rejection
from tickover.server.storage.store import (
    ClockScan,
    Created,
    ExistingClock,
    IdempotencyRecord,
    LabelSearch,
    NameChanges,
    NewSession,
    Quota,
    QuotaExceeded,
    Session,
    StoredClock,
)
from tickover.server.storage.write_probe import WriteProbe

_LOCK_WAIT_SECONDS = 5.0
_READ_WAIT_MILLISECONDS = 50
_CACHE_KIBIBYTES = 8_000
"""The page cache of each connection. SQLite's default of 2,000 doesn't hold the rows of a thousand clocks."""

_NO_QUOTA = Quota()
_CREATED = Created()


class SqliteStore:
    """Implements `storage.store.Store`."""

    def __init__(self, path: Path) -> None:
        self._writing = _connect(path)
        _migrate(self._writing)
        self._reading = _connect(path)
        # Reads run on the event loop's thread, so they must not wait for long.
        self._reading.set_busy_timeout(_READ_WAIT_MILLISECONDS)
        self._writer = Writer(self._writing, _LOCK_WAIT_SECONDS)
        self._probe = WriteProbe(lambda: self._writer.submit(_statement(statements.PROBE)))
        self._quota = ClockQuota()
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open or create the file, and bring its schema up to date. Raise SettingError if the file is unusable."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(path)
        except (apsw.Error, OSError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or error
            needs_folder = isinstance(error, OSError | apsw.CantOpenError | apsw.ReadOnlyError)
            advice = " Set TICKOVER_DATA_DIR or TICKOVER_DATABASE_URL to a folder that you can write to."
            raise SettingError(f"Cannot open the database {path}: {reason}.{advice if needs_folder else ''}") from None

    async def close(self) -> None:
        await self._writer.close()
        await self._probe.close()
        self._reading.close()
        self._writing.close()

    async def ping(self) -> None:
        await self._probe.check()

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        """Return True: all servers of one SQLite file share a data directory, and the key is in it."""
        return True

    async def user_of_token(self, token_digest: bytes, now: Instant) -> bytes | None:
        found = self._fetch_one(
            "select user_key from tokens where digest = ? and expires_at > ?", token_digest, to_micros(now)
        )
        return found[0] if found else None

    async def find_session(self, token_digest: bytes, now: Instant) -> Session | None:
        found = self._fetch_one(statements.FIND_SESSION, token_digest, to_micros(now))
        return Session(found[0], found[1], from_micros(found[2])) if found else None

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        over = await self._writer.submit(lambda db: self._create(db, clock, owner, schedule, min_live_key, quota))
        return self._created(owner, stored_bytes(clock, schedule), over)

    async def create_clock_once(
        self, record: IdempotencyRecord, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> ExistingClock | Created | QuotaExceeded:
        def job(db: apsw.Connection) -> ExistingClock | OverQuota | None:
            found: Any = db.execute(statements.FIND_CREATION, (record.digest, owner, min_live_key)).fetchone()
            if found is not None:
                return _existing_clock(*found)
            over = self._create(db, clock, owner, schedule, min_live_key, quota)
            if over is None:
                values = (record.digest, record.params, clock.key)
                db.execute("insert or replace into creations values (?, ?, ?)", values)
            return over

        result = await self._writer.submit(job)
        if isinstance(result, ExistingClock):
            return result
        return self._created(owner, stored_bytes(clock, schedule), result)

    def _create(
        self, db: apsw.Connection, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> OverQuota | None:
        size = stored_bytes(clock, schedule)
        if quota == _NO_QUOTA:
            self._quota.on_created_without_quota(owner)
        elif (over := self._quota.reserve(db, owner, clock.key, size, min_live_key, quota)) is not None:
            return over
        instants = (to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time))
        db.execute(statements.INSERT_CLOCK, (clock.key, owner, *instants, size, clock.name, clock.labels))
        db.execute("insert into schedules values (?, ?)", (clock.key, schedule))
        return None

    def _created(self, owner: bytes, size: int, over: OverQuota | None) -> Created | QuotaExceeded:
        """Update the cached usage after the commit, and return the result."""
        if over is None:
            self._quota.on_created(owner, size)
            return _CREATED
        self._quota.on_rejected(owner, over)
        return over.result

    async def find_creation(self, digest: bytes, owner: bytes, min_live_key: bytes) -> ExistingClock | None:
        found = self._fetch_one(statements.FIND_CREATION, digest, owner, min_live_key)
        return _existing_clock(*found) if found else None

    async def find_clock(self, key: bytes, owner: bytes, *, with_schedule: bool = True) -> StoredClock | None:
        columns = self._fetch_one(statements.FIND_CLOCK, key, owner)
        if columns is None:
            return None
        return stored_clock(key, *columns, self._fetch_one(statements.FIND_SCHEDULE, key)[0] if with_schedule else b"")

    async def list_clocks(self, owner: bytes, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        rows = self._fetch_all(statements.LIST_CLOCKS, owner, min_live_key, before or _MAX_KEY, limit)
        return [stored_clock(*row).clock for row in rows]

    async def search_clocks(
        self, owner: bytes, min_live_key: bytes, before: bytes | None, limit: int, search: LabelSearch
    ) -> ClockScan:
        scan = (owner, min_live_key, before or _MAX_KEY, search.max_scanned)
        members = json.encode(search.members).decode()
        rows = self._fetch_all(statements.SEARCH_CLOCKS, *scan, members, limit, search.max_scanned)
        return scan_of(rows)

    async def update_clock(
        self, key: bytes, owner: bytes, changes: NameChanges, *, with_schedule: bool = True
    ) -> StoredClock | None:
        def job(db: apsw.Connection) -> tuple[StoredClock, int] | None:
            columns: Any = db.execute(statements.FIND_CLOCK, (key, owner)).fetchone()
            if columns is None:
                return None
            old = stored_clock(key, *columns).clock
            new = rename(old, changes)
            growth = stored_bytes(new) - stored_bytes(old)
            db.execute(statements.UPDATE_NAMES, (new.name, new.labels, growth, key))
            self._quota.on_growth(owner, growth)
            schedule = _fetch_value(db.execute(statements.FIND_SCHEDULE, (key,))) if with_schedule else b""
            return StoredClock(new, schedule), growth

        updated = await self._writer.submit(job)
        if updated is None:
            return None
        stored, growth = updated
        if growth < 0:
            self._quota.on_deleted(owner)
        return stored

    async def delete_clock(self, key: bytes, owner: bytes) -> bool:
        def job(db: apsw.Connection) -> bool:
            if db.execute(statements.FIND_CLOCK, (key, owner)).fetchone() is None:
                return False
            db.execute("delete from clocks where key = ?", (key,))
            db.execute("delete from schedules where clock_key = ?", (key,))
            db.execute("delete from creations where clock_key = ?", (key,))
            return True

        deleted = await self._writer.submit(job)
        if deleted:
            self._quota.on_deleted(owner)
        return deleted

    async def advance_clock(
        self, key: bytes, owner: bytes, to: Instant, *, with_schedule: bool = True
    ) -> StoredClock | None:
        micros = to_micros(to)

        def job(db: apsw.Connection) -> Any:
            # Three plain statements take a quarter of the time of one with `returning`.
            columns: Any = db.execute(statements.FIND_CLOCK, (key, owner)).fetchone()
            if columns is None:
                return None
            start_time, frozen_time, max_time, name, labels = columns
            if frozen_time <= micros <= max_time:
                db.execute("update clocks set frozen_time = ? where key = ?", (micros, key))
                frozen_time = micros
            schedule = _fetch_value(db.execute(statements.FIND_SCHEDULE, (key,))) if with_schedule else b""
            return start_time, frozen_time, max_time, name, labels, schedule

        columns = await self._writer.submit(job)
        if columns is None:
            return None
        return stored_clock(key, *columns)

    async def claim_send(self, send: Send, limits: Limits) -> Claimed | TooSoon:
        return await self._writer.submit(lambda db: logins.claim_send(db, send, limits))

    async def undo_send(self, send: Send) -> None:
        await self._writer.submit(_statement("delete from login_sends where digest = ?", send.digest))

    async def free_slot(self, send: Send) -> None:
        await self._writer.submit(_statement("update login_sends set holds_slot = 0 where digest = ?", send.digest))

    async def count_try(self, email: str, limits: Limits, now: Instant) -> Try | None:
        row = await self._writer.submit(lambda db: logins.count_try(db, email, limits, now))
        return Try(row[0], from_micros(row[1])) if row else None

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        return await self._writer.submit(lambda db: logins.redeem_code(db, email, code_digest, session))

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        return await self._writer.submit(lambda db: logins.redeem_link(db, link_digest, session))

    async def revoke_token(self, token_digest: bytes) -> None:
        await self._writer.submit(_statement("delete from tokens where digest = ?", token_digest))

    async def sweep(self, now: Instant, limit: int) -> int:
        def job(db: apsw.Connection) -> int:
            before = db.total_changes()
            dead = db.execute("select key from clocks where key < ? limit ?", (first_live_key(now), limit)).fetchall()
            db.executemany("delete from schedules where clock_key = ?", dead)
            db.executemany("delete from clocks where key = ?", dead)
            db.execute(
                """delete from creations
                   where digest in (select digest from creations where clock_key < ? limit ?)""",
                (first_live_key(now), limit),
            )
            db.execute(
                "delete from tokens where digest in (select digest from tokens where expires_at <= ? limit ?)",
                (to_micros(now), limit),
            )
            logins.sweep(db, now, limit)
            return db.total_changes() - before

        return await self._writer.submit(job, is_long=True)

    def _fetch_one(self, statement: str, *bindings: object) -> Any:
        """Return the first row, or None."""
        found = self._fetch_all(statement, *bindings)
        return found[0] if found else None

    def _fetch_all(self, statement: str, *bindings: object) -> list[Any]:
        """Read in a transaction that all reads of one event loop iteration share. It saves locks."""
        try:
            if not self._reading.in_transaction:
                self._reading.execute("begin")
                # The next iteration must see later commits.
                self._loop.call_soon(self._end_read)
            return self._reading.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise to_rejection(error) from error

    def _end_read(self) -> None:
        with suppress(apsw.Error):
            self._reading.execute("rollback")


_MAX_KEY = b"\xff" * 16


def _existing_clock(params: bytes, *columns: Any) -> ExistingClock:
    return ExistingClock(params, stored_clock(*columns))


def _fetch_value(cursor: apsw.Cursor) -> bytes:
    """Return the only column of the only row."""
    row: Any = cursor.fetchone()
    value: bytes = row[0]
    return value


def _statement(statement: str, *bindings: object) -> Any:
    def job(db: apsw.Connection) -> None:
        db.execute(statement, bindings)

    return job


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(int(_LOCK_WAIT_SECONDS * 1000))
    _enter_wal_mode(connection)
    # Keep query plans independent of bound values, so that statements are not planned again.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(f"pragma cache_size = -{_CACHE_KIBIBYTES}")
    # FULL: a committed write survives a power failure. On macOS, only fullfsync reaches the disk itself.
    connection.execute("pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
    return connection


def _enter_wal_mode(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging. Retry here, because SQLite doesn't wait if another process does the same."""
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: apsw.Connection) -> None:
    """Apply pending migrations, one transaction each. Another process may do the same at the same time."""
    known = migrations("sqlite")
    while True:
        with immediate(connection):
            version = connection.pragma("user_version")
            missing = pending(known, version)
            if not missing:
                return
            connection.execute(missing[0].sql)
            connection.pragma("user_version", missing[0].number)
