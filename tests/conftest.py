"""Fixtures that all tests share."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import hypothesis
import pytest

from tests.support.program import Program
from tests.support.repository import ROOT
from tests.support.world import World, close_idle_processes, open_signed_in_world, open_world

pytest_plugins = ["tests.support.databases"]

_MEMORY = Path("/dev/shm")
_WITHOUT_PROGRAMS = {("unit",), ("store",), ("rpc",)}

# Compiling all modules in every process takes longer than most tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The time of an example depends on the machine's load, and a slow data generator is not a bug of the product.
hypothesis.settings.register_profile(
    "tickover", max_examples=40, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("tickover")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are cores, because tests wait for other processes: most for programs, some for PostgreSQL."""
    has_programs = any(Path(argument).parts[1:2] not in _WITHOUT_PROGRAMS for argument in config.args)
    return (os.cpu_count() or 1) + (3 if has_programs else 2)


def pytest_configure() -> None:
    """Start servers fast, find programs in .node and .venv, let them handle Ctrl-C, and keep temporary files in memory.

    No test needs a disk: data in memory survives a killed process too.
    """
    Program.is_forked = True
    # Node.js and the programs of packages. The PATH of many users lacks the folders of servers, and dpkg needs them.
    first = f"{ROOT / '.node' / 'bin'}:{Path(sys.executable).parent}"
    os.environ["PATH"] = f"{first}:{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"
    # A job in the background ignores Ctrl-C, and so would all programs that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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


@pytest.fixture(scope="session")
async def _idle_processes() -> AsyncIterator[None]:
    yield
    await close_idle_processes()


@pytest.fixture
async def world(
    request: pytest.FixtureRequest, tmp_path: Path, database_url: str, _idle_processes: None
) -> AsyncIterator[World]:
    """A server. If the test uses `token`, Ana has signed in."""
    can_copy = "token" in request.fixturenames and database_url.startswith("sqlite:")
    async with open_signed_in_world(tmp_path) if can_copy else open_world(tmp_path, database_url) as opened:
        yield opened


@pytest.fixture
async def token(world: World) -> str:
    """A token of Ana. A minute has passed since she signed in."""
    return world.token or await world.sign_in()
