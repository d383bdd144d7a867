"""Fixtures that all tests share."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import hypothesis
import pytest

from tests.support.world import World, open_world

pytest_plugins = ["tests.support.databases"]

_MEMORY = Path("/dev/shm")

# The time of an example depends on the machine's load, and a slow data generator is not a bug of the product.
hypothesis.settings.register_profile(
    "tickover", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("tickover")


def pytest_configure() -> None:
    """Keep temporary files in memory. No test needs a disk: data in memory survives a killed process too."""
    if not _MEMORY.is_dir() or os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC:
        return
    if shutil.disk_usage(_MEMORY).free > 4 << 30 and os.access(_MEMORY, os.W_OK):
        folder = _MEMORY / f"tickover-tests-{os.getuid()}"
        folder.mkdir(exist_ok=True)
        # PostgreSQL runs as another user, who deletes its folder here.
        folder.chmod(0o1777)
        # Workers and all programs that tests start inherit it.
        tempfile.tempdir = os.environ.setdefault("TMPDIR", str(folder))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its tier, the name of its folder."""
    for item in items:
        item.add_marker(item.path.relative_to(Path(__file__).parent).parts[0])


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """A new and empty database. Tests that depend on the kind of database have one of each kind instead."""
    return sqlite_url


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[World]:
    async with open_world(tmp_path, database_url) as opened:
        yield opened


@pytest.fixture
async def token(world: World) -> str:
    """A token of Ana. A minute has passed since she signed in."""
    return await world.sign_in()
