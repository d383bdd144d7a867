"""Fixtures that all tests share."""

import contextlib
import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from coverage import Coverage

from tests.support.program import Program
from tests.support.world import World, close_idle_processes, open_signed_in_world, open_world

pytest_plugins = ["tests.support.databases"]

_MEMORY = Path("/dev/shm")
_COVERAGE = pytest.StashKey[Coverage]()
# Files and tests whose lines other tests cover in less time.
_UNMEASURED = {
    "test_all_faults.py",
    "test_amend_test_clock.py::test_clock_grows_to_five_thousand_items_and_no_further",
    "test_bad_files.py",
    "test_batch_sizes.py::test_call_that_might_not_fit_is_rejected_without_running",
    "test_batch_sizes.py::test_no_clock_exceeds_its_maximum_size",
    "test_batch_sizes.py::test_no_other_result_exceeds_its_maximum_size",
    "test_batch_sizes.py::test_no_result_about_a_ledger_exceeds_its_maximum_size",
    "test_batcher.py",
    "test_clock_ids.py",
    "test_code_rules.py",
    "test_email_limits.py::test_hourly_limits_are_configurable",
    "test_envelope.py::test_deep_nesting_is_not_an_internal_error",
    "test_errors_table.py",
    "test_explain_limits.py",
    "test_export_test_clock.py::test_no_file_exceeds_its_maximum_size",
    "test_guessing.py",
    "test_hostile_addresses.py",
    "test_hosts_and_origins.py",
    "test_ledger_properties.py",
    "test_list_test_clocks.py",
    "test_login_by_email_link.py",
    "test_login_by_email_verification.py",
    "test_metrics.py",
    "test_nesting.py",
    "test_openrpc.py",
    "test_openrpc_bounds.py",
    "test_pages.py",
    "test_reference.py",
    "test_send_login_code_email.py",
    "test_site.py",
    "test_statements.py",
    "test_terminal.py::test_all_of_unicode_is_safe",
}
# Long tests run first. At the end of a run, they would keep one worker busy while the others have nothing to do.
_FIRST = {
    "test_life_cycle_log.py",
    "test_openrpc_generator.py",
    "test_postgres_failover.py",
    "test_postgres_faults.py",
    "test_postgres_unconfirmed_commits.py",
    "test_typescript_client.py",
}

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
    """Start servers fast, find programs in .venv, let them handle Ctrl-C, and keep temporary files in memory.

    No test needs a disk: data in memory survives a killed process too.
    """
    Program.is_forked = True
    # Node.js and the programs of packages.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Pause the measurement of coverage and the garbage collector, which make all code slower.

    Tests and modules live until the end, so the garbage collector never needs to search them.
    """
    # A worker has two measurements, and pytest-cov reports the later one.
    while (coverage := Coverage.current()) is not None:
        coverage.stop()
        session.config.stash.setdefault(_COVERAGE, coverage)
    gc.disable()
    try:
        _import_test_modules(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_test_modules(config: pytest.Config) -> None:
    """Import the test modules, in another order in each worker.

    Pytest rewrites the assertions of a new module once, and stores the result. Workers that import in the same order
    would all rewrite the same module at the same time.
    """
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        return
    root = Path(__file__).parent
    places = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    found = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("test_*.py")))]
    first = len(found) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in [*found[first:], *found[:first]]:
        # Pytest reports errors when it collects the module.
        with contextlib.suppress(Exception):
            importlib.import_module(".".join(("tests", *file.relative_to(root).with_suffix("").parts)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the coverage of tests in tests/unit and tests/rpc. Their subfolders test other packages.

    Tests with random data are left out, because they cover lines by chance. Fixtures are left out, to save time.
    """
    coverage = item.config.stash.get(_COVERAGE, None)
    if coverage is None or not _is_measured(item):
        return (yield)
    coverage.start()
    try:
        return (yield)
    finally:
        coverage.stop()


def _is_measured(item: pytest.Item) -> bool:
    if item.path.parent.name not in ("unit", "rpc") or item.get_closest_marker("hypothesis"):
        return False
    test = f"{item.path.name}::{getattr(item, 'originalname', item.name)}"
    return item.path.name not in _UNMEASURED and test not in _UNMEASURED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its tier, the name of its folder, and put long tests first."""
    for item in items:
        item.add_marker(item.path.relative_to(Path(__file__).parent).parts[0])
    items.sort(key=lambda item: item.path.name not in _FIRST)


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
