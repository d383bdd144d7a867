"""SQLite files as source and target of a copy."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import apsw

from tickover.server.storage.admin.copy_source import CopySource, CopyTarget, Key, Row, Table
from tickover.server.storage.sqlite.writer import immediate_transaction

_LOCK_WAIT_MILLISECONDS: Final = 5000
_T = TypeVar("_T")


class SqliteSource(CopySource):
    """Uses its own thread, so that a started chunk is finished even if the caller is cancelled."""

    dialect = "sqlite"
    _open_mode = apsw.SQLITE_OPEN_READONLY

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), self._open_mode)
        self._thread = ThreadPoolExecutor(1, "tickover-copy")

    async def prepare(self) -> int:
        self._connection.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
        version: int = self._connection.pragma("user_version")
        return version

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown()

    async def _fetch(self, statement: str, *values: Key) -> list[Row]:
        return await self._run(lambda: self._connection.execute(statement.replace("$", "?"), values).fetchall())

    def _columns(self, table: Table) -> tuple[str, ...]:
        return ("clock_key", "body") if table.name == "schedules" else table.columns

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)


class SqliteTarget(SqliteSource, CopyTarget):
    _open_mode = apsw.SQLITE_OPEN_READWRITE

    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        columns = self._columns(table)
        delete = f"delete from {table.name} where {columns[0]} = ?"
        insert = f"insert into {table.name} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"

        def job() -> None:
            with immediate_transaction(self._connection):
                self._connection.executemany(delete, [(key,) for key in stale])
                self._connection.executemany(insert, rows)

        await self._run(job)
