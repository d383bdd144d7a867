"""Opens the store that a database URL names."""

from pathlib import Path

from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations
from tickover.server.storage.postgres import connections
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Store

_POSTGRES_PREFIXES = ("postgresql://", "postgres://")


async def open_store(url: str, max_connections: int = 10) -> Store:
    """Open the database, and bring its schema up to date. SQLite ignores `max_connections`."""
    if is_postgres(url):
        return await PostgresStore.open(url, max_connections)
    scheme, separator, path = url.partition(":///")
    # With ":memory:", every connection would have a separate database.
    if scheme != "sqlite" or not separator or path in ("", ":memory:"):
        raise SettingError(
            "TICKOVER_DATABASE_URL must look like sqlite:///path/to/file.db or postgresql://user:password@host/database."
        )
    return await SqliteStore.open(Path(path))


def is_postgres(url: str) -> bool:
    return url.startswith(_POSTGRES_PREFIXES)


def schema_version(url: str) -> int:
    """Return the version of the schema in a database that `open_store` has opened."""
    return migrations("postgres" if is_postgres(url) else "sqlite")[-1].number


def redact_url(url: str) -> str:
    """Return the URL without its password and query."""
    return connections.redact_url(url) if is_postgres(url) else url
