"""Opens the store that a database URL names. The driver of PostgreSQL is imported only if it is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Store

_POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")


async def open_store(url: str, max_connections: int = 10) -> Store:
    """Open the database, and bring its schema up to date. SQLite ignores `max_connections`."""
    if is_postgres(url):
        from tickover.server.storage.postgres.store import PostgresStore

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


def sqlite_path(url: str) -> Path:
    return Path(url.partition(":///")[2])


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raise a SettingError for errors of the database."""
    try:
        yield
    except _database_errors(url) as error:
        raise SettingError(f"Can't use the database {redact_url(url)}: {describe_error(error)}.") from error


def _database_errors(url: str) -> tuple[type[Exception], ...]:
    if not is_postgres(url):
        return OSError, apsw.Error
    import asyncpg

    return OSError, ValueError, asyncpg.ClientConfigurationError, asyncpg.PostgresError, asyncpg.InterfaceError


def describe_error(error: Exception) -> str:
    """Return the first line of the error without a full stop. Network errors without a message get a description."""
    first_line = str(error).strip().partition("\n")[0]
    default = "it is not responding" if isinstance(error, TimeoutError) else type(error).__name__
    return first_line.rstrip(".") or default


def schema_version(url: str) -> int:
    """Return the version of the schema in a database that `open_store` has opened."""
    return migrations("postgres" if is_postgres(url) else "sqlite")[-1].number


def redact_url(url: str) -> str:
    """Return the URL without its password and query."""
    if not is_postgres(url):
        return url
    from tickover.server.storage.postgres import connections

    return connections.redact_url(url)
