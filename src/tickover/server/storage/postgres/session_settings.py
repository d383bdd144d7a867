"""Configures PostgreSQL sessions, and checks that a pooler in front of the server keeps their settings."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

import asyncpg

from tickover.server.settings import SettingError
from tickover.server.storage.urls import redact_url

# Settings of each session. The URL can override them. Values are in the form that PostgreSQL returns.
SETTINGS: Final = {
    "statement_timeout": "4s",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "10s",
    # A statement that waited for another one must see what that one committed, whatever the database's default is.
    "default_transaction_isolation": "read committed",
    # Every statement looks up rows by key. Without these settings, a plan made for empty tables would scan them later.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_CURRENT_SETTINGS: Final = "select name, current_setting(name) from unnest($1::text[]) as name"
_BACKEND_PID: Final = "select pg_backend_pid()"


class SessionSettings:
    """The sessions of one URL. With `pool_mode=transaction`, each transaction may run in another session."""

    def __init__(self, url: str) -> None:
        self._database = f"The database {redact_url(url)}"
        parameters = dict(parse_qsl(url.partition("?")[2]))
        pool_mode = parameters.get("pool_mode", "session")
        if pool_mode not in ("session", "transaction"):
            raise SettingError(f"pool_mode in TICKOVER_DATABASE_URL must be session or transaction, not {pool_mode!r}.")
        self.are_pooled = pool_mode == "transaction"
        """True if a pooler assigns a session to each transaction."""
        self._settings = {name: value for name, value in SETTINGS.items() if name not in parameters}
        self.startup = {} if "application_name" in parameters else {"application_name": "tickover"}

    async def configure(self, connection: asyncpg.Connection) -> None:
        """Apply the settings, unless sessions are pooled: the next transaction may run in another session."""
        # Not as startup parameters, because PgBouncer rejects them.
        if not self.are_pooled:
            await connection.execute("; ".join(f"set {name} = '{value}'" for name, value in self._settings.items()))

    async def check_pooler(
        self, connection: asyncpg.Connection, connect: Callable[[], Awaitable[asyncpg.Connection]]
    ) -> None:
        """Raise SettingError if a pooler in transaction or statement mode is in use and the URL doesn't say so.

        A pooler reports process IDs that differ from the server's. In session mode, a connection keeps its server
        process, and two connections never share one.
        """
        if self.are_pooled or await connection.fetchval(_BACKEND_PID) == connection.get_server_pid():
            return
        other = await connect()
        try:
            # The second connection is queried twice, because some poolers reuse the last session and others rotate.
            backends = [await each.fetchval(_BACKEND_PID) for each in (connection, other, other)]
        finally:
            await other.close()
        if backends[0] in backends[1:] or backends[1] != backends[2]:
            raise SettingError(
                f"{self._database} is behind a pooler in transaction or statement mode. Set pool_mode = session in the "
                "pooler. Or set pool_mode = transaction in the pooler and add ?pool_mode=transaction to "
                "TICKOVER_DATABASE_URL."
            )

    async def check_settings(self, connection: asyncpg.Connection) -> None:
        """Raise SettingError if the session lacks required settings."""
        rows = await connection.fetch(_CURRENT_SETTINGS, [*self._settings])
        missing = {name: self._settings[name] for name, value in rows if value != self._settings[name]}
        if not missing:
            return
        role = await connection.fetchval("select quote_ident(current_user)")
        commands = " ".join(f"alter role {role} set {name} = '{value}';" for name, value in missing.items())
        raise SettingError(
            f"{self._database} is behind a pooler in transaction mode, so its settings must belong to the role. Run "
            f"this SQL, and then RECONNECT in the pooler's console: {commands}"
        )
