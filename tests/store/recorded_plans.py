"""A PostgreSQL store that records the plan of each statement, including those in functions.

It uses the server's auto_explain on the store's own connections.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import asyncpg

from tickover.server.storage.postgres.database import Database
from tickover.server.storage.postgres.store import PostgresStore

_EXPLAIN: Final = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_buffers": "on",
    "client_min_messages": "log",
}

_SMALL_TABLES: Final = {"server_keys", "schema_version"}
"""Tables that always have only a few rows. A full scan is best for them."""
_MAX_ROWS: Final = 250
"""A sweep reads 200."""
_MAX_BLOCKS: Final = 40
"""To find one row among millions takes four, and a function may have to be looked up too."""


class Statement(NamedTuple):
    """A statement and its plan."""

    text: str
    plan: dict[str, Any]

    @property
    def tables(self) -> set[str]:
        """Return the store's tables in the plan."""
        return {_table(node) for node in _nodes(self.plan)} - {""}

    def problems(self) -> list[str]:
        """Return the parts of the plan that take longer if there are more rows."""
        found = [problem for node in _nodes(self.plan) for problem in _problems(node)]
        return [f"{problem}: {' '.join(self.text.split())}" for problem in found]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all nodes of a plan, including those that were not executed."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _table(node: dict[str, Any]) -> str:
    """Return the store's table that the node reads or writes, or an empty string."""
    table: str = node.get("Relation Name", "")
    return "" if table.startswith("pg_") else table


def _problems(node: dict[str, Any]) -> Iterator[str]:
    kind, table = node["Node Type"], _table(node)
    if node.get("Disk Usage") or node.get("Sort Space Type") == "Disk" or node.get("Hash Batches", 1) > 1:
        yield f"{kind} on disk"
    if not table or table in _SMALL_TABLES or kind == "ModifyTable":
        return
    if kind == "Seq Scan":
        yield f"all rows of {table} are read"
    # Rows are for one loop, and blocks for all loops.
    rows, times = node["Actual Rows"], node["Actual Loops"]
    removed = sum(value for name, value in node.items() if name.startswith("Rows Removed by"))
    blocks = node["Shared Hit Blocks"] + node["Shared Read Blocks"]
    if rows > _MAX_ROWS:
        yield f"{rows:.0f} rows of {table}"
    if removed > _MAX_ROWS:
        yield f"{removed:.0f} rows of {table} removed by a filter"
    if blocks > _MAX_BLOCKS * times * (1 + rows):
        yield f"{blocks} blocks of {table}"


class _LoggingConnection(asyncpg.Connection):
    """Reads the server's log messages. The driver would drop a log listener when the connection returns to the pool."""

    statements: list[Statement]

    def _process_log_message(self, fields: dict[str, str], last_query: str) -> None:
        _, found, plan = fields["M"].partition("plan:\n")
        if found:
            entry = json.loads(plan)
            self.statements.append(Statement(entry["Query Text"], entry["Plan"]))


class ExplainedDatabase(Database):
    """Connections that record the plan of each statement."""

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(f"{url}?{urlencode(_EXPLAIN)}", limit)
        self.statements: list[Statement] = []

    def problems(self) -> list[str]:
        return [problem for statement in self.statements for problem in statement.problems()]

    async def connect(self, *args: object, **options: Any) -> asyncpg.Connection:
        connection = await super().connect(*args, **options | {"connection_class": _LoggingConnection})
        assert isinstance(connection, _LoggingConnection)
        connection.statements = self.statements
        return connection


@asynccontextmanager
async def open_explained(url: str) -> AsyncIterator[tuple[PostgresStore, ExplainedDatabase]]:
    """Open a store with one connection. The URL must be a superuser's, because only superusers can use auto_explain."""
    connections = ExplainedDatabase(url, 1)
    await connections.open()
    store = PostgresStore(connections)
    try:
        yield store, connections
    finally:
        await store.close()
