"""The SQLite store: a single writer, and reads on the event loop's thread.

A read looks up a few rows by key, mostly in cached pages. To pass it to another thread would take longer.
"""

import os
from pathlib import Path
from typing import Any

import apsw
from msgspec.structs import replace

from tickover.api.errors import unauthenticated
from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.schedule.clocks import Clock
from tickover.server.settings import SettingError
from tickover.server.sign_in.logins import Claimed, CountedAttempt, Limits, LoginEmail, TooSoon
from tickover.server.storage.base_store import BaseStore
from tickover.server.storage.rows import (
    AMENDMENT_BYTES,
    connections_of,
    existing_clock,
    owner_values,
    rename,
    stored_bytes,
    stored_clock,
    token_of,
)
from tickover.server.storage.sqlite import logins, statements
from tickover.server.storage.sqlite.connection import LOCK_WAIT_SECONDS, Reader, connect, migrate
from tickover.server.storage.sqlite.quota import ClockQuota, Usage
from tickover.server.storage.sqlite.writer import Writer, to_rejection
from tickover.server.storage.store import (
    Amended,
    Amendment,
    Conflict,
    Created,
    DatabaseUnavailable,
    ExistingClock,
    IdempotencyRecord,
    Load,
    NameChanges,
    NewSession,
    Owner,
    Quota,
    QuotaExceeded,
    StoredAccessToken,
    StoredClock,
    StoredConnection,
    Token,
    TooManyConnections,
    TooManyTokens,
    user_of,
)
from tickover.server.storage.write_probe import WriteProbe

_READ_WAIT_MILLISECONDS = 50
MIN_FREE_BYTES = 16 * 2**20
"""Room for the largest calls, and for the write-ahead log until it is copied to the file."""

_MAX_INLINE_SCHEDULE = 256 * 1024
"""A larger one takes so long to write that it must not block the event loop."""


