"""Connections to the SQLite file, its migrations, and reads on the event loop's thread."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from tickover.server.storage.migrations import missing_migrations
from tickover.server.storage.sqlite.writer import to_rejection, transaction

LOCK_WAIT_SECONDS = 5.0
_CACHE_KIBIBYTES = 8_000
"""The page cache of each connection. SQLite's default of 2,000 doesn't hold the rows of a thousand clocks."""
CHECKPOINT_PAGES = 4_000
"""The size of the write-ahead log at which a commit copies it to the file. A page that changed often is copied once."""


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(int(LOCK_WAIT_SECONDS * 1000))
    _enter_wal_mode(connection)
    # Keep query plans independent of bound values, so that statements are not planned again.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(f"pragma cache_size = -{_CACHE_KIBIBYTES}; pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
    # FULL: a committed write survives a power failure. On macOS, only fullfsync reaches the disk itself.
    connection.execute("pragma synchronous = full; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1")
    return connection


def _enter_wal_mode(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging. Retry here, because SQLite doesn't wait if another process does the same."""
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def migrate(connection: apsw.Connection) -> None:
    """Apply pending migrations, one transaction each. Another process may do the same at the same time."""
    while True:
        with transaction(connection):
            missing = missing_migrations("sqlite", connection.pragma("user_version"))
            if not missing:
                return
            connection.execute(missing[0].sql)
            connection.pragma("user_version", missing[0].number)


class Reader:
    """Reads in transactions. All reads of one event loop iteration share a transaction, which saves locks."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()

    def fetch(self, statement: str, *bindings: object) -> list[Any]:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("begin")
                # The next iteration must see later commits.
                self._loop.call_soon(self._end)
            return self._connection.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise to_rejection(error) from error

    def _end(self) -> None:
        with suppress(apsw.Error):
            self._connection.execute("rollback")
