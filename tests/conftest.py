"""Fixtures that every kind of test shares."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import World, open_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened


@pytest.fixture
async def token(world: World) -> str:
    """Ana is signed in, and a minute has passed since."""
    return await world.sign_in()
