"""Runs these tests on both databases."""

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new, empty database. Modules that don't depend on the store override this with SQLite."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
