"""The users of a database, for commands of operators. They use a connection of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg
from msgspec import Struct

from tickover.api.ids import first_live_key
from tickover.api.timestamps import Instant, from_micros, to_micros
from tickover.server.settings import SettingError
from tickover.server.storage import translate_errors
from tickover.server.storage.admin.admin_connection import AdminConnection, Row, open_admin_connection
from tickover.server.storage.postgres.rules import FORCE_LOCK
from tickover.server.storage.rows import MAX_KEY
from tickover.server.storage.rules.steps import address_lock, owner_lock

_SELECT: Final = "select key, email, created_at from users"
_TOKENS: Final = "select count(*) from tokens where expires_at > $2 and token_key"
_DETAILS: Final = f"""
    select
      (select count(*) from clocks where owner = $1 and key >= $3),
      (select coalesce(sum(bytes), 0) from clocks where owner = $1 and key >= $3),
      ({_TOKENS} is null and user_key = $1),
      ({_TOKENS} is not null and user_key = $1)"""
_CLOCKS: Final = "(select key from clocks where owner = $1)"


class User(Struct, frozen=True):
    key: bytes
    email: str
    created_at: Instant


class UserDetails(Struct, frozen=True, rename="camel"):
    """Counts of a user's rows that have not expired."""

    clocks: int
    bytes: int
    sessions: int
    access_tokens: int


class Deleted(Struct, frozen=True, rename="camel"):
    """The rows that were deleted with a user, expired ones included."""

    clocks: int
    tokens: int
    emails: int
    idempotency_records: int


class Users:
    """The users of one database. Each method is one transaction, except `delete`."""

    def __init__(self, url: str, connection: AdminConnection) -> None:
        self.url = url
        self._connection = connection

    async def page(self, last: User | None, size: int) -> list[User]:
        """Return the next users after `last`, newest first."""
        query = f"{_SELECT} where key < $1 order by key desc limit $2"
        return [_user(row) for row in await self._read(query, last.key if last else MAX_KEY, size)]

    async def find(self, name: str | bytes) -> User | None:
        """Return the user with this email address or key."""
        column = "key" if isinstance(name, bytes) else "email"
        rows = await self._read(f"{_SELECT} where {column} = $1", name)
        return _user(rows[0]) if rows else None

    async def describe(self, user: User, now: Instant) -> UserDetails:
        [row] = await self._read(_DETAILS, user.key, to_micros(now), first_live_key(now))
        return UserDetails(*row)

    async def revoke_sessions(self, user: User, *, and_access_tokens: bool) -> int:
        """Make the tokens of the user invalid, and return their number."""
        condition = "true" if and_access_tokens else "token_key is null"
        async with self._transaction() as db:
            return len(await db.fetch(f"delete from tokens where user_key = $1 and {condition} returning 1", user.key))

    async def delete(self, user: User) -> Deleted | None:
        """Delete the user and all of the user's data. Return None if the user doesn't exist.

        After the first of its two transactions, no token and no connection gives access to the clocks.
        """
        async with self._transaction() as db:
            if db.is_postgres:
                await self._lock_out(user)
            if not await db.fetch("delete from users where key = $1 returning 1", user.key):
                return None
            tokens = await db.fetch("delete from tokens where user_key = $1 returning 1", user.key)
            emails = await db.fetch("delete from login_emails where email = $1 returning 1", user.email)
            await db.fetch("delete from login_failures where email = $1", user.email)
            await db.fetch(f"delete from connections where clock_key in {_CLOCKS}", user.key)
            await db.fetch("delete from link_tokens where user_key = $1", user.key)
        try:
            async with self._transaction() as db:
                records = await db.fetch(f"delete from creations where clock_key in {_CLOCKS} returning 1", user.key)
                await db.fetch(f"delete from schedules where clock_key in {_CLOCKS}", user.key)
                clocks = await db.fetch("delete from clocks where owner = $1 returning 1", user.key)
        except SettingError as error:
            raise SettingError(f"{error} The user was deleted. The clocks are deleted when they expire.") from None
        return Deleted(len(clocks), len(tokens), len(emails), len(records))

    async def _lock_out(self, user: User) -> None:
        """Wait for running writes of the user. Until the transaction ends, no other starts.

        A call or sign-in that has read before the transaction, and would write after it, starts again. In SQLite, the
        transaction locks the whole file.
        """
        try:
            for lock in (address_lock(user.email, user.created_at), owner_lock(user.key)):
                await self._connection.fetch(FORCE_LOCK, lock.name, lock.used_at)
        except asyncpg.LockNotAvailableError:
            raise SettingError("The database is too busy. Nothing was deleted. Try again.") from None

    async def _read(self, statement: str, *values: object) -> list[Row]:
        if self._connection.is_postgres:
            async with self._transaction() as db:
                return await db.fetch(statement, *values)
        # Without a transaction, so that servers can write to SQLite.
        with translate_errors(self.url):
            return await self._connection.fetch(statement, *values)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AdminConnection]:
        with translate_errors(self.url):
            async with self._connection.transaction():
                yield self._connection


@asynccontextmanager
async def open_users(url: str) -> AsyncIterator[Users]:
    """Connect to an existing database. Raise SettingError if it can't be used."""
    async with open_admin_connection(url) as connection:
        yield Users(url, connection)


def _user(row: Row) -> User:
    key, email, created_at = row
    return User(key, email, from_micros(created_at))
