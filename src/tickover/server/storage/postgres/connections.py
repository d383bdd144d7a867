"""Connections to PostgreSQL: a bounded pool with bounded waits, and what a failure of the database means to a caller.

It knows how to reach the server that takes writes, and nothing of what is written.
"""

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import asyncpg

from tickover.api.errors import unavailable
from tickover.server.settings import SettingError
from tickover.server.storage.migrations import migrations, pending
from tickover.server.storage.postgres.sessions import Sessions

_CONNECT_SECONDS: Final = 3.0
_WAIT_SECONDS: Final = 3.0
# Longer than a statement may take: the server gives up first, and then it is known that nothing has happened.
_ANSWER_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 300.0

# What can befall any database; all else is a fault of ours.
_AWAY: Final = (
    OSError,  # also TimeoutError
    ssl.SSLError,
    asyncpg.InterfaceError,  # the connection is closed
    asyncpg.InternalClientError,  # it is about to be: the server has said so, and the end of it is not here yet
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
    # A pooler has lent another session than the one that knows the statement.
    asyncpg.InvalidSQLStatementNameError,
    asyncpg.DuplicatePreparedStatementError,
)

# The connection ended before the statement was answered.
_LOST: Final = (
    ConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)

_MIGRATING: Final = 0x7469636B6F766572  # "tickover": a lock of the whole database needs a number of its own


class _Unanswered(ConnectionError):
    """The statement is on its way, and no answer came in time."""


class _NotReached(OSError):
    """There was no connection to be had, so nothing has happened."""


