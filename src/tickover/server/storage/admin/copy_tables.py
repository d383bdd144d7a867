"""The tables that a copy reads and writes, in chunks.

A row starts with its key. A copy omits rows that only one database needs, for example decoy rows, which attempts
without a live code change.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final

from msgspec import Struct

from tickover.server.settings import SettingError
from tickover.server.storage.admin.connection import AdminConnection, Row
from tickover.server.storage.postgres.rows import slot_of

Key = bytes | str

# A chunk is one transaction, and the rows of both databases are in memory.
_MAX_CHUNK_ROWS: Final = 5000
_MAX_CHUNK_BYTES: Final = 4_000_000


class Table(Struct, frozen=True):
    name: str
    columns: tuple[str, ...]
    """The key is the first column."""
    min_key: Key
    """All keys are greater than this."""
    condition: str = "true"
    """An SQL condition that selects the rows to copy."""
    size: str = "0"
    """An SQL expression for the approximate size of a row in bytes. 0 means that rows are small."""
    is_partitioned: bool = False
    """True if PostgreSQL partitions the table by the day of creation."""


# The order matters: in an unfinished copy, every clock has its schedule, and every code has its failures.
TABLES: Final = (
    Table("users", ("key", "email", "created_at"), bytes(16)),
    Table(
        "tokens",
        ("digest", "user_key", "expires_at", "token_key", "name", "read_only", "created_at", "last_used_on"),
        b"",
    ),
    Table("schedules", ("key", "body"), bytes(16), size="length(body)", is_partitioned=True),
    Table(
        "clocks",
        ("key", "owner", "start_time", "frozen_time", "max_time", "bytes", "name", "labels", "revision"),
        bytes(16),
        size="coalesce(length(labels), 0)",
        is_partitioned=True,
    ),
    Table("creations", ("digest", "params", "clock_key"), b""),
    Table(
        "connections",
        (
            "key",
            "clock_key",
            "protocol",
            "institution",
            "created_at",
            "faults",
            "setup_digest",
            "access_digest",
            "login_required",
        ),
        bytes(16),
        size="coalesce(length(faults), 0)",
    ),
    Table("login_failures", ("email", "count"), "", condition="email like '%@%'"),
    Table(
        "login_sends",
        ("digest", "email", "kind", "sent_at", "expires_at", "network", "tries", "spent", "holds_slot", "number"),
        b"",
        condition="email <> ''",
    ),
)


class CopyDatabase:
    """The source or the target of a copy."""

    def __init__(self, connection: AdminConnection) -> None:
        self._connection = connection

    async def prepare_postgres(self, *, is_target: bool) -> None:
        """Configure the session, and lock the database. Raise SettingError if another copy uses it."""
        # A copy may take long. Without sorts and bitmap scans, a plan for an empty table stays good while it fills.
        settings = {
            "statement_timeout": "0",
            "idle_in_transaction_session_timeout": "0",
            "enable_bitmapscan": "off",
            "enable_sort": "off",
            "default_transaction_read_only": "off" if is_target else "on",
        }
        for name, value in settings.items():
            await self._connection.fetch(f"set {name} = {value}")
        # Any number of copies may read a database, and only one may write to it. The target can't be the source.
        lock = "pg_try_advisory_lock" if is_target else "pg_try_advisory_lock_shared"
        [(is_locked,)] = await self._connection.fetch(f"select {lock}(6, pg_catalog.hashtext(current_schema()::text))")
        if not is_locked:
            raise SettingError(
                "The target is the source itself, or another copy uses the same database. "
                "Use another target, or wait for the other copy."
            )

    async def count(self, table: Table) -> int:
        [(count,)] = await self._connection.fetch(f"select count(*) from {table.name} where {table.condition}")
        return int(count)

    async def chunks(self, table: Table) -> AsyncIterator[tuple[Key, list[Key]]]:
        """Yield all keys in order, one chunk at a time, each with the last key before the chunk."""
        query = self._select(table, f"{self._columns(table)[0]}, {table.size}", suffix=f"limit {_MAX_CHUNK_ROWS}")
        after = table.min_key
        while found := await self._connection.fetch(query, after):
            for keys in _split_by_size(found):
                yield after, keys
                after = keys[-1]

    async def keys(self, table: Table, after: Key, last: Key) -> list[Key]:
        """Return the keys from `after`, exclusive, to `last`, inclusive."""
        return [key for (key,) in await self._fetch_range(table, self._columns(table)[:1], after, last)]

    async def rows(self, table: Table, after: Key, last: Key) -> list[Row]:
        """Return the rows with keys from `after`, exclusive, to `last`, inclusive, sorted by key."""
        return await self._fetch_range(table, self._columns(table), after, last)

    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        """Delete the rows with stale keys and insert the new rows, in one transaction."""
        connection, columns = self._connection, self._columns(table)
        if table.is_partitioned and connection.is_postgres:
            columns = ("slot", *columns)
            rows = [(slot_of(row[0]), *row) for row in rows]
        async with connection.transaction():
            delete = f"delete from {table.name} where {self._columns(table)[0]} = $1"
            await connection.execute_many(delete, [(key,) for key in stale])
            await connection.insert(table.name, columns, rows)
            if "number" in columns and connection.is_postgres:
                # New numbers must be greater than the copied ones.
                await connection.fetch(
                    """select setval('login_sends_number', greatest(nextval('login_sends_number'), max(number)))
                       from login_sends"""
                )

    def _columns(self, table: Table) -> tuple[str, ...]:
        is_other_name = table.name == "schedules" and not self._connection.is_postgres
        return ("clock_key", "body") if is_other_name else table.columns

    async def _fetch_range(self, table: Table, columns: tuple[str, ...], after: Key, last: Key) -> list[Row]:
        query = self._select(table, ", ".join(columns), condition=f"and {self._sort_key(table)} <= $2")
        return await self._connection.fetch(query, after, last)

    def _select(self, table: Table, columns: str, condition: str = "", suffix: str = "") -> str:
        key = self._sort_key(table)
        return (
            f"select {columns} from {table.name} where {key} > $1 {condition} and {table.condition} "
            f"order by {key} {suffix}"
        )

    def _sort_key(self, table: Table) -> str:
        key = self._columns(table)[0]
        # Sort by bytes, as SQLite does, in a database of any collation.
        return f'{key} collate "C"' if isinstance(table.min_key, str) and self._connection.is_postgres else key


def _split_by_size(found: list[Row]) -> Iterator[list[Key]]:
    """Take rows of keys and sizes, and yield the keys in chunks of limited size."""
    keys: list[Key] = []
    chunk_size = 0
    for key, size in found:
        keys.append(key)
        chunk_size += size
        if chunk_size >= _MAX_CHUNK_BYTES:
            yield keys
            keys, chunk_size = [], 0
    if keys:
        yield keys
