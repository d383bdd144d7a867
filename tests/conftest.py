"""Fixtures that every kind of test shares."""

from collections.abc import AsyncIterator
from pathlib import Path

import hypothesis
import pytest

from tests.support.world import World, open_world

pytest_plugins = ["tests.support.databases"]

# How long an example takes depends on the machine's load, and a slow data generator is no bug of the product.
hypothesis.settings.register_profile(
    "tickover", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("tickover")


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """A database that is new and empty. Where the kind of database matters, tests have one of each kind instead."""
    return sqlite_url


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[World]:
    async with open_world(tmp_path, database_url) as opened:
        yield opened


@pytest.fixture
async def token(world: World) -> str:
    """Ana is signed in, and a minute has passed since."""
    return await world.sign_in()
