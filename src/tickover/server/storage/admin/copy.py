"""Copies all data from one database to another.

A copy writes only rows that are missing or different, so an interrupted copy continues when you run it again. At the
end it reads both databases again and compares them. It never changes the source.
"""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import apsw
from msgspec import Struct, msgpack

from tickover.server.settings import SettingError
from tickover.server.storage import open_store, translate_errors
from tickover.server.storage.admin.connection import Row, open_admin_connection
from tickover.server.storage.admin.copy_tables import TABLES, CopyDatabase, Table
from tickover.server.storage.postgres.pool import DRIVER_ERRORS
from tickover.server.storage.urls import check_url, describe_error, is_postgres, redact_url, sqlite_path

Report = Callable[[str, int, int], None]
"""Called with the current step, the number of finished rows and the total. If it raises, the copy ends."""


class CopiedTable(Struct, frozen=True):
    """A table that is equal in both databases."""

    table: str
    rows: int
    written: int
    """The number of rows that this run wrote."""
    checksum: str
    """SHA-256 of all rows in the order of their keys, in hexadecimal."""


class _Checksum(Struct, frozen=True):
    rows: int
    checksum: str


async def copy(source_url: str, target_url: str, report: Report) -> list[CopiedTable]:
    """Copy all data. Raise SettingError for errors that an operator can fix.

    If the target has rows that the source doesn't have, nothing is written.
    """
    _check_urls(source_url, target_url)
    try:
        async with _open(source_url, is_target=False) as source:
            # Create the target only after the source proved usable.
            store = await open_store(target_url)
            await store.close()
            async with _open(target_url, is_target=True) as target:
                await _reject_other_data(source, target, redact_url(target_url))
                return await _Copy(source, target, report).run()
    except (apsw.Error, *DRIVER_ERRORS) as error:
        raise SettingError(
            f"The copy was interrupted: {describe_error(error)}. Run it again to continue. The rows that it has "
            "written stay in the target."
        ) from error


def _check_urls(source_url: str, target_url: str) -> None:
    check_url("The source", source_url)
    check_url("The target", target_url)
    if not is_postgres(source_url):
        source = sqlite_path(source_url)
        if not source.is_file():
            raise SettingError(f"The database {source} doesn't exist. Check the path of the source.")
        if (
            not is_postgres(target_url)
            and sqlite_path(target_url).exists()
            and source.samefile(sqlite_path(target_url))
        ):
            raise SettingError("Source and target are the same file. Use another target.")


async def _reject_other_data(source: CopyDatabase, target: CopyDatabase, name: str) -> None:
    for table in TABLES:
        async for after, keys in target.chunks(table):
            if not set(keys).issubset(await source.keys(table, after, keys[-1])):
                raise SettingError(
                    f"The database {name} contains other data: its table {table.name} has rows that are not in the "
                    "source. Nothing was changed. Use an empty database. An older copy doesn't work if the source has "
                    "deleted rows since."
                )


class _Copy:
    """One run: it writes all tables, then compares all tables."""

    def __init__(self, source: CopyDatabase, target: CopyDatabase, report: Report) -> None:
        self._source = source
        self._target = target
        self._report = report
        self._total = 0
        self._done = 0

    async def run(self) -> list[CopiedTable]:
        self._total = 2 * sum([await self._source.count(table) for table in TABLES])
        written = [await self._write(table) for table in TABLES]
        checksums = [await self._compare(table) for table in TABLES]
        return [
            CopiedTable(table.name, checksum.rows, rows, checksum.checksum)
            for table, checksum, rows in zip(TABLES, checksums, written, strict=True)
        ]

    async def _write(self, table: Table) -> int:
        """Write the rows that are missing or different in the target. Return their number."""
        written = 0
        self._report_progress("copying", table)
        async for after, keys in self._source.chunks(table):
            rows = await self._source.rows(table, after, keys[-1])
            existing = {row[0]: row for row in await self._target.rows(table, after, keys[-1])}
            new = [row for row in rows if existing.get(row[0]) != row]
            if new:
                await self._target.replace(table, [row[0] for row in new if row[0] in existing], new)
            written += len(new)
            self._report_progress("copying", table, len(keys))
        return written

    async def _compare(self, table: Table) -> _Checksum:
        """Read both databases again. Return their common checksum, or raise SettingError."""
        self._report_progress("checking", table)
        source = await _checksum(self._source, table, lambda rows: self._report_progress("checking", table, rows))
        target = await _checksum(self._target, table, lambda _: None)
        if source != target:
            raise SettingError(
                f"The copy differs in the table {table.name}: the source has {source.rows} rows with the checksum "
                f"{source.checksum[:16]}, the target {target.rows} with {target.checksum[:16]}. A server wrote to one "
                "of them during the copy. Stop all servers that use them, and run the copy again."
            )
        return source

    def _report_progress(self, step: str, table: Table, rows: int = 0) -> None:
        # A source in use may have more rows than were counted.
        self._done = min(self._done + rows, self._total)
        self._report(f"{step} {table.name}", self._done, self._total)


async def _checksum(database: CopyDatabase, table: Table, on_rows: Callable[[int], None]) -> _Checksum:
    digest = hashlib.sha256()
    count = 0
    async for after, keys in database.chunks(table):
        rows: list[Row] = await database.rows(table, after, keys[-1])
        for row in rows:
            digest.update(msgpack.encode(row))
        count += len(rows)
        on_rows(len(rows))
    return _Checksum(count, digest.hexdigest())


@asynccontextmanager
async def _open(url: str, *, is_target: bool) -> AsyncIterator[CopyDatabase]:
    if "pool_mode=transaction" in url:
        raise SettingError(
            "A copy doesn't work through a pooler in transaction mode. Use the URL of the database itself."
        )
    async with open_admin_connection(url, read_only=not is_target) as connection:
        database = CopyDatabase(connection)
        if connection.is_postgres:
            with translate_errors(url):
                await database.prepare_postgres(is_target=is_target)
        yield database
