"""The store on SQLite: one writer thread, and reads beside it on the event loop's own thread.

A read here is a look-up by key, mostly in pages that are in memory; to hand it to another thread would cost more.
"""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.domain.clocks import Clock
from tickover.server.domain.logins import Claimed, Limits, Send, TooSoon, Try
from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations, pending
from tickover.server.storage.sqlite import logins
from tickover.server.storage.sqlite.quota import ClockQuota, Refusal
from tickover.server.storage.sqlite.writer import Writer, immediate, to_rejection
from tickover.server.storage.store import (
    Created,
    ExistingClock,
    IdempotencyRecord,
    NewSession,
    Quota,
    QuotaExceeded,
    StoredClock,
)
from tickover.server.storage.write_probe import WriteProbe

_LOCK_WAIT_SECONDS = 5.0
_READ_WAIT_MILLISECONDS = 50
_CACHE_KIBIBYTES = 8_000
"""Of each connection; SQLite's own choice is 2,000, less than the rows of a thousand clocks."""

_NO_QUOTA = Quota()
_CREATED = Created()


class SqliteStore:
    """See `storage.store.Store` for what each method promises."""

    def __init__(self, path: Path) -> None:
        self._writing = _connect(path)
        _migrate(self._writing)
        self._reading = _connect(path)
        # Reads are on the event loop's thread, and must not wait there.
        self._reading.set_busy_timeout(_READ_WAIT_MILLISECONDS)
        self._writer = Writer(self._writing, _LOCK_WAIT_SECONDS)
        self._probe = WriteProbe(lambda: self._writer.submit(_statement(_PROBE)))
        self._quota = ClockQuota()
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open or create the file, and bring its schema up to date; SettingError when it cannot be used."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls(path)
        except (apsw.Error, OSError) as error:
            raise SettingError(f"The database {path} cannot be opened: {error}.") from None

    async def close(self) -> None:
        await self._writer.close()
        await self._probe.close()
        self._reading.close()
        self._writing.close()

    async def ping(self) -> None:
        await self._probe.check()

    async def share_key(self, fingerprint: bytes, now: Instant) -> bool:
        """One machine has one data folder, and the key is in it."""
        return True

    async def user_of_token(self, token_digest: bytes, now: Instant) -> bytes | None:
        found = self._look_up(
            "select user_key from tokens where digest = ? and expires_at > ?", token_digest, to_micros(now)
        )
        return found[0] if found else None

    async def create_clock(
        self, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Created | QuotaExceeded:
        refusal = await self._writer.submit(lambda db: self._create(db, clock, owner, schedule, min_live_key, quota))
        return self._outcome(owner, len(schedule), refusal)

    async def create_clock_once(
        self, once: IdempotencyRecord, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> ExistingClock | Created | QuotaExceeded:
        def job(db: apsw.Connection) -> ExistingClock | Refusal | None:
            found: Any = db.execute(_EARLIER, (once.digest, owner, min_live_key)).fetchone()
            if found is not None:
                return _earlier(*found)
            refusal = self._create(db, clock, owner, schedule, min_live_key, quota)
            if refusal is None:
                db.execute("insert or replace into creations values (?, ?, ?)", (once.digest, once.params, clock.key))
            return refusal

        known = await self._writer.submit(job)
        return known if isinstance(known, ExistingClock) else self._outcome(owner, len(schedule), known)

    def _create(
        self, db: apsw.Connection, clock: Clock, owner: bytes, schedule: bytes, min_live_key: bytes, quota: Quota
    ) -> Refusal | None:
        size = len(schedule)
        if quota == _NO_QUOTA:
            self._quota.forget(owner)
        elif (refusal := self._quota.take_place(db, owner, clock.key, size, min_live_key, quota)) is not None:
            return refusal
        instants = (to_micros(clock.start_time), to_micros(clock.frozen_time), to_micros(clock.max_time))
        db.execute("insert into clocks values (?, ?, ?, ?, ?, ?)", (clock.key, owner, *instants, size))
        db.execute("insert into schedules values (?, ?)", (clock.key, schedule))
        return None

    def _outcome(self, owner: bytes, size: int, refusal: Refusal | None) -> Created | QuotaExceeded:
        if refusal is None:
            self._quota.note_created(owner, size)
            return _CREATED
        self._quota.note_refused(owner, refusal)
        return refusal.exceeded

    async def find_creation(self, digest: bytes, owner: bytes, min_live_key: bytes) -> ExistingClock | None:
        found = self._look_up(_EARLIER, digest, owner, min_live_key)
        return _earlier(*found) if found else None

    async def find_clock(self, key: bytes, owner: bytes, *, with_schedule: bool = True) -> StoredClock | None:
        instants = self._look_up(_CLOCK, key, owner)
        if instants is None:
            return None
        start, standing, latest = instants
        return _kept(key, start, standing, latest, self._look_up(_SCHEDULE, key)[0] if with_schedule else b"")

    async def list_clocks(self, owner: bytes, min_live_key: bytes, before: bytes | None, limit: int) -> list[Clock]:
        rows = self._look_up_all(_CLOCKS, owner, min_live_key, before or _AFTER_ALL, limit)
        return [_kept(*row).clock for row in rows]

    async def delete_clock(self, key: bytes, owner: bytes) -> bool:
        def job(db: apsw.Connection) -> bool:
            if db.execute(_CLOCK, (key, owner)).fetchone() is None:
                return False
            db.execute("delete from clocks where key = ?", (key,))
            db.execute("delete from schedules where clock_key = ?", (key,))
            db.execute("delete from creations where clock_key = ?", (key,))
            return True

        deleted = await self._writer.submit(job)
        if deleted:
            self._quota.note_deleted(owner)
        return deleted

    async def advance_clock(
        self, key: bytes, owner: bytes, to: Instant, *, with_schedule: bool = True
    ) -> StoredClock | None:
        micros = to_micros(to)

        def job(db: apsw.Connection) -> Any:
            # Three plain statements take a quarter of the time of one with `returning`; nobody else writes in between.
            instants: Any = db.execute(_CLOCK, (key, owner)).fetchone()
            if instants is None:
                return None
            start, standing, latest = instants
            if standing <= micros <= latest:
                db.execute("update clocks set frozen_time = ? where key = ?", (micros, key))
                standing = micros
            schedule = _one(db.execute(_SCHEDULE, (key,))) if with_schedule else b""
            return start, standing, latest, schedule

        kept = await self._writer.submit(job)
        if kept is None:
            return None
        return _kept(key, *kept)

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

    def _look_up(self, statement: str, *bindings: object) -> Any:
        """The first row that is found, if there is one."""
        found = self._look_up_all(statement, *bindings)
        return found[0] if found else None

    def _look_up_all(self, statement: str, *bindings: object) -> list[Any]:
        """Look up in the database as it is in this turn of the event loop: locking it again each time took longer."""
        try:
            if not self._reading.in_transaction:
                self._reading.execute("begin")
                # Whoever is asked in a later turn, and may know of something newer, finds that there too.
                self._loop.call_soon(self._end_looking)
            return self._reading.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise to_rejection(error) from error

    def _end_looking(self) -> None:
        with suppress(apsw.Error):
            self._reading.execute("rollback")


# A row that counts for nobody. Its value must change: SQLite doesn't write a page that stays as it is.
_PROBE = "update login_failures set count = count + 1 where email = ''"
_SCHEDULE = "select body from schedules where clock_key = ?"
_CLOCK = "select start_time, frozen_time, max_time from clocks where key = ? and owner = ?"
_CLOCKS = """
    select key, start_time, frozen_time, max_time from clocks
    where owner = ? and key >= ? and key < ? order by key desc limit ?"""
_AFTER_ALL = b"\xff" * 16
_EARLIER = """
    select params, key, start_time, frozen_time, max_time, body
    from creations join clocks on key = creations.clock_key join schedules on schedules.clock_key = key
    where digest = ? and owner = ? and key >= ?"""


def _earlier(params: bytes, *kept: Any) -> ExistingClock:
    return ExistingClock(params, _kept(*kept))


def _kept(key: bytes, start: int, standing: int, latest: int, schedule: bytes = b"") -> StoredClock:
    return StoredClock(Clock(key, from_micros(start), from_micros(standing), from_micros(latest)), schedule)


def _one(cursor: apsw.Cursor) -> bytes:
    """What a statement finds, where it is known that there is one."""
    row: Any = cursor.fetchone()
    found: bytes = row[0]
    return found


def _statement(statement: str, *bindings: object) -> Any:
    def job(db: apsw.Connection) -> None:
        db.execute(statement, bindings)

    return job


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(int(_LOCK_WAIT_SECONDS * 1000))
    _enter_wal_mode(connection)
    # Otherwise statements are planned anew for each value that they are given.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(f"pragma cache_size = -{_CACHE_KIBIBYTES}")
    # FULL: an answered write survives the loss of power. On macOS only fullfsync reaches the disk itself.
    connection.execute("pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
    return connection


def _enter_wal_mode(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait for another process that is just doing the same."""
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
    """Apply what is missing, each migration in a transaction of its own; another process may be doing the same."""
    known = migrations("sqlite")
    while True:
        with immediate(connection):
            version = connection.pragma("user_version")
            missing = pending(known, version)
            if not missing:
                return
            connection.execute(missing[0].sql)
            connection.pragma("user_version", missing[0].number)