class Connections:
    """Statements to one database, over at most so many connections."""

    def __init__(self, url: str, limit: int) -> None:
        self._url = url
        self._hosts = _one_url_a_host(url)
        self._sessions = Sessions(url, shown(url))
        self._limit = limit
        self._pool: asyncpg.Pool | None = None
        self._giving_back: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Bring the schema up to date; SettingError when the database is not to be had or not to be used."""
        try:
            # A migration may take its time, and so may another server's that has to be waited for.
            connection = await self._reach(command_timeout=None, statement_cache_size=0)
            try:
                await self._check(connection)
                await _migrate(connection)
            finally:
                await connection.close()
        except (*_AWAY, asyncpg.PostgresError, asyncpg.ClientConfigurationError, ValueError) as error:
            raise SettingError(f"The database {shown(self._url)} cannot be used: {said(error)}.") from None
        self._pool = await asyncpg.create_pool(
            connect=self.connect,
            min_size=0,
            max_size=self._limit,
            max_inactive_connection_lifetime=_IDLE_SECONDS,
            # Nothing that we do leaves a trace in a session, so there is nothing to undo between two statements.
            reset=_leave_as_it_is,
        )

    async def _check(self, connection: asyncpg.Connection) -> None:
        # First of all: settings would reach the sessions of others if a pooler lends them.
        await self._sessions.check_pooler(connection, lambda: self._reach(statement_cache_size=0))
        await self._sessions.set_up(connection)
        await self._sessions.check_settings(connection)
        encoding = await connection.fetchval("show server_encoding")
        if encoding != "UTF8":
            raise SettingError(f"The database {shown(self._url)} is in {encoding}; it must be in UTF8.") from None
        if await connection.fetchval("select current_schema() is null"):
            sentence = f"The database {shown(self._url)} has no schema of the name that search_path gives."
            raise SettingError(sentence) from None

    async def close(self) -> None:
        """Wait for statements on their way, but not for a database that is away."""
        assert self._pool is not None
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await asyncio.gather(*self._giving_back)
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def fetch(self, statement: str, *values: object, only_reads: bool = False) -> list[Any]:
        """The rows that one statement gives; it is committed when this returns.

        What only reads is repeated once on another connection if its own was lost. Whether what writes has happened is
        not known then, so it is not repeated.
        """
        try:
            return await self._run(statement, values)
        except _AWAY as error:
            # After a rollback it is known that nothing has happened.
            undone = isinstance(error, asyncpg.TransactionRollbackError) and not isinstance(
                error, asyncpg.StatementCompletionUnknownError
            )
            # One that got no answer has waited long enough.
            lost = isinstance(error, _LOST) and not isinstance(error, _Unanswered)
            if not (undone or (only_reads and lost)):
                raise _to_rejection(error) from error.__cause__ or error
        try:
            return await self._run(statement, values)
        except _AWAY as error:
            raise _to_rejection(error) from error.__cause__ or error

    async def fetch_row(self, statement: str, *values: object) -> Any:
        """The one row of a statement that always gives one."""
        return (await self.fetch(statement, *values))[0]

    async def _run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        assert self._pool is not None
        try:
            connection = await self._pool.acquire(timeout=_WAIT_SECONDS)
        except _AWAY as error:
            raise _NotReached from error
        later = False
        try:
            rows: list[Any] = await connection.fetch(statement, *values)
        except (TimeoutError, asyncio.CancelledError) as error:
            later = True
            self._give_back_later(connection)
            if isinstance(error, TimeoutError):
                raise _Unanswered from error
            raise
        except _LOST:
            connection.terminate()
            raise
        except asyncpg.ReadOnlySQLTransactionError:
            # This server no longer takes writes: look for the one that does.
            await self._pool.expire_connections()
            raise
        finally:
            if not later:
                await self._pool.release(connection)
        return rows

    def _give_back_later(self, connection: Any) -> None:
        """Keep the connection's place in the pool until the server has given up what it does, or does not answer.

        The driver has asked it to. If it were simply left, and another made in its place, sessions that wait for
        something would pile up in the server.
        """
        task = asyncio.create_task(self._give_back(connection))
        self._giving_back.add(task)
        task.add_done_callback(self._giving_back.discard)

    async def _give_back(self, connection: Any) -> None:
        assert self._pool is not None
        # If it fails, the pool has ended the connection itself.
        with suppress(*_AWAY):
            await self._pool.release(connection, timeout=_WAIT_SECONDS)

    async def connect(self, *_: object, **options: Any) -> asyncpg.Connection:
        """A connection whose session is set up."""
        if self._sessions.are_lent:
            options["statement_cache_size"] = 0
        return await self._reach(self._sessions.set_up, **options)

    async def _reach(
        self, set_up: Callable[[asyncpg.Connection], Awaitable[None]] | None = None, **options: Any
    ) -> asyncpg.Connection:
        """Connect to the first host that will do, beginning with the one that did last time."""
        options = {"command_timeout": _ANSWER_SECONDS, "server_settings": self._sessions.startup} | options
        failure: Exception | None = None
        for host in tuple(self._hosts):
            try:
                connection = await _connect(host, set_up, _CONNECT_SECONDS / len(self._hosts), options)
            except (*_AWAY, asyncpg.PostgresError) as error:
                # What a server says is worth more than that another did not answer.
                failure = failure if isinstance(failure, asyncpg.PostgresError) else error
            else:
                self._hosts.remove(host)
                self._hosts.insert(0, host)
                return connection
        assert failure is not None
        raise failure


async def _connect(
    url: str,
    set_up: Callable[[asyncpg.Connection], Awaitable[None]] | None,
    seconds: float,
    options: dict[str, Any],
) -> asyncpg.Connection:
    async with asyncio.timeout(seconds):
        connection: asyncpg.Connection = await asyncpg.connect(
            url,
            # A plan that was made while a table was nearly empty is not kept for long.
            max_cached_statement_lifetime=60,
            **options,
        )
        done = False
        try:
            if set_up is not None:
                await set_up(connection)
            done = True
        finally:
            if not done:
                connection.terminate()
    return connection


def shown(url: str) -> str:
    """The URL as it may be printed."""
    address = _split(url)
    if not address.password:
        return url.partition("?")[0]
    hosts = address.netloc.rpartition("@")[2]
    return f"{address.scheme}://{address.username}:***@{hosts}{address.path}"


def _one_url_a_host(url: str) -> list[str]:
    """The driver would try one host after the other too, but give up at the first that answers and does not serve."""
    address = _split(url)
    user, separator, hosts = address.netloc.rpartition("@")
    several = hosts.split(",")
    query = dict(parse_qsl(address.query))
    # Others know it, but the driver would take it for a setting of the server; and our waits are bounded already.
    query.pop("connect_timeout", None)
    query.pop("pool_mode", None)
    if len(several) > 1:
        query.setdefault("target_session_attrs", "read-write")
    address = address._replace(query=urlencode(query))
    return [address._replace(netloc=f"{user}{separator}{host}").geturl() for host in several]


def _split(url: str) -> SplitResult:
    """The parts of the URL. Where they cannot be told from each other, none is shown: one may be the password."""
    try:
        # Python 3.14 refuses IPv6 addresses among several hosts, so the hosts are split off and read one by one.
        scheme, separator, rest = url.partition("://")
        netloc = re.split("[/?#]", rest, maxsplit=1)[0]
        address = urlsplit(f"{scheme}{separator}{rest.removeprefix(netloc)}")._replace(netloc=netloc)
        user, _, hosts = netloc.rpartition("@")
        if "[" in user or "]" in user:
            raise ValueError
        for host in hosts.split(","):
            _ = urlsplit(f"//{host}").port  # which is refused if it is none
        if "@" in f"{user}{address.path}{address.query}" or "#" in url:
            raise ValueError
    except ValueError:
        raise SettingError(
            "TICKOVER_DATABASE_URL must look like postgresql://user:password@host:5432/database, with characters such "
            "as @, :, /, ?, # and [ in user and password percent-encoded."
        ) from None
    return address


async def _leave_as_it_is(_: asyncpg.Connection) -> None:
    pass


async def version_of(connection: asyncpg.Connection) -> int:
    """The number of the last migration that was applied; 0 when there was none."""
    # In our own schema, not in one that only comes after it in the search path.
    exists = await connection.fetchval("select to_regclass(format('%I.schema_version', current_schema())) is not null")
    version: int = await connection.fetchval("select max(number) from schema_version") if exists else 0
    return version


async def _migrate(connection: asyncpg.Connection) -> None:
    """Apply what is missing, each migration in a transaction of its own; other servers may be doing the same."""
    known = migrations("postgres")
    while True:
        async with connection.transaction():
            await connection.execute("set local statement_timeout = 0; set local lock_timeout = 0")
            await connection.execute(f"select pg_advisory_xact_lock({_MIGRATING})")
            version = await version_of(connection)
            missing = pending(known, version)
            if not missing:
                return
            if version == 0:
                await connection.execute("create table schema_version (number integer not null primary key)")
            await connection.execute(missing[0].sql)
            await connection.execute("insert into schema_version values ($1)", missing[0].number)


def _to_rejection(failure: Exception) -> Exception:
    # The driver's word for a value that it cannot send is an InterfaceError too, and that is a fault of ours.
    if isinstance(failure, asyncpg.InterfaceError) and isinstance(failure, ValueError):
        return failure
    if isinstance(failure, _LOST):
        return unavailable("The database went away just now, and it is not known whether this was done.")
    return unavailable("The database does not answer just now.")


def said(error: Exception) -> str:
    """What the database said, as the end of a sentence; some errors of the network say nothing."""
    first_line = str(error).strip().partition("\n")[0]
    otherwise = "it does not answer" if isinstance(error, TimeoutError) else type(error).__name__
    return first_line.rstrip(".") or otherwise
