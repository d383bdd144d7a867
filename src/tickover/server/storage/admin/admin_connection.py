"""A connection of its own to a database of any kind, for commands of operators.

Keys and digests are bytes, and timestamps are integers. Parameters of statements are $1, $2 and so on.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Any, Final

import apsw
import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage import schema_version, translate_errors
from tickover.server.storage.migrations import missing_migrations
from tickover.server.storage.postgres.database import open_connection, read_schema_version
from tickover.server.storage.sqlite.writer import transaction
from tickover.server.storage.urls import is_postgres, redact_url, sqlite_path

Row = tuple[Any, ...]
_LOCK_WAIT_MILLISECONDS: Final = 5000


class _PostgresConnection:
    is_postgres = True

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def read_version(self) -> int:
        return await read_schema_version(self._connection)

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commit at the end, or roll back after an error. Statements take as long as they need."""
        async with self._connection.transaction():
            await self._connection.execute(
                "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"
            )
            yield


class _SqliteConnection:
    """Runs statements on the event loop's thread. Between two statements, the caller can be cancelled."""

    is_postgres = False

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def read_version(self) -> int:
        version: int = self._connection.pragma("user_version")
        return version

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        await asyncio.sleep(0)
        return self._connection.execute(statement.replace("$", "?"), values).fetchall()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        with transaction(self._connection, "begin immediate"):
            yield


AdminConnection = _PostgresConnection | _SqliteConnection


@asynccontextmanager
async def open_admin_connection(url: str) -> AsyncIterator[AdminConnection]:
    """Connect to an existing database. Raise SettingError if it can't be used, or has another schema version."""
    async with AsyncExitStack() as opened:
        with translate_errors(url):
            connection: AdminConnection
            if is_postgres(url):
                # No timeout: commands on a large database take long.
                driver = await opened.enter_async_context(open_connection(url, command_seconds=None))
                connection = _PostgresConnection(driver)
            else:
                path = str(sqlite_path(url))
                file = opened.enter_context(closing(apsw.Connection(path, apsw.SQLITE_OPEN_READWRITE)))
                file.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
                connection = _SqliteConnection(file)
            _check_version(url, await connection.read_version())
        yield connection


def _check_version(url: str, found: int) -> None:
    if missing_migrations("postgres" if is_postgres(url) else "sqlite", found):
        raise SettingError(
            f"The database {redact_url(url)} has schema version {found}, but this Tickover needs version "
            f"{schema_version(url)}. Run `tickover migrate`."
        )
