"""A connection of its own to a database of any kind, for commands of operators.

Keys and digests are bytes; timestamps and booleans are integers. So equal data gives equal rows in every kind of
database. Parameters of statements are $1, $2 and so on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage import schema_version, translate_errors
from tickover.server.storage.postgres.pool import open_connection, read_schema_version
from tickover.server.storage.urls import is_postgres, redact_url, sqlite_path

Row = tuple[Any, ...]
_T = TypeVar("_T")
_LOCK_WAIT_MILLISECONDS: Final = 5000


class _PostgresConnection:
    is_postgres = True

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def set_codecs(self) -> None:
        connection = self._connection
        await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
        await connection.set_type_codec(
            "bool", schema="pg_catalog", encoder=lambda value: bytes((value,)), decoder=ord, format="binary"
        )

    async def read_version(self) -> int:
        return await read_schema_version(self._connection)

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    async def execute_many(self, statement: str, rows: Sequence[Row]) -> None:
        await self._connection.executemany(statement, rows)

    async def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        await self._connection.copy_records_to_table(table, records=rows, columns=columns)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commit at the end, or roll back after an error. Statements take as long as they need."""
        async with self._connection.transaction():
            await self._connection.execute("set local statement_timeout = 0")
            yield


class _SqliteConnection:
    """Uses its own thread, so that a started statement ends before the next one, even if the caller is cancelled."""

    is_postgres = False

    def __init__(self, path: Path, *, read_only: bool) -> None:
        mode = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
        self._connection = apsw.Connection(str(path), mode)
        self._connection.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
        self._thread = ThreadPoolExecutor(1, "tickover-admin")

    async def read_version(self) -> int:
        version: int = await self._run(lambda: self._connection.pragma("user_version"))
        return version

    async def fetch(self, statement: str, *values: object) -> list[Row]:
        numbered = statement.replace("$", "?")
        return await self._run(lambda: self._connection.execute(numbered, values).fetchall())

    async def execute_many(self, statement: str, rows: Sequence[Row]) -> None:
        numbered = statement.replace("$", "?")
        await self._run(lambda: self._connection.executemany(numbered, rows))

    async def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        await self.execute_many(f"insert into {table} ({', '.join(columns)}) values ({marks})", rows)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        try:
            await self.fetch("begin immediate")
            yield
            await self.fetch("commit")
        finally:
            # After an error. SQLite rolls back by itself after some, such as a full disk.
            await self._run(lambda: self._connection.in_transaction and self._connection.execute("rollback"))

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown()

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)


AdminConnection = _PostgresConnection | _SqliteConnection


@asynccontextmanager
async def open_admin_connection(url: str, *, read_only: bool = False) -> AsyncIterator[AdminConnection]:
    """Connect to an existing database. Raise SettingError if it can't be used, or has another schema version.

    PostgreSQL ignores `read_only`.
    """
    async with AsyncExitStack() as opened:
        with translate_errors(url):
            connection: AdminConnection
            if is_postgres(url):
                # No timeout: commands on a large database take long.
                driver = await opened.enter_async_context(open_connection(url, command_seconds=None))
                connection = _PostgresConnection(driver)
                await connection.set_codecs()
            else:
                connection = _SqliteConnection(sqlite_path(url), read_only=read_only)
                opened.push_async_callback(connection.close)
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
