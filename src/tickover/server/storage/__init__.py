"""Opens the store that a database URL names. The driver of PostgreSQL is imported only if it is used."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from tickover.server.settings import SettingError
from tickover.server.storage.migrations import newest_version
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.store import Store
from tickover.server.storage.urls import describe_error, is_postgres, redact_url, sqlite_path


async def open_store(url: str, max_connections: int = 10, *, for_server: bool = False) -> Store:
    """Open the database, and bring its schema up to date. SQLite ignores `max_connections`.

    With `for_server`, no other server can open a SQLite file. PostgreSQL serves many.
    """
    if is_postgres(url):
        from tickover.server.storage.postgres.store import PostgresStore

        with translate_errors(url):
            return await PostgresStore.open(url, max_connections)
    return await SqliteStore.open(sqlite_path(url), for_server=for_server)


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raise a SettingError that says why the database can't be used."""
    errors: tuple[type[Exception], ...] = OSError, apsw.Error
    if is_postgres(url):
        from tickover.server.storage.postgres.database import URL_ERRORS

        errors = URL_ERRORS
    try:
        yield
    except errors as error:
        raise SettingError(f"Can't use the database {redact_url(url)}: {describe_error(error)}.") from error


def schema_version(url: str) -> int:
    """Return the version of the schema in a database that `open_store` has opened."""
    return newest_version("postgres" if is_postgres(url) else "sqlite")
