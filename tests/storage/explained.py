"""A PostgreSQL store that tells how each of its statements was carried out, those inside of functions too.

The server's own auto_explain tells it, on the very connections that the store uses.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import asyncpg

from tickover.server.storage.postgres.connections import Connections
from tickover.server.storage.postgres.store import PostgresStore

_EXPLAIN: Final = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_wal": "on",
    "client_min_messages": "log",
}

_TINY: Final = {"server_keys", "schema_version"}
"""Tables of a few rows, whatever happens; to read them whole is the best that can be done."""
_FEW_ROWS: Final = 250
"""A sweep takes 200."""
_FEW_BLOCKS: Final = 40
"""To find one row among millions takes four. A function may have to be looked up besides."""


class Statement(NamedTuple):
    """A statement that was carried out, and how."""

    text: str
    plan: dict[str, Any]

    @property
    def wal_bytes(self) -> int:
        return int(self.plan["WAL Bytes"])

    @property
    def tables(self) -> set[str]:
        """Those of ours that it has to do with."""
        return {_table(node) for node in _nodes(self.plan)} - {""}

    def troubles(self) -> list[str]:
        """What takes longer the more rows there are."""
        found = [trouble for node in _nodes(self.plan) for trouble in _troubles(node)]
        return [f"{trouble}: {' '.join(self.text.split())}" for trouble in found]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of a plan, those that were not needed this time included."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _table(node: dict[str, Any]) -> str:
    """The table of ours that it reads or writes, if it does."""
    table: str = node.get("Relation Name", "")
    return "" if table.startswith("pg_") else table


def _troubles(node: dict[str, Any]) -> Iterator[str]:
    kind, table = node["Node Type"], _table(node)
    if node.get("Disk Usage") or node.get("Sort Space Type") == "Disk" or node.get("Hash Batches", 1) > 1:
        yield f"{kind} on disk"
    if not table or table in _TINY or kind == "ModifyTable":
        return
    if kind == "Seq Scan":
        yield f"the whole of {table} is read"
    # Rows are for each time that it was done, and blocks for all of them.
    rows, times = node["Actual Rows"], node["Actual Loops"]
    unwanted = sum(value for name, value in node.items() if name.startswith("Rows Removed by"))
    blocks = node["Shared Hit Blocks"] + node["Shared Read Blocks"]
    if rows > _FEW_ROWS:
        yield f"{rows:.0f} rows of {table}"
    if unwanted > _FEW_ROWS:
        yield f"{unwanted:.0f} rows of {table} that were not wanted"
    if blocks > _FEW_BLOCKS * times * (1 + rows):
        yield f"{blocks} blocks of {table}"


class _Told(asyncpg.Connection):
    """Listens to the server. A listener of the driver's own kind would be gone with the next return to the pool."""

    statements: list[Statement]

    def _process_log_message(self, fields: dict[str, str], last_query: str) -> None:
        _, found, plan = fields["M"].partition("plan:\n")
        if found:
            told = json.loads(plan)
            self.statements.append(Statement(told["Query Text"], told["Plan"]))


class Explained(Connections):
    """Connections that note how each statement was carried out."""

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(f"{url}?{urlencode(_EXPLAIN)}", limit)
        self.statements: list[Statement] = []

    def troubles(self) -> list[str]:
        return [trouble for statement in self.statements for trouble in statement.troubles()]

    async def connect(self, *given: object, **options: Any) -> asyncpg.Connection:
        connection = await super().connect(*given, **options | {"connection_class": _Told})
        assert isinstance(connection, _Told)
        connection.statements = self.statements
        return connection


@asynccontextmanager
async def open_explained(url: str) -> AsyncIterator[tuple[PostgresStore, Explained]]:
    """A store with one connection. The URL must be a superuser's: nobody else may have statements explained."""
    connections = Explained(url, 1)
    await connections.open()
    store = PostgresStore(connections)
    try:
        yield store, connections
    finally:
        await store.close()
