"""The two ends of a copy: the same tables, keys and rows, whatever database they are in.

A row is a tuple with its key first. Keys and digests are bytes, instants and yes or no are whole numbers, so that equal
data gives equal rows from every database. What is a database's own, such as letters that were never sent, is left out.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import asyncpg
from msgspec import Struct

from tickover.server.settings import SettingError
from tickover.server.storage import is_postgres, shown
from tickover.server.storage.migrations import migrations, pending
from tickover.server.storage.postgres.connections import Connections, said, version_of
from tickover.server.storage.postgres.store import slot_of
from tickover.server.storage.sqlite.writer import immediate

SQLITE: Final = "sqlite:///"
Key = bytes | str
Row = tuple[Any, ...]
_T = TypeVar("_T")

# All that a database or the way to it can say. A person can mend it, or run the copy again.
TROUBLES: Final = (OSError, apsw.Error, asyncpg.PostgresError, asyncpg.InterfaceError)

# A chunk is one transaction, and both ends' rows of it are in memory at once.
_MAX_ROWS: Final = 5000
_MAX_BYTES: Final = 4_000_000
_LOCK_WAIT_MILLISECONDS: Final = 5000
_CLOSE_SECONDS: Final = 5.0


class Table(Struct, frozen=True):
    name: str
    columns: tuple[str, ...]
    """The key first."""
    before_all: Key
    """Every key sorts after this."""
    copied: str = "true"
    """What holds for a row that is not the database's own."""
    size: str = "0"
    """About how many bytes a row has, where that can be many."""
    has_slots: bool = False
    """Whether it is parted by the day of birth in PostgreSQL."""


# In this order an unfinished copy is whole as far as it goes: a clock has its schedule, a code what counts against it.
TABLES: Final = (
    Table("users", ("key", "email", "created_at"), bytes(16)),
    Table("tokens", ("digest", "user_key", "expires_at"), b""),
    Table("schedules", ("key", "body"), bytes(16), size="length(body)", has_slots=True),
    Table("clocks", ("key", "owner", "start_time", "frozen_time", "max_time", "bytes"), bytes(16), has_slots=True),
    Table("creations", ("digest", "params", "clock_key"), b""),
    Table("login_failures", ("email", "count"), "", copied="email like '%@%'"),
    Table(
        "login_sends",
        ("digest", "email", "kind", "sent_at", "expires_at", "network", "tries", "spent", "holds_slot", "number"),
        b"",
        copied="email <> ''",
    ),
)


