"""A connection of its own to a database of any kind, for commands of operators.

Keys and digests are bytes; timestamps and booleans are integers. So equal data gives equal rows in every kind of
database. Parameters of statements are $1, $2 and so on.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from itertools import islice
from typing import Any, Final

import apsw
import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage import schema_version, translate_errors
from tickover.server.storage.postgres.pool import open_connection, read_schema_version
from tickover.server.storage.sqlite.writer import transaction
from tickover.server.storage.urls import is_postgres, redact_url, sqlite_path

Row = tuple[Any, ...]
_LOCK_WAIT_MILLISECONDS: Final = 5000
_CHUNK_ROWS: Final = 100
"""A clock's schedule can have several hundred kilobytes, so a chunk has less than 100 MB."""


class _PostgresConnection:
    is_postgres = True

    def __init__(self, connection: asyncpg.Connection, *, read_only: bool) -> None:
        self._connection = connection
        self._read_only = read_only

    async def read_version(self) -> int:
        return await read_schema_version(self._connection)

    async def columns(self, table: str) -> list[str]:
        prepared = await self._connection.prepare(f"select * from {table}")
        return [attribute.name for attribute in prepared.get_attributes()]

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    async def chunks(self, query: str) -> AsyncIterator[list[Row]]:
        """Yield the rows of the query, some at a time. Call it in a transaction."""
        cursor = await self._connection.cursor(query)
        while rows := await cursor.fetch(_CHUNK_ROWS):
            yield [tuple(row) for row in rows]

    async def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        await self._connection.copy_records_to_table(table, records=rows, columns=columns)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commit at the end, or roll back after an error. Statements take as long as they need."""
        async with self._connection.transaction(
            isolation="repeatable_read" if self._read_only else "read_committed", readonly=self._read_only
        ):
            await self._connection.execute(
                "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"
            )
            yield


class _SqliteConnection:
    """Runs statements on the event loop's thread. Between two statements, the caller can be cancelled."""

    is_postgres = False

    def __init__(self, connection: apsw.Connection, *, read_only: bool) -> None:
        self._connection = connection
        self._begin = "begin" if read_only else "begin immediate"

    async def read_version(self) -> int:
        version: int = self._connection.pragma("user_version")
        return version

    async def columns(self, table: str) -> list[str]:
        return [name for (name,) in await self.fetch("select name from pragma_table_info($1)", table)]

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        await asyncio.sleep(0)
        return self._connection.execute(statement.replace("$", "?"), values).fetchall()

    async def chunks(self, query: str) -> AsyncIterator[list[Row]]:
        cursor = self._connection.execute(query)
        while rows := list(islice(cursor, _CHUNK_ROWS)):
            await asyncio.sleep(0)
            yield rows

    async def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(f"insert into {table} ({', '.join(columns)}) values ({marks})", rows)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        with transaction(self._connection, self._begin):
            yield


AdminConnection = _PostgresConnection | _SqliteConnection


@asynccontextmanager
async def open_admin_connection(url: str, *, read_only: bool = False) -> AsyncIterator[AdminConnection]:
    """Connect to an existing database. Raise SettingError if it can't be used, or has another schema version.

    A transaction of a connection that is read-only sees the data of its start.
    """
    async with AsyncExitStack() as opened:
        with translate_errors(url):
            connection: AdminConnection
            if is_postgres(url):
                # No timeout: commands on a large database take long.
                driver = await opened.enter_async_context(open_connection(url, command_seconds=None))
                await driver.set_type_codec(
                    "bool", schema="pg_catalog", encoder=lambda value: bytes((value,)), decoder=ord, format="binary"
                )
                connection = _PostgresConnection(driver, read_only=read_only)
            else:
                mode = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
                file = opened.enter_context(closing(apsw.Connection(str(sqlite_path(url)), mode)))
                file.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
                connection = _SqliteConnection(file, read_only=read_only)
            _check_version(url, await connection.read_version())
        yield connection


def _check_version(url: str, found: int) -> None:
    newest = schema_version(url)
    if found != newest:
        advice = "Run `tickover migrate`." if found < newest else "Run the newer Tickover that upgraded the database."
        raise SettingError(
            f"The database {redact_url(url)} has schema version {found}, but this Tickover needs version {newest}. "
            f"{advice}"
        )
