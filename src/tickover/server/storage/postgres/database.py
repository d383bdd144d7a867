"""A bounded pool of connections to the PostgreSQL server that accepts writes.

It runs statements with timeouts, and turns failures of the database into rejections.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any, Final

import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage.migrations import missing_migrations
from tickover.server.storage.postgres.session_settings import SessionSettings
from tickover.server.storage.store import Cause, DatabaseUnavailable
from tickover.server.storage.urls import redact_url, split_hosts

DRIVER_ERRORS: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""All errors of the driver, for operators, who can correct the URL or the database."""
URL_ERRORS: Final = (*DRIVER_ERRORS, ValueError)
"""All errors while connecting. The driver raises ValueError for parts of the URL."""

_CONNECT_SECONDS: Final = 3.0
_POOL_WAIT_SECONDS: Final = 3.0
# Longer than the server's statement_timeout, so that the server gives up first and the statement is rolled back.
_COMMAND_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 300.0
_CLOSE_SECONDS: Final = 5.0

# Failures of the database or the network. All other exceptions are bugs.
_DATABASE_ERRORS: Final = (
    OSError,  # includes TimeoutError
    ssl.SSLError,
    asyncpg.InterfaceError,  # the connection is closed
    asyncpg.InternalClientError,  # the server has announced the end of the connection
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # shut down, cancelled, starting up
    asyncpg.InsufficientResourcesError,  # disk full, too many connections
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TransactionRollbackError,
    asyncpg.PostgresSystemError,
    asyncpg.DataCorruptedError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
    # A pooler ran the statement in a session that hasn't prepared it.
    asyncpg.InvalidSQLStatementNameError,
    asyncpg.DuplicatePreparedStatementError,
)

# The connection was lost before the response. It is unknown whether the statement was executed.
_CONNECTION_LOST: Final = (
    ConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)

_CAUSES: Final[list[tuple[Cause, tuple[type[BaseException], ...]]]] = [
    ("disk_full", (asyncpg.DiskFullError,)),
    ("read_only", (asyncpg.ReadOnlySQLTransactionError,)),
    ("lock", (asyncpg.LockNotAvailableError,)),
    ("rolled_back", (asyncpg.TransactionRollbackError,)),
    ("too_many_connections", (asyncpg.TooManyConnectionsError,)),
    ("timeout", (TimeoutError, asyncpg.QueryCanceledError)),
    (
        "connection",
        (
            *(asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresConnectionError),
            *(asyncpg.OperatorInterventionError, ConnectionError, socket.gaierror),
        ),
    ),
    (
        "access",
        (
            *(asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError),
            asyncpg.InsufficientPrivilegeError,
        ),
    ),
    ("io", (asyncpg.PostgresSystemError, asyncpg.DataCorruptedError)),
]
"""The first that fits."""

_MIGRATION_LOCK: Final = 0x7469636B6F766572  # "tickover" in ASCII


class _StatementTimeout(ConnectionError):
    """The server didn't respond to a statement in time."""


class _NoConnection(OSError):
    """No connection was available, so the statement was not sent."""


