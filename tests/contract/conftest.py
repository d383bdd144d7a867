"""The stores that must keep the contract. A further store is one more word."""

from collections.abc import AsyncIterator

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
