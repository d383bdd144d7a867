"""The engine: its driver, its pool and its transactions."""

# mypy: disable-error-code=import-not-found

from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine


def make_engine(path: str) -> AsyncEngine:
    # SQLite has one writer, and every request writes. In the pool, requests take turns. In SQLite itself, they would
    # sleep longer and longer between tries, and some would starve for seconds.
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", pool_size=1, max_overflow=0)
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_immediate)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Otherwise the driver begins transactions by itself, and only at the first write.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_immediate(connection: Connection) -> None:
    # Every request writes. A transaction that reads first and writes later may fail because another was faster.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