class Database:
    """Runs statements on one database, over a limited number of connections."""

    _pool: asyncpg.Pool
    """Exists after `open_pool`."""

    def __init__(self, url: str, max_connections: int) -> None:
        self._url = url
        self._hosts = split_hosts(url)
        self._session_settings = SessionSettings(url)
        self._max_connections = max_connections
        self._releases: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Bring the schema up to date. Raise SettingError if the database is unusable, or one of URL_ERRORS."""
        # No timeout: a migration may take long, and so may the wait for another server's migration.
        connection = await self._connect_to_any_host(command_timeout=None, statement_cache_size=0)
        try:
            await self._check(connection)
            await _migrate(connection)
        finally:
            await connection.close()
        await self.open_pool()

    async def open_pool(self) -> None:
        """Open the pool. The database must be checked and up to date. Connections are opened on demand."""
        self._pool = await asyncpg.create_pool(
            connect=self.connect,
            min_size=0,
            max_size=self._max_connections,
            max_inactive_connection_lifetime=_IDLE_SECONDS,
            # Statements don't change the session, so there is nothing to reset.
            reset=_skip_reset,
        )

    async def _check(self, connection: asyncpg.Connection) -> None:
        # Must come first: behind a pooler, settings could reach the sessions of other clients.
        await self._session_settings.check_pooler(connection, lambda: self._connect_to_any_host(statement_cache_size=0))
        await self._session_settings.configure(connection)
        await self._session_settings.check_settings(connection)
        encoding = await connection.fetchval("show server_encoding")
        if encoding != "UTF8":
            raise SettingError(
                f"The database {redact_url(self._url)} has the encoding {encoding}. Create one with the encoding UTF8."
            ) from None
        if await connection.fetchval("select current_schema() is null"):
            raise SettingError(
                f"The database {redact_url(self._url)} has no schema that search_path names. Create the schema, or "
                "correct search_path."
            ) from None

    async def close(self) -> None:
        """Wait for running statements, but not for a database that doesn't respond."""
        try:
            async with asyncio.timeout(_COMMAND_SECONDS):
                await asyncio.gather(*self._releases)
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    def usage(self) -> tuple[int, int]:
        """Return the number of open and of busy connections."""
        return self._pool.get_size(), self._pool.get_size() - self._pool.get_idle_size()

    async def fetch(self, statement: str, *values: object, is_repeatable: bool = False) -> list[Any]:
        """Run one statement, and return its rows. It is committed when this returns.

        A repeatable statement is retried once if its connection is lost. Other statements may have been executed
        then, so they are not retried. A statement that the server rolled back is always retried once.
        """
        try:
            return await self._run(statement, values)
        except _DATABASE_ERRORS as error:
            was_rolled_back = isinstance(error, asyncpg.TransactionRollbackError) and not isinstance(
                error, asyncpg.StatementCompletionUnknownError
            )
            # After a timeout, another wait would be too long.
            was_lost = isinstance(error, _CONNECTION_LOST) and not isinstance(error, _StatementTimeout)
            if not (was_rolled_back or (is_repeatable and was_lost)):
                raise _to_rejection(error) from None
        try:
            return await self._run(statement, values)
        except _DATABASE_ERRORS as error:
            raise _to_rejection(error) from None

    async def fetch_value(self, statement: str, *values: object) -> Any:
        """Run a statement that always returns one row of one column, and return its value."""
        [(value,)] = await self.fetch(statement, *values)
        return value

    async def _run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        try:
            connection = await self._pool.acquire(timeout=_POOL_WAIT_SECONDS)
        except _DATABASE_ERRORS as error:
            raise _NoConnection from error
        is_released_later = False
        try:
            rows: list[Any] = await connection.fetch(statement, *values)
        except (TimeoutError, asyncio.CancelledError) as error:
            is_released_later = True
            self._release_later(connection)
            if isinstance(error, TimeoutError):
                raise _StatementTimeout from error
            raise
        except _CONNECTION_LOST:
            # The driver may have taken the connection back already.
            with suppress(asyncpg.InterfaceError):
                connection.terminate()
            raise
        except asyncpg.ReadOnlySQLTransactionError:
            # This server is no longer the primary. New connections look for the primary.
            await self._pool.expire_connections()
            raise
        finally:
            if not is_released_later:
                await self._pool.release(connection)
        return rows

    def _release_later(self, connection: Any) -> None:
        """Release the connection when the server has cancelled its statement, or doesn't respond.

        Until then the connection counts for the pool's limit. Otherwise waiting sessions would pile up in the server.
        """
        task = asyncio.create_task(self._release(connection))
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    async def _release(self, connection: Any) -> None:
        # On failure, the pool has already terminated the connection.
        with suppress(*_DATABASE_ERRORS):
            await self._pool.release(connection, timeout=_POOL_WAIT_SECONDS)

    async def connect(self, *_: object, **options: Any) -> asyncpg.Connection:
        """Return a connection with a configured session."""
        if self._session_settings.are_pooled:
            options["statement_cache_size"] = 0
        return await self._connect_to_any_host(self._session_settings.configure, **options)

    async def _connect_to_any_host(
        self, configure: Callable[[asyncpg.Connection], Awaitable[None]] | None = None, **options: Any
    ) -> asyncpg.Connection:
        """Connect to the first suitable host, starting with the one that worked last time."""
        options = {"command_timeout": _COMMAND_SECONDS, "server_settings": self._session_settings.startup} | options
        failure: Exception | None = None
        for host in tuple(self._hosts):
            try:
                connection = await _connect(host, configure, _CONNECT_SECONDS / len(self._hosts), options)
            except (*_DATABASE_ERRORS, asyncpg.PostgresError) as error:
                # An error from a server is more useful than another host's timeout.
                failure = failure if isinstance(failure, asyncpg.PostgresError) else error
            else:
                self._hosts.remove(host)
                self._hosts.insert(0, host)
                return connection
        assert failure is not None
        raise failure


