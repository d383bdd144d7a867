"""The stores that must keep the contract. A further store is one more line."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tickover.ports import Store
from tickover.storage import open_store

_URLS: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: f"sqlite:///{folder / 'tickover.db'}",
}


@pytest.fixture(params=_URLS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that is new and empty."""
    return _URLS[request.param](tmp_path)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await open_store(database_url)
    yield opened
    await opened.close()
