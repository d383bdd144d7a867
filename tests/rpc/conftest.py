"""The databases on which the interface is tested: callers must not notice which one it is."""

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database that is new and empty. Modules that end before the store is asked have one kind alone."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
