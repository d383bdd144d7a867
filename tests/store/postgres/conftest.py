"""Stores on PostgreSQL, and a session of another client."""

from collections.abc import AsyncIterator

import asyncpg
import pytest


@pytest.fixture
def database_url(postgres_url: str) -> str:
    return postgres_url


@pytest.fixture
async def other(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A session of another client."""
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()
