"""A full disk of PostgreSQL: calls fail, the log and the metrics say why, and the server recovers."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.metrics import parse_metrics, value
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import give_to_postgres
from tests.support.program import Program, wait_until

_MEGABYTE = 2**20


@pytest.fixture
def disk() -> Iterator[Path]:
    """A file system of 64 MB. It isn't in tmp_path, which an unprivileged user can't enter."""
    folder = Path(tempfile.mkdtemp(prefix="tickover-disk-"))
    folder.chmod(0o755)
    mounting = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mounting, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program 'mount', so no disk can be filled")
    if mounted.returncode != 0:
        pytest.skip(f"only who may mount can fill a disk: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


def _fill(file: Path) -> None:
    """Write until the disk is full."""
    with file.open("wb", buffering=0) as ballast:
        for size in (_MEGABYTE, 4096, 1):
            with suppress(OSError):
                while True:
                    ballast.write(bytes(size))


@pytest.fixture
def database_on_disk(disk: Path, own_postgres: PostgresServer) -> Iterator[str]:
    """The URL of a database whose tables are on the small disk. Its server is not shared, because checkpoints fail."""
    folder, name = disk / "tables", disk.name
    folder.mkdir(mode=0o700)
    give_to_postgres(folder)
    own_postgres.execute(f"create tablespace \"{name}\" owner tickover location '{folder}'")
    own_postgres.execute(f'create database "{name}" owner tickover tablespace "{name}"')
    yield own_postgres.url(name)
    own_postgres.execute(f'drop database "{name}" with (force)')
    own_postgres.execute(f'drop tablespace "{name}"')


def test_full_disk_of_postgres_is_reported(tmp_path: Path, disk: Path, database_on_disk: str) -> None:
    metrics_port = free_port()
    settings = {"TICKOVER_DATABASE_URL": database_on_disk, "TICKOVER_SECRET_KEY": "a key of this test"}
    with Program(tmp_path, **settings, TICKOVER_METRICS_PORT=str(metrics_port)) as program:
        token = program.sign_in()
        _fill(disk / "ballast")
        # Free pages of existing tables still accept rows.
        wait_until(lambda: "error" in program.call("createTestClock", {"name": "x" * 100}, token))
        assert "disk_full" in program.output
        with urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60) as response:
            metrics = parse_metrics(response.read().decode())
        assert value(metrics, "database_failures_total", cause="disk_full") >= 1
        (disk / "ballast").unlink()
        program.result("createTestClock", {}, token)
