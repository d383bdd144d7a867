"""Opens the store that a database URL names. The driver of PostgreSQL is imported only if it is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from tickover.server.setting_values import POSTGRES_PREFIXES, SQLITE_PREFIX, database_url
from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations
from tickover.server.storage.postgres import urls
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Store


async def open_store(url: str, max_connections: int = 10) -> Store:
    """Open the database, and bring its schema up to date. SQLite ignores `max_connections`."""
    check_url("TICKOVER_DATABASE_URL", url)
    if is_postgres(url):
        from tickover.server.storage.postgres.store import PostgresStore

        return await PostgresStore.open(url, max_connections)
    return await SqliteStore.open(sqlite_path(url))


def check_url(name: str, url: str) -> None:
    """Raise SettingError if the URL is that of no database. The message has no part of it, which may be a password."""
    try:
        database_url(url)
    except ValueError as error:
        raise SettingError(f"{name} {error}.") from None


def is_postgres(url: str) -> bool:
    return url.startswith(POSTGRES_PREFIXES)


def sqlite_path(url: str) -> Path:
    return Path(url.removeprefix(SQLITE_PREFIX))


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
    from tickover.server.storage.postgres.connections import DRIVER_ERRORS

    return *DRIVER_ERRORS, ValueError


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
    return url if url.startswith(SQLITE_PREFIX) else urls.redact_url(url)
