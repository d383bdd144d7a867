"""Stores on databases that are known to be usable."""

from tickover.server.storage import is_postgres, open_store
from tickover.server.storage.postgres.connections import Connections
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Store

_MAX_CONNECTIONS = 10


async def open_checked_store(url: str) -> Store:
    """Open a database that another store has opened before. Checking it again would take longer than most tests."""
    if not is_postgres(url):
        return await open_store(url)
    connections = Connections(url, _MAX_CONNECTIONS)
    await connections.open_pool()
    return PostgresStore(connections, _MAX_CONNECTIONS // 2)
