"""Fixtures that open a store of each kind. A new kind of store needs only another parameter."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import asyncpg
import pytest

from tests.support.long_timeouts import lengthen
from tests.support.postgres import PostgresServer
from tests.support.stores import open_checked_store
from tickover.server.storage.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new and empty database."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls of the PostgreSQL store wait longer, because a busy machine exceeds the usual limits."""
    lengthen(monkeypatch)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await open_checked_store(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def open_another(database_url: str) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
    """Opens the same database again, as another server does."""
    async with AsyncExitStack() as opened:

        async def open_one() -> Store:
            another = await open_checked_store(database_url)
            opened.push_async_callback(another.close)
            return another

        yield open_one


@pytest.fixture
def rows_of(database_url: str) -> Callable[[str], Awaitable[int]]:
    """Counts the rows of a table, bypassing the store, to find rows that no method can reach."""

    async def count(table: str) -> int:
        return len(await _query(database_url, f"select 1 from {table}"))

    return count


@pytest.fixture
def probe_writes(database_url: str) -> Callable[[], Awaitable[int]]:
    """Counts the probe writes that the database has seen."""

    async def count() -> int:
        ((writes,),) = await _query(database_url, "select sum(count) from login_failures where email not like '%@%'")
        return int(writes)

    return count


async def _query(database_url: str, sql: str) -> list[Any]:
    """Read rows of the database, bypassing the store."""
    if database_url.startswith("sqlite"):
        with closing(apsw.Connection(database_url.removeprefix("sqlite:///"))) as connection:
            return connection.execute(sql).fetchall()
    session = await asyncpg.connect(database_url)
    found: list[Any] = await session.fetch(sql)
    await session.close()
    return found


@pytest.fixture
def urls(request: pytest.FixtureRequest, tmp_path: Path, postgres: PostgresServer) -> tuple[str, str]:
    """New source and target; SQLite files don't exist yet. From SQLite to PostgreSQL by default."""
    source, target = getattr(request, "param", "sqlite postgres").split()
    if source == target == "postgres":
        return postgres.create_database(), request.getfixturevalue("postgres_url")
    return (
        request.getfixturevalue("postgres_url") if source == "postgres" else f"sqlite:///{tmp_path / 'source.db'}",
        request.getfixturevalue("postgres_url") if target == "postgres" else f"sqlite:///{tmp_path / 'target.db'}",
    )


Execute = Callable[[str, str], list[tuple[Any, ...]]]


@pytest.fixture
def execute(postgres: PostgresServer) -> Execute:
    """Run SQL without the store, and return the rows. PostgreSQL returns them as text."""

    def run(url: str, sql: str) -> list[tuple[Any, ...]]:
        if url.startswith("sqlite"):
            with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
                return connection.execute(sql).fetchall()
        rows = postgres.execute(sql, urlsplit(url).path[1:])
        return [tuple(row.split("|")) for row in rows.splitlines()]

    return run
