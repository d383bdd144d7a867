"""A full disk with SQLite: the server is not ready, logs the cause, and recovers."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.program import Program, wait_until

_MEGABYTE = 2**20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(folder)]
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


def _fill(file: Path) -> None:
    """Write until the disk is full."""
    with file.open("wb", buffering=0) as ballast:
        for size in (_MEGABYTE, 4096, 1):
            with suppress(OSError):
                while True:
                    ballast.write(bytes(size))


def test_server_logs_a_full_disk_and_recovers(tmp_path: Path, disk: Path) -> None:
    with Program(tmp_path, TICKOVER_DATABASE_URL=f"sqlite:///{disk / 'tickover.db'}") as program:
        token = program.sign_in()
        assert program.request("GET", "/readyz").status == 200
        _fill(disk / "ballast")
        wait_until(lambda: "error" in program.call("createTestClock", {}, token))
        wait_until(lambda: program.request("GET", "/readyz").status == 503)
        assert program.request("GET", "/healthz").status == 200
        assert "FullError" in program.output
        assert "database or disk is full" in program.output
        (disk / "ballast").unlink()
        wait_until(lambda: program.request("GET", "/readyz").status == 200)
        program.result("createTestClock", {}, token)
        assert "Traceback" not in program.output
