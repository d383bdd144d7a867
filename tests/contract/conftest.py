"""The stores that must keep the contract. A further store is one more word."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from typing import Any

import apsw
import asyncpg
import pytest

from tickover.server.storage import open_store
from tickover.server.storage.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database that is new and empty."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await open_store(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def open_another(database_url: str) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
    """Opens the same database once more, as another server would."""
    async with AsyncExitStack() as opened:

        async def open_one() -> Store:
            another = await open_store(database_url)
            opened.push_async_callback(another.close)
            return another

        yield open_one


@pytest.fixture
def rows_of(database_url: str) -> Callable[[str], Awaitable[int]]:
    """How many rows a table has, asked behind the store's back; none may stay that nobody can find any more."""

    async def count(table: str) -> int:
        return len(await _ask(database_url, f"select 1 from {table}"))

    return count


@pytest.fixture
def writes_of_probes(database_url: str) -> Callable[[], Awaitable[int]]:
    """How often the store has written to find out whether it can, as far as the database knows."""

    async def count() -> int:
        ((writes,),) = await _ask(database_url, "select sum(count) from login_failures where email not like '%@%'")
        return int(writes)

    return count


async def _ask(database_url: str, sql: str) -> list[Any]:
    """Rows of the database, read behind the store's back."""
    if database_url.startswith("sqlite"):
        with closing(apsw.Connection(database_url.removeprefix("sqlite:///"))) as connection:
            return connection.execute(sql).fetchall()
    witness = await asyncpg.connect(database_url)
    found: list[Any] = await witness.fetch(sql)
    await witness.close()
    return found