class SqliteStore(BaseStore):
    """Implements `storage.store.Store`."""

    FIND_CREATION = statements.FIND_CREATION
    FIND_CONNECTION = statements.FIND_CONNECTION
    SEARCH_CLOCKS = statements.SEARCH_CLOCKS

    def __init__(self, path: Path) -> None:
        self._writing = connect(path)
        migrate(self._writing)
        self._reading = connect(path)
        # Reads run on the event loop's thread, so they must not wait for long.
        self._reading.set_busy_timeout(_READ_WAIT_MILLISECONDS)
        self._reader = Reader(self._reading)
        self._writer = Writer(self._writing, LOCK_WAIT_SECONDS)
        self._probe = WriteProbe(self._write_probe)
        self._folder = path.parent
        self._quota = ClockQuota(self._writing)

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
            raise SettingError(f"Can't open the database {path}: {reason}.{advice if needs_folder else ''}") from None

    async def close(self) -> None:
        await self._writer.close()
        await self._probe.close()
        self._reading.close()
        self._writing.close()

    def load(self) -> Load:
        return Load(self._writer.waiting_jobs)

    async def _read(self, statement: str, *values: object) -> list[Any]:
        return self._reader.fetch(statements.numbered(statement), *values)

    async def _change(self, statement: str, *values: object, is_repeatable: bool = False) -> list[Any]:
        numbered = statements.numbered(statement)
        return await self._writer.submit(lambda db: db.execute(numbered, values).fetchall())

    async def _write_probe(self) -> None:
        """Change a row. Fail without room for large calls, because this change fits on an almost full disk."""
        try:
            disk = os.statvfs(self._folder)
            free = disk.f_bavail * disk.f_frsize
        except OSError as error:
            raise DatabaseUnavailable("io", error, "The folder of the database is missing.") from None
        if free < MIN_FREE_BYTES:
            raise to_rejection(apsw.FullError(f"less than {MIN_FREE_BYTES // 2**20} MiB are free on the disk"))
        await self._change(statements.PROBE)

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        """Return True: all servers of one SQLite file share a data directory, and the key is in it."""
        return True

    async def find_token(self, digest: bytes, now: Instant) -> Token | None:
        rows = self._reader.fetch(statements.FIND_TOKEN, digest, to_micros(now))
        return token_of(digest, *rows[0]) if rows else None

    async def create_clock(
        self, clock: Clock, owner: Owner, schedule: bytes, quota: Quota, record: IdempotencyRecord | None = None
    ) -> Created | ExistingClock | QuotaExceeded:
        def job(db: apsw.Connection) -> Created | ExistingClock | QuotaExceeded | None:
            if record is not None and (found := _find_creation(db, record.key_digest, owner, quota.min_live_key)):
                return found
            user = _find_owner(db, owner)
            if user is None:
                return None
            size = stored_bytes(clock, schedule)
            if over := self._quota.reserve(user, clock.key, Usage(1, size), quota):
                return over
            instants = (to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time))
            db.execute(statements.INSERT_CLOCK, (clock.key, user, *instants, size, clock.name, clock.labels))
            db.execute("insert into schedules values (?, ?)", (clock.key, schedule))
            if record is not None:
                db.execute(statements.INSERT_CREATION, (record.key_digest, record.params_digest, clock.key))
            return Created()

        outcome = await self._writer.submit(job, is_long=len(schedule) > _MAX_INLINE_SCHEDULE)
        if outcome is None:
            raise unauthenticated()
        return outcome

    async def find_clock(self, key: bytes, owner: Owner, *, known_revision: int | None = None) -> StoredClock | None:
        rows = self._reader.fetch(statements.FIND_CLOCK, *owner_values(owner), key, known_revision)
        return stored_clock(key, *rows[0]) if rows else None

    async def update_clock(
        self, key: bytes, owner: Owner, changes: NameChanges, quota: Quota, *, known_revision: int | None = None
    ) -> StoredClock | QuotaExceeded | None:
        def job(db: apsw.Connection) -> StoredClock | QuotaExceeded | None:
            found = _find_clock(db, key, owner, known_revision)
            if found is None:
                return None
            new = rename(found.clock, changes)
            growth = stored_bytes(new) - stored_bytes(found.clock)
            if over := self._quota.reserve_growth(user_of(owner), key, growth, quota):
                return over
            db.execute(statements.UPDATE_NAMES, (new.name, new.labels, growth, key))
            return StoredClock(new, found.schedule)

        return await self._writer.submit(job)

    async def amend_clock(
        self, key: bytes, owner: Owner, amendment: Amendment, quota: Quota
    ) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
        def job(db: apsw.Connection) -> Amended | Conflict | ExistingClock | QuotaExceeded | None:
            record = amendment.record
            if record is not None and (found := _find_creation(db, record.key_digest, owner, quota.min_live_key)):
                return found
            stored = _find_clock(db, key, owner)
            if stored is None:
                return None
            clock = stored.clock
            if clock.revision != amendment.revision or clock.frozen_time > amendment.valid_until:
                return Conflict(stored)
            amended = replace(rename(clock, amendment.names), revision=clock.revision + 1)
            size = stored_bytes(amended, amendment.schedule)
            old_size: Any = db.execute("select bytes from clocks where key = ?", (key,)).get
            growth = size - old_size
            if over := self._quota.reserve_growth(user_of(owner), key, growth, quota, AMENDMENT_BYTES):
                return over
            db.execute(statements.AMEND_CLOCK, (size, amended.name, amended.labels, key))
            db.execute(statements.AMEND_SCHEDULE, (amendment.schedule, key))
            if record is not None:
                db.execute(statements.INSERT_CREATION, (record.key_digest, record.params_digest, key))
            return Amended(amended)

        return await self._writer.submit(job, is_long=len(amendment.schedule) > _MAX_INLINE_SCHEDULE)

    async def delete_clock(self, key: bytes, owner: Owner) -> bool:
        def job(db: apsw.Connection) -> bool:
            db.execute(statements.DELETE_CLOCK, (*owner_values(owner), key))
            if not db.changes():
                return False
            db.execute("delete from schedules where clock_key = ?", (key,))
            db.execute("delete from creations where clock_key = ?", (key,))
            db.execute("delete from connections where clock_key = ?", (key,))
            self._quota.on_deleted(user_of(owner))
            return True

        return await self._writer.submit(job)

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        def job(db: apsw.Connection) -> StoredClock | None:
            # Two plain statements take less time than one with `returning`.
            found = _find_clock(db, key, owner, known_revision)
            if found is None or not found.clock.frozen_time <= to <= found.clock.max_time:
                return found
            db.execute("update clocks set frozen_time = ? where key = ?", (to_micros(to), key))
            return StoredClock(replace(found.clock, frozen_time=to), found.schedule)

        return await self._writer.submit(job)

    async def claim_send(self, send: LoginEmail, limits: Limits) -> Claimed | TooSoon:
        return await self._writer.submit(lambda db: logins.claim_send(db, send, limits))

    async def undo_send(self, send: LoginEmail) -> None:
        await self._change("delete from login_sends where digest = ?", send.digest)

    async def count_attempt(self, email: str, limits: Limits, now: Instant) -> CountedAttempt | None:
        return await self._writer.submit(lambda db: logins.count_attempt(db, email, limits, now))

    async def redeem_code(self, email: str, code_digest: bytes, session: NewSession) -> bytes | None:
        return await self._writer.submit(lambda db: logins.redeem_code(db, email, code_digest, session))

    async def redeem_link(self, link_digest: bytes, session: NewSession) -> bytes | None:
        return await self._writer.submit(lambda db: logins.redeem_link(db, link_digest, session))

    async def revoke_token(self, digest: bytes, *, allow_resend: bool = False) -> bool:
        return await self._writer.submit(lambda db: logins.revoke_token(db, digest, allow_resend))

    async def create_access_token(
        self, new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
    ) -> Created | TooManyTokens:
        def job(db: apsw.Connection) -> Created | TooManyTokens | None:
            user = _find_owner(db, owner)
            if user is None:
                return None
            created_at, expires_at = to_micros(new.created_at), to_micros(new.expires_at)
            count, first_expires_at = db.execute(statements.COUNT_ACCESS_TOKENS, (user, created_at)).get
            if count >= limit:
                return TooManyTokens(from_micros(first_expires_at))
            values = digest, user, expires_at, new.key, new.name, new.read_only, created_at
            db.execute(statements.INSERT_ACCESS_TOKEN, values)
            return Created()

        outcome = await self._writer.submit(job)
        if outcome is None:
            raise unauthenticated()
        return outcome

    async def create_connection(
        self, new: StoredConnection, setup_digest: bytes, clock_key: bytes, owner: Owner, limit: int
    ) -> Created | TooManyConnections | None:
        def job(db: apsw.Connection) -> Created | TooManyConnections | None:
            existing = _find_connections(db, clock_key, owner)
            if existing is None:
                return None
            if len(existing) >= limit:
                return TooManyConnections()
            values = new.protocol, new.institution, to_micros(new.created_at), new.faults
            db.execute(statements.INSERT_CONNECTION, (new.key, clock_key, *values, setup_digest))
            return Created()

        return await self._writer.submit(job)

    async def list_connections(self, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
        return connections_of(self._reader.fetch(statements.LIST_CONNECTIONS, *owner_values(owner), clock_key))

    async def delete_connection(self, key: bytes, clock_key: bytes, owner: Owner) -> bool | None:
        def job(db: apsw.Connection) -> bool | None:
            if _find_connections(db, clock_key, owner) is None:
                return None
            db.execute("delete from connections where key = ? and clock_key = ?", (key, clock_key))
            return bool(db.changes())

        return await self._writer.submit(job)

    async def sweep(self, now: Instant, limit: int) -> int:
        min_live_key = first_live_key(now)

        def job(db: apsw.Connection) -> int:
            before = db.total_changes()
            dead = db.execute(statements.FIND_DEAD_CLOCKS, (min_live_key, limit)).fetchall()
            db.executemany("delete from schedules where clock_key = ?", dead)
            db.executemany("delete from clocks where key = ?", dead)
            db.execute(statements.SWEEP_CREATIONS, (min_live_key, limit))
            db.execute(statements.SWEEP_CONNECTIONS, (min_live_key, limit))
            db.execute(statements.SWEEP_TOKENS, (to_micros(now), limit))
            logins.sweep(db, now, limit)
            return db.total_changes() - before

        return await self._writer.submit(job, is_long=True)


def _find_owner(db: apsw.Connection, owner: Owner) -> bytes | None:
    """Return the user's key, or None if the token was revoked."""
    user: bytes | None = db.execute(statements.FIND_OWNER, owner_values(owner)).get
    return user


def _find_creation(db: apsw.Connection, digest: bytes, owner: Owner, min_live_key: bytes) -> ExistingClock | None:
    found: Any = db.execute(statements.FIND_CREATION, (*owner_values(owner), digest, min_live_key)).fetchone()
    return None if found is None else existing_clock(*found)


def _find_clock(db: apsw.Connection, key: bytes, owner: Owner, known_revision: int | None = None) -> StoredClock | None:
    found: Any = db.execute(statements.FIND_CLOCK, (*owner_values(owner), key, known_revision)).fetchone()
    return None if found is None else stored_clock(key, *found)


def _find_connections(db: apsw.Connection, clock_key: bytes, owner: Owner) -> list[StoredConnection] | None:
    return connections_of(db.execute(statements.LIST_CONNECTIONS, (*owner_values(owner), clock_key)).fetchall())
