"""Stores on databases that are known to be usable."""

import asyncio
from typing import Any, cast

import asyncpg

from tickover.server.storage import open_store
from tickover.server.storage.postgres.database import Database
from tickover.server.storage.postgres.store import PostgresStore
from tickover.server.storage.store import Store
from tickover.server.storage.urls import is_postgres

_MAX_CONNECTIONS = 10
_CLOSE_SECONDS = 5.0

_MAX_IDLE_POOLS = 2
_idle_pools: dict[str, list[asyncpg.Pool]] = {}
"""Pools of closed stores, by URL."""


async def open_checked_store(url: str) -> Store:
    """Open a database that another store has opened before. Checking it again would take longer than most tests.

    In PostgreSQL, it uses the sessions of an earlier store of the same URL, because a new session has to load its
    catalog and plan all statements again.
    """
    if not is_postgres(url):
        return await open_store(url)
    connections = _ReusedDatabase(url)
    await connections.open_pool()
    return PostgresStore(connections, _MAX_CONNECTIONS // 2)


async def close_idle_pools() -> None:
    for pools in _idle_pools.values():
        for pool in pools:
            await pool.close()
    _idle_pools.clear()


class _ReusedDatabase(Database):
    def __init__(self, url: str) -> None:
        super().__init__(url, _MAX_CONNECTIONS)

    async def open_pool(self) -> None:
        if idle := _idle_pools.get(self._url):
            self._pool = idle.pop()
        else:
            await super().open_pool()

    async def close(self) -> None:
        await asyncio.gather(*self._releases)
        pool, self._pool = self._pool, cast("asyncpg.Pool", _ClosedPool())
        if isinstance(pool, _ClosedPool):
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                # A running statement holds its connection.
                while pool.get_idle_size() < pool.get_size():  # noqa: ASYNC110 - the pool has no event for it
                    await asyncio.sleep(0.001)
        except TimeoutError:
            pool.terminate()
            return
        idle = _idle_pools.setdefault(self._url, [])
        if len(idle) < _MAX_IDLE_POOLS:
            idle.append(pool)
        else:
            await pool.close()


class _ClosedPool:
    async def acquire(self, **_: Any) -> None:
        raise asyncpg.InterfaceError("pool is closed")

    def get_size(self) -> int:
        return 0

    get_idle_size = get_size
