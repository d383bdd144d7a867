"""How each session with PostgreSQL is set up, and whether a pooler in front of the server keeps it so."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

import asyncpg

from tickover.server.settings import SettingError

# How each session works, unless the URL says otherwise; values are written as PostgreSQL shows them.
SETTINGS: Final = {
    "statement_timeout": "4s",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "10s",
    # Every statement of a function must see what was committed before it, whatever the database's default is.
    "default_transaction_isolation": "read committed",
    # Every statement is a look-up by key. Planned once and like this, it stays one however the tables grow: a plan made
    # while they were empty would scan them.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_IN_FORCE: Final = "select name, current_setting(name) from unnest($1::text[]) as name"
_BACKEND: Final = "select pg_backend_pid()"


class Sessions:
    """The sessions of one URL, of which `pool_mode=transaction` says that a pooler lends one for each transaction."""

    def __init__(self, url: str, shown: str) -> None:
        self._database = f"The database {shown}"
        given = dict(parse_qsl(url.partition("?")[2]))
        pool_mode = given.get("pool_mode", "session")
        if pool_mode not in ("session", "transaction"):
            raise SettingError(f"pool_mode in TICKOVER_DATABASE_URL must be session or transaction, not {pool_mode!r}.")
        self.are_lent = pool_mode == "transaction"
        self._settings = {name: value for name, value in SETTINGS.items() if name not in given}
        self.startup = {} if "application_name" in given else {"application_name": "tickover"}

    async def set_up(self, connection: asyncpg.Connection) -> None:
        """Set the session up, unless it is lent: then the next transaction may run in another."""
        # Not as startup parameters, which PgBouncer refuses.
        if not self.are_lent:
            await connection.execute("; ".join(f"set {name} = '{value}'" for name, value in self._settings.items()))

    async def check_pooler(
        self, connection: asyncpg.Connection, connect: Callable[[], Awaitable[asyncpg.Connection]]
    ) -> None:
        """Raise SettingError if a pooler lends sessions and the URL doesn't say so.

        A pooler gives its clients process ids that are not those of the server. In session mode two connections never
        share a server process, and none changes it.
        """
        if self.are_lent or await connection.fetchval(_BACKEND) == connection.get_server_pid():
            return
        other = await connect()
        try:
            # Asked of one, and of the other twice: a pooler takes the session that was used last, or each in turn.
            backends = [await each.fetchval(_BACKEND) for each in (connection, other, other)]
        finally:
            await other.close()
        if backends[0] in backends[1:] or backends[1] != backends[2]:
            raise SettingError(
                f"{self._database} is behind a pooler in transaction or statement mode. Set pool_mode = session in the "
                "pooler, or pool_mode = transaction there and ?pool_mode=transaction in TICKOVER_DATABASE_URL."
            )

    async def check_settings(self, connection: asyncpg.Connection) -> None:
        """Raise SettingError if settings that sessions need are not in force."""
        rows = await connection.fetch(_IN_FORCE, [*self._settings])
        missing = {name: self._settings[name] for name, value in rows if value != self._settings[name]}
        if not missing:
            return
        if not self.are_lent:
            raise SettingError(
                f"{self._database} does not keep the settings of a session ({', '.join(missing)}). If it is behind a "
                "pooler, set pool_mode = session there."
            )
        role = await connection.fetchval("select quote_ident(current_user)")
        commands = " ".join(f"alter role {role} set {name} = '{value}';" for name, value in missing.items())
        raise SettingError(
            f"{self._database} is behind a pooler in transaction mode, which keeps no settings of a session, and the "
            f"role lacks them. Run this SQL, and then RECONNECT in the pooler's console: {commands}"
        )