class CopyEnd(ABC):
    """One database that is copied from or to."""

    dialect: str

    async def count(self, table: Table) -> int:
        [(count,)] = await self._fetch(f"select count(*) from {table.name} where {table.copied}")
        return int(count)

    async def chunks(self, table: Table) -> AsyncIterator[tuple[Key, list[Key]]]:
        """All keys in their order, as many at a time as a chunk has, each time with the key that they come after."""
        asked = self._select(table, f"{self._columns(table)[0]}, {table.size}", more=f"limit {_MAX_ROWS}")
        after = table.before_all
        while found := await self._fetch(asked, after):
            for keys in _cut(found):
                yield after, keys
                after = keys[-1]

    async def keys(self, table: Table, after: Key, last: Key) -> list[Key]:
        """Those in a span of keys, its last one included."""
        return [key for (key,) in await self._span(table, self._columns(table)[:1], after, last)]

    async def rows(self, table: Table, after: Key, last: Key) -> list[Row]:
        """All of a span of keys, in the order of the keys."""
        return await self._span(table, self._columns(table), after, last)

    @abstractmethod
    async def prepare(self) -> int:
        """Make the connection fit for a copy; the version of the database's schema."""

    @abstractmethod
    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        """Delete the rows with stale keys and keep the new ones, in one transaction."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    async def _fetch(self, statement: str, *values: Key) -> list[Row]: ...

    def _columns(self, table: Table) -> tuple[str, ...]:
        return table.columns

    def _sorted_by(self, table: Table) -> str:
        return self._columns(table)[0]

    async def _span(self, table: Table, columns: tuple[str, ...], after: Key, last: Key) -> list[Row]:
        asked = self._select(table, ", ".join(columns), where=f"and {self._sorted_by(table)} <= $2")
        return await self._fetch(asked, after, last)

    def _select(self, table: Table, what: str, where: str = "", more: str = "") -> str:
        key = self._sorted_by(table)
        return f"select {what} from {table.name} where {key} > $1 {where} and {table.copied} order by {key} {more}"


def _cut(found: list[Row]) -> Iterator[list[Key]]:
    """The keys among keys and sizes, in pieces that are small enough."""
    keys: list[Key] = []
    size = 0
    for key, its_size in found:
        keys.append(key)
        size += its_size
        if size >= _MAX_BYTES:
            yield keys
            keys, size = [], 0
    if keys:
        yield keys


class SqliteCopyEnd(CopyEnd):
    """Works in a thread of its own, so that a chunk that was begun is finished even if nobody waits for it."""

    dialect = "sqlite"

    def __init__(self, path: Path, only_reads: bool) -> None:
        mode = apsw.SQLITE_OPEN_READONLY if only_reads else apsw.SQLITE_OPEN_READWRITE
        self._connection = apsw.Connection(str(path), mode)
        self._thread = ThreadPoolExecutor(1, "tickover-copy")

    async def prepare(self) -> int:
        self._connection.set_busy_timeout(_LOCK_WAIT_MILLISECONDS)
        version: int = self._connection.pragma("user_version")
        return version

    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        columns = self._columns(table)
        delete = f"delete from {table.name} where {columns[0]} = ?"
        insert = f"insert into {table.name} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"

        def job() -> None:
            with immediate(self._connection):
                self._connection.executemany(delete, [(key,) for key in stale])
                self._connection.executemany(insert, rows)

        await self._run(job)

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown()

    async def _fetch(self, statement: str, *values: Key) -> list[Row]:
        return await self._run(lambda: self._connection.execute(statement.replace("$", "?"), values).fetchall())

    def _columns(self, table: Table) -> tuple[str, ...]:
        return ("clock_key", "body") if table.name == "schedules" else table.columns

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)


class PostgresCopyEnd(CopyEnd):
    """Rows come in the order of an index, and go by COPY."""

    dialect = "postgres"

    def __init__(self, connection: asyncpg.Connection, only_reads: bool) -> None:
        self._connection = connection
        self._only_reads = only_reads

    async def prepare(self) -> int:
        connection = self._connection
        # A copy may take its time. A plan that sorts may be good while a table is empty, and is kept while it fills.
        await connection.execute(
            """set statement_timeout = 0; set idle_in_transaction_session_timeout = 0;
               set enable_bitmapscan = off; set enable_sort = off"""
        )
        if self._only_reads:
            await connection.execute("set default_transaction_read_only = on")
        await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
        await connection.set_type_codec(
            "bool", schema="pg_catalog", encoder=lambda yes: bytes((yes,)), decoder=ord, format="binary"
        )
        await self._lock()
        return await version_of(connection)

    async def _lock(self) -> None:
        """Any number may copy from a database at a time, and only one to it; then it is not the source either."""
        shared = "_shared" if self._only_reads else ""
        if not await self._connection.fetchval(
            f"select pg_try_advisory_lock{shared}(6, pg_catalog.hashtext(current_schema()::text))"
        ):
            raise SettingError("The target is the source itself, or another copy from or to it is at work.")

    async def replace(self, table: Table, stale: Sequence[Key], rows: Sequence[Row]) -> None:
        async with self._connection.transaction():
            if stale:
                delete = f"delete from {table.name} where {table.columns[0]} = $1"
                await self._connection.executemany(delete, [(key,) for key in stale])
            await self._connection.copy_records_to_table(
                table.name,
                records=[(slot_of(row[0]), *row) for row in rows] if table.has_slots else rows,
                columns=("slot", *table.columns) if table.has_slots else table.columns,
            )
            if "number" in table.columns:
                # Numbers that are given from now on are greater than those that were copied.
                await self._connection.execute(
                    """select setval('login_sends_number', greatest(nextval('login_sends_number'), max(number)))
                       from login_sends"""
                )

    async def close(self) -> None:
        # A server that is gone need not be told.
        with suppress(*TROUBLES):
            await self._connection.close(timeout=_CLOSE_SECONDS)

    async def _fetch(self, statement: str, *values: Key) -> list[Row]:
        return [tuple(row) for row in await self._connection.fetch(statement, *values)]

    def _sorted_by(self, table: Table) -> str:
        # By bytes, as SQLite does, whatever the language of the database is.
        return f'{table.columns[0]} collate "C"' if isinstance(table.before_all, str) else table.columns[0]


def path_of(url: str) -> Path:
    """The file that an SQLite URL names."""
    return Path(url.removeprefix(SQLITE))


@asynccontextmanager
async def opened(url: str, only_reads: bool) -> AsyncIterator[CopyEnd]:
    """The database that the URL names, which must be there and at the newest schema; SettingError otherwise."""
    with _naming(url):
        end = await _connected(url, only_reads)
    try:
        with _naming(url):
            version = await end.prepare()
        if pending(migrations(end.dialect), version):
            raise SettingError(
                f"The database {shown(url)} is not at the newest schema: start this Tickover on it once, and copy then."
            )
        yield end
    finally:
        await end.close()


async def _connected(url: str, only_reads: bool) -> CopyEnd:
    if is_postgres(url):
        if "pool_mode=transaction" in url:
            raise SettingError("A copy needs sessions of its own. Name the database itself, not a pooler.")
        return PostgresCopyEnd(await Connections(url, 1).connect(command_timeout=None), only_reads)
    return SqliteCopyEnd(path_of(url), only_reads)


@contextmanager
def _naming(url: str) -> Iterator[None]:
    try:
        yield
    except (*TROUBLES, asyncpg.ClientConfigurationError, ValueError) as error:
        raise SettingError(f"The database {shown(url)} cannot be used: {said(error)}.") from None
