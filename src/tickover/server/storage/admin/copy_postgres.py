"""PostgreSQL databases as source and target of a copy."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage.admin.copy_source import CopySource, CopyTarget, Key, Row, Table
from tickover.server.storage.postgres.connections import DRIVER_ERRORS, read_schema_version
from tickover.server.storage.postgres.rows import slot_of

_CLOSE_SECONDS: Final = 5.0


class PostgresSource(CopySource):
    """Reads rows in index order, in read-only transactions."""

    dialect = "postgres"
    # Any number of copies may read a database, and only one may write to it. The target can't be the source.
    _lock_function = "pg_try_advisory_lock_shared"

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def prepare(self) -> int:
        connection = self._connection
        # A copy may take long. Without sorts and bitmap scans, a plan for an empty table stays good while it fills.
        await connection.execute(
            """set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
               set enable_bitmapscan = off; set enable_sort = off"""
        )
        await self._set_access_mode()
        await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
        await connection.set_type_codec(
            "bool", schema="pg_catalog", encoder=lambda value: bytes((value,)), decoder=ord, format="binary"
        )
        await self._lock()
        return await read_schema_version(connection)

    async def close(self) -> None:
        with suppress(*DRIVER_ERRORS):
            await self._connection.close(timeout=_CLOSE_SECONDS)

    async def _set_access_mode(self) -> None:
        await self._connection.execute("set default_transaction_read_only = on")

    async def _lock(self) -> None:
        if not await self._connection.fetchval(
            f"select {self._lock_function}(6, pg_catalog.hashtext(current_schema()::text))"
        ):
            raise SettingError(
                "The target is the source itself, or another copy uses the same database. "
                "Use another target, or wait for the other copy."
            )

    async def _fetch(self, statement: str, *values: Key) -> list[Row]:
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    def _sort_key(self, table: Table) -> str:
        # Sort by bytes, as SQLite does, in a database of any collation.
        return f'{table.columns[0]} collate "C"' if isinstance(table.min_key, str) else table.columns[0]


class PostgresTarget(PostgresSource, CopyTarget):
    """Writes rows with COPY."""

    _lock_function = "pg_try_advisory_lock"

    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        async with self._connection.transaction():
            if stale:
                delete = f"delete from {table.name} where {table.columns[0]} = $1"
                await self._connection.executemany(delete, [(key,) for key in stale])
            await self._connection.copy_records_to_table(
                table.name,
                records=[(slot_of(row[0]), *row) for row in rows] if table.is_partitioned else rows,
                columns=("slot", *table.columns) if table.is_partitioned else table.columns,
            )
            if "number" in table.columns:
                # New numbers must be greater than the copied ones.
                await self._connection.execute(
                    """select setval('login_sends_number', greatest(nextval('login_sends_number'), max(number)))
                       from login_sends"""
                )

    async def _set_access_mode(self) -> None:
        pass
