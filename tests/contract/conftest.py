"""The stores that must keep the contract. A further store is one more word."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing

import apsw
import asyncpg
import pytest

from tickover.ports import Store
from tickover.storage import open_store


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
        asked = f"select 1 from {table}"
        if database_url.startswith("sqlite"):
            with closing(apsw.Connection(database_url.removeprefix("sqlite:///"))) as connection:
                return len(connection.execute(asked).fetchall())
        witness = await asyncpg.connect(database_url)
        found = await witness.fetch(asked)
        await witness.close()
        return len(found)

    return count