@asynccontextmanager
async def open_connection(url: str, command_seconds: float | None = _COMMAND_SECONDS) -> AsyncIterator[Any]:
    """Connect to the database for a command of an operator. Closing doesn't wait for a server that doesn't respond."""
    connection = await Database(url, 1).connect(command_timeout=command_seconds)
    try:
        yield connection
    finally:
        with suppress(*DRIVER_ERRORS):
            await connection.close(timeout=_CLOSE_SECONDS)


async def _connect(
    url: str,
    configure: Callable[[asyncpg.Connection], Awaitable[None]] | None,
    seconds: float,
    options: dict[str, Any],
) -> asyncpg.Connection:
    async with asyncio.timeout(seconds):
        connection: asyncpg.Connection = await asyncpg.connect(
            url,
            # Plans made for nearly empty tables must not live long.
            max_cached_statement_lifetime=60,
            **options,
        )
        with ExitStack() as on_failure:
            on_failure.callback(connection.terminate)
            # Keys are bytes, as in SQLite.
            await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
            if configure is not None:
                await configure(connection)
            on_failure.pop_all()
    return connection


async def _skip_reset(_: asyncpg.Connection) -> None:
    pass


async def read_schema_version(connection: asyncpg.Connection) -> int:
    """Return the number of the last applied migration, or 0."""
    # Only in the current schema, not in later ones of the search path.
    exists = await connection.fetchval("select to_regclass(format('%I.schema_version', current_schema())) is not null")
    version: int = await connection.fetchval("select max(number) from schema_version") if exists else 0
    return version


async def _migrate(connection: asyncpg.Connection) -> None:
    """Apply pending migrations, one transaction each. Other servers may do the same at the same time."""
    while True:
        async with connection.transaction():
            await connection.execute("set local statement_timeout = 0; set local lock_timeout = 0")
            await connection.execute(f"select pg_advisory_xact_lock({_MIGRATION_LOCK})")
            version = await read_schema_version(connection)
            missing = missing_migrations("postgres", version)
            if not missing:
                return
            if version == 0:
                await connection.execute("create table schema_version (number integer not null primary key)")
            await connection.execute(missing[0].sql)
            await connection.execute("insert into schema_version values ($1)", missing[0].number)


def _to_rejection(failure: Exception) -> Exception:
    # The driver also raises InterfaceError for a value that it can't encode. That is a bug.
    if isinstance(failure, asyncpg.InterfaceError) and isinstance(failure, ValueError):
        return failure
    if isinstance(failure, _CONNECTION_LOST):
        message = "The connection to the database was lost. The call may or may not have been executed."
    else:
        message = "The database is not responding."
    error = failure.__cause__ or failure
    return DatabaseUnavailable(cause_of(error), error, message)


def cause_of(error: BaseException) -> Cause:
    return next((cause for cause, kinds in _CAUSES if isinstance(error, kinds)), "other")
