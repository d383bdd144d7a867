"""Reads the size of the database, its rows and its clock, over a connection of its own."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

import apsw
from msgspec import Struct

from tickover.api.timestamps import Instant
from tickover.server.storage import translate_errors
from tickover.server.storage.urls import is_postgres, sqlite_path

# The statistics collector knows new rows at once, and the catalog knows them after a crash.
_POSTGRES_ROWS: Final = """
    select pg_class.relname, greatest(n_live_tup, reltuples::bigint, 0)
    from pg_stat_user_tables join pg_class on oid = relid
    where schemaname = current_schema() and pg_class.relname <> 'schema_version'
    order by 1"""
_SQLITE_TABLES: Final = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by 1"
_LOCK_WAIT_MILLISECONDS: Final = 1000


class Statistics(Struct, frozen=True):
    schema_version: int
    """0 if the database is empty."""
    bytes: int
    rows: dict[str, int]
    """Rows by table. PostgreSQL estimates them."""
    clock_skew_seconds: float | None = None
    """How far this machine's clock is ahead of the database's. None for SQLite."""


async def read_statistics(url: str, wall_clock: Callable[[], Instant]) -> Statistics:
    """Return the statistics. Raise SettingError if the database can't be read."""
    with translate_errors(url):
        if is_postgres(url):
            return await _read_postgres(url, wall_clock)
        # Counting rows takes long in a large file.
        return await asyncio.to_thread(_read_sqlite, sqlite_path(url))


async def _read_postgres(url: str, wall_clock: Callable[[], Instant]) -> Statistics:
    from tickover.server.storage.postgres.database import open_connection, read_schema_version

    async with open_connection(url) as connection:
        began = wall_clock()
        # Only to compare the clocks. SQL never decides anything by its own clock.
        their_time: datetime = await connection.fetchval("select clock_timestamp()")
        skew = began + (wall_clock() - began) / 2 - their_time
        size = await connection.fetchval("select pg_database_size(current_database())")
        rows = await connection.fetch(_POSTGRES_ROWS)
        version = await read_schema_version(connection)
    return Statistics(version, size, {row[0]: row[1] for row in rows}, skew.total_seconds())


def _read_sqlite(path: Path) -> Statistics:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        database.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
        tables = [name for (name,) in database.execute(_SQLITE_TABLES)]
        version: int = database.pragma("user_version")
        rows = {table: database.execute(f"select count(*) from {table}").get for table in tables}
    files = (path, path.with_name(f"{path.name}-wal"))
    return Statistics(version, sum(file.stat().st_size for file in files if file.exists()), rows)


def data_folder(url: str, data_dir: Path) -> Path:
    """Return the existing folder whose disk the server fills: that of the SQLite file, or of the data folder."""
    folder = data_dir.absolute() if is_postgres(url) else sqlite_path(url).absolute().parent
    return next(path for path in (folder, *folder.parents) if path.exists())
