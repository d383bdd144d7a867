"""The interfaces of a copy: `CopySource`, `CopyTarget` and the tables that both have.

A row is a tuple that starts with its key. Keys and digests are bytes; timestamps and booleans are integers. So equal
data gives equal rows in every kind of database. A copy omits rows that only one database needs, for example decoy rows,
which attempts without a live code change.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

Key = bytes | str
Row = tuple[Any, ...]

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
    Table("login_failures", ("email", "count"), "", condition="email like '%@%'"),
    Table(
        "login_sends",
        ("digest", "email", "kind", "sent_at", "expires_at", "network", "tries", "spent", "holds_slot", "number"),
        b"",
        condition="email <> ''",
    ),
)


class CopySource(ABC):
    """A database that a copy reads."""

    dialect: str

    async def count(self, table: Table) -> int:
        [(count,)] = await self._fetch(f"select count(*) from {table.name} where {table.condition}")
        return int(count)

    async def chunks(self, table: Table) -> AsyncIterator[tuple[Key, list[Key]]]:
        """Yield all keys in order, one chunk at a time, each with the last key before the chunk."""
        query = self._select(table, f"{self._columns(table)[0]}, {table.size}", suffix=f"limit {_MAX_CHUNK_ROWS}")
        after = table.min_key
        while found := await self._fetch(query, after):
            for keys in _split_by_size(found):
                yield after, keys
                after = keys[-1]

    async def keys(self, table: Table, after: Key, last: Key) -> list[Key]:
        """Return the keys from `after`, exclusive, to `last`, inclusive."""
        return [key for (key,) in await self._fetch_range(table, self._columns(table)[:1], after, last)]

    async def rows(self, table: Table, after: Key, last: Key) -> list[Row]:
        """Return the rows with keys from `after`, exclusive, to `last`, inclusive, sorted by key."""
        return await self._fetch_range(table, self._columns(table), after, last)

    @abstractmethod
    async def prepare(self) -> int:
        """Configure the connection, and return the version of the schema."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    async def _fetch(self, statement: str, *values: Key) -> list[Row]: ...

    def _columns(self, table: Table) -> tuple[str, ...]:
        return table.columns

    def _sort_key(self, table: Table) -> str:
        return self._columns(table)[0]

    async def _fetch_range(self, table: Table, columns: tuple[str, ...], after: Key, last: Key) -> list[Row]:
        query = self._select(table, ", ".join(columns), condition=f"and {self._sort_key(table)} <= $2")
        return await self._fetch(query, after, last)

    def _select(self, table: Table, columns: str, condition: str = "", suffix: str = "") -> str:
        key = self._sort_key(table)
        return (
            f"select {columns} from {table.name} where {key} > $1 {condition} and {table.condition} "
            f"order by {key} {suffix}"
        )


class CopyTarget(CopySource):
    """A database that a copy reads and writes."""

    @abstractmethod
    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        """Delete the rows with stale keys and insert the new rows, in one transaction."""


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
