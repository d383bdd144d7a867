"""Stores: each keeps the promises of `storage.store.Store` in one kind of database."""

from pathlib import Path

from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations
from tickover.server.storage.postgres import connections
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Store

_POSTGRES = ("postgresql://", "postgres://")


async def open_store(url: str, most_connections: int = 10) -> Store:
    """Open the database that the URL names, and bring its schema up to date.

    `most_connections` is for PostgreSQL; SQLite has one writer, and needs no more.
    """
    if is_postgres(url):
        return await PostgresStore.open(url, most_connections)
    scheme, separator, path = url.partition(":///")
    # In memory, every connection would have a database of its own.
    if scheme != "sqlite" or not separator or path in ("", ":memory:"):
        raise SettingError(
            "TICKOVER_DATABASE_URL must look like sqlite:///path/to/file.db or postgresql://user:password@host/database."
        )
    return await SqliteStore.open(Path(path))


def is_postgres(url: str) -> bool:
    return url.startswith(_POSTGRES)


def schema_version(url: str) -> int:
    """The version of the schema in a database that `open_store` has opened."""
    return migrations("postgres" if is_postgres(url) else "sqlite")[-1].number


def shown(url: str) -> str:
    """The URL as it may be printed."""
    return connections.shown(url) if is_postgres(url) else url
