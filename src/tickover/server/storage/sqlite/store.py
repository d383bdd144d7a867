"""The SQLite store: a single writer, and reads on the event loop's thread.

A read looks up a few rows by key, mostly in cached pages. To pass it to another thread would take longer.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import apsw
from msgspec.structs import replace

from tickover.api.errors import unauthenticated
from tickover.api.timestamps import Instant, to_micros
from tickover.server.schedule.clock import Clock
from tickover.server.settings import SettingError
from tickover.server.storage import statements
from tickover.server.storage.base_store import BaseStore, sweeps
from tickover.server.storage.rows import owner_values, stored_clock, token_of
from tickover.server.storage.rules import clock_rules as clocks
from tickover.server.storage.rules.clock_rules import NewClock
from tickover.server.storage.rules.steps import Rule
from tickover.server.storage.sqlite.connection import LOCK_WAIT_SECONDS, Reader, connect, migrate
from tickover.server.storage.sqlite.rules import run_rule, sql_of
from tickover.server.storage.sqlite.server_lock import lock_for_server
from tickover.server.storage.sqlite.usage import UsageCache
from tickover.server.storage.sqlite.writer import Writer, to_rejection
from tickover.server.storage.statements import Statement
from tickover.server.storage.store import (
    Created,
    DatabaseUnavailable,
    ExistingClock,
    IdempotencyRecord,
    Load,
    Owner,
    Quota,
    QuotaExceeded,
    StoredClock,
    Token,
)
from tickover.server.storage.write_probe import WriteProbe

_Outcome = TypeVar("_Outcome")
_READ_WAIT_MILLISECONDS = 50
MIN_FREE_BYTES = 16 * 2**20
"""Room for the largest calls, and for the write-ahead log until it is copied to the file."""

_MAX_INLINE_SCHEDULE = 256 * 1024
"""A larger one takes so long to write that it must not block the event loop."""


class SqliteStore(BaseStore):
    """Implements `storage.store.Store`."""

    def __init__(self, path: Path, lock: BinaryIO | None = None) -> None:
        self._lock = lock
        self._writing = connect(path)
        migrate(self._writing)
        self._reading = connect(path)
        # Reads run on the event loop's thread, so they must not wait for long.
        self._reading.set_busy_timeout(_READ_WAIT_MILLISECONDS)
        self._reader = Reader(self._reading)
        self._writer = Writer(self._writing, LOCK_WAIT_SECONDS)
        self._probe = WriteProbe(self._write_probe)
        self._folder = path.parent
        self._usage = UsageCache(self._writing)

    @classmethod
    async def open(cls, path: Path, *, for_server: bool = False) -> "SqliteStore":
        """Open or create the file, and bring its schema up to date. Raise SettingError if the file is unusable.

        With `for_server`, no other server can open it.
        """
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with ExitStack() as undo:
                store = cls(path, undo.enter_context(lock_for_server(path)) if for_server else None)
                undo.pop_all()
            return store
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
        if self._lock is not None:
            self._lock.close()

    def load(self) -> Load:
        return Load(self._writer.waiting_jobs)

    async def _read(self, statement: Statement, *values: object) -> list[Any]:
        return self._reader.fetch(sql_of(statement), *values)

    async def _change(self, statement: Statement, *values: object, is_repeatable: bool = False) -> list[Any]:
        return await self._writer.submit(lambda db: db.execute(sql_of(statement), values).fetchall())

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
        rows = self._reader.fetch(sql_of(statements.FIND_TOKEN), digest, to_micros(now))
        return token_of(digest, *rows[0]) if rows else None

    async def _run(self, rule: Callable[[], Rule[_Outcome]], *, size: int = 0) -> _Outcome:
        is_long = size > _MAX_INLINE_SCHEDULE
        return await self._writer.submit(lambda db: run_rule(db, self._usage, rule()), is_long=is_long)

    async def create_clock(
        self, clock: Clock, owner: Owner, schedule: bytes, quota: Quota, record: IdempotencyRecord | None = None
    ) -> Created | ExistingClock | QuotaExceeded:
        new = [NewClock(clock, schedule, record)]
        outcomes = await self._run(lambda: clocks.create_clocks(owner, new, quota), size=len(schedule))
        if outcomes is None:
            raise unauthenticated()
        return outcomes[0]

    async def advance_clock(
        self, key: bytes, owner: Owner, to: Instant, *, known_revision: int | None = None
    ) -> StoredClock | None:
        find = sql_of(statements.FIND_CLOCK)

        def job(db: apsw.Connection) -> StoredClock | None:
            # Two plain statements take less time than one with `returning`.
            row: Any = db.execute(find, (*owner_values(owner), key, known_revision)).fetchone()
            if row is None:
                return None
            found = stored_clock(key, *row)
            if not found.clock.frozen_time <= to <= found.clock.max_time:
                return found
            db.execute("update clocks set frozen_time = ? where key = ?", (to_micros(to), key))
            return StoredClock(replace(found.clock, frozen_time=to), found.schedule)

        return await self._writer.submit(job)

    async def sweep(self, now: Instant, limit: int) -> int:
        def job(db: apsw.Connection) -> int:
            return sum(len(db.execute(sql_of(each), (value, limit)).fetchall()) for each, value in sweeps(now))

        return await self._writer.submit(job, is_long=True)
