"""Copies all data from one database to another, in one transaction of each."""

import hashlib
from collections.abc import Callable
from typing import Final

import apsw
from msgspec import Struct, msgpack

from tickover.server.setting_values import database_url
from tickover.server.settings import SettingError
from tickover.server.storage import open_store
from tickover.server.storage.admin.connection import AdminConnection, Row, open_admin_connection
from tickover.server.storage.postgres.pool import DRIVER_ERRORS
from tickover.server.storage.postgres.statements import slot_of
from tickover.server.storage.urls import describe_error, redact_url

Report = Callable[[str, int, int], None]
"""Called with the current step, the number of finished rows and the total. If it raises, nothing is copied."""


TABLES: Final = {
    "users": "true",
    "tokens": "true",
    "schedules": "true",
    "clocks": "true",
    "creations": "true",
    "connections": "true",
    "login_failures": "email like '%@%'",
    "login_sends": "email <> ''",
}
"""The tables, and the condition of the rows to copy. One database only needs the others, such as decoy rows."""


class CopiedTable(Struct, frozen=True):
    """A table that is equal in both databases."""

    table: str
    rows: int
    checksum: str
    """The sum of the SHA-256 digests of all rows, in hexadecimal. It doesn't depend on their order."""


async def copy(source_url: str, target_url: str, report: Report) -> list[CopiedTable]:
    """Copy all data to an empty database. Raise SettingError for errors that an operator can fix.

    The copy is read again and compared before it is committed, so the target has all data or none.
    """
    for name, url in (("source", source_url), ("target", target_url)):
        try:
            database_url(url)
        except ValueError as error:
            # The message has no part of the URL, which may be a password.
            raise SettingError(f"The {name} {error}.") from None
    try:
        async with open_admin_connection(source_url, read_only=True) as source:
            # Create the target only after the source proved usable.
            store = await open_store(target_url)
            await store.close()
            async with open_admin_connection(target_url) as target, target.transaction():
                await _check_empty(target, redact_url(target_url))
                return await _Copy(source, target, report).run()
    except (apsw.Error, *DRIVER_ERRORS) as error:
        raise SettingError(f"The copy failed: {describe_error(error)}. The target has none of the data.") from error


async def _check_empty(target: AdminConnection, name: str) -> None:
    for table in TABLES:
        if await _count(target, table):
            raise SettingError(f"The database {name} isn't empty: its table {table} has rows. Use an empty database.")


async def _count(connection: AdminConnection, table: str) -> int:
    [(count,)] = await connection.fetch(f"select count(*) from {table} where {TABLES[table]}")
    return int(count)


class _Copy:
    def __init__(self, source: AdminConnection, target: AdminConnection, report: Report) -> None:
        self._source = source
        self._target = target
        self._report = report
        self._total = 0
        self._done = 0

    async def run(self) -> list[CopiedTable]:
        async with self._source.transaction():
            self._total = 2 * sum([await _count(self._source, table) for table in TABLES])
            copied = [await self._read(self._source, table, self._target) for table in TABLES]
        for table, expected in zip(TABLES, copied, strict=True):
            found = await self._read(self._target, table)
            if found != expected:
                raise SettingError(
                    f"The copy differs in the table {table}: the source has {expected.rows} rows with the "
                    f"checksum {expected.checksum[:16]}, the target {found.rows} with {found.checksum[:16]}. A server "
                    "wrote to the target during the copy. Stop all servers, and use an empty database."
                )
        return copied

    async def _read(
        self, connection: AdminConnection, table: str, target: AdminConnection | None = None
    ) -> CopiedTable:
        """Return the checksum of the table. Write its rows to the target, if any."""
        step = f"{'copying' if target else 'checking'} {table}"
        self._report(step, self._done, self._total)
        count = checksum = 0
        columns = ", ".join(await _columns(connection, table))
        target_columns = await _columns(target, table) if target else []
        async for rows in connection.chunks(f"select {columns} from {table} where {TABLES[table]}"):
            if target:
                await _insert(target, table, target_columns, rows)
            count += len(rows)
            checksum += sum(int.from_bytes(hashlib.sha256(msgpack.encode(row)).digest()) for row in rows)
            self._done += len(rows)
            self._report(step, self._done, self._total)
        return CopiedTable(table, count, f"{checksum % 2**256:064x}")


async def _columns(connection: AdminConnection, table: str) -> list[str]:
    """Return the columns that both databases have, in the same order."""
    columns = set(await connection.columns(table)) - {"slot"}
    # SQLite names the key of a schedule clock_key.
    return sorted(columns, key=lambda name: "key" if name == "clock_key" and table == "schedules" else name)


async def _insert(target: AdminConnection, table: str, columns: list[str], rows: list[Row]) -> None:
    if target.is_postgres and table in ("schedules", "clocks"):
        key = columns.index("key")
        await target.insert(table, [*columns, "slot"], [(*row, slot_of(row[key])) for row in rows])
    else:
        await target.insert(table, columns, rows)
    if target.is_postgres and table == "login_sends":
        # New numbers must be greater than the copied ones.
        last = max(row[columns.index("number")] for row in rows)
        await target.fetch("select setval('login_sends_number', greatest(nextval('login_sends_number'), $1))", last)
