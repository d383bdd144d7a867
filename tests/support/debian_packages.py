"""Programs that tests need, installed as Debian packages where that is possible."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

_POLICY = Path("/usr/sbin/policy-rc.d")


@cache
def need(program: str, package: str = "") -> str:
    """Return the path of a program, and install its package if it is missing.

    Where it cannot be installed, the test is skipped with the reason; in CI it fails instead.
    """
    return need_found(lambda: shutil.which(program), package or program)


def need_found(find: Callable[[], str | None], package: str) -> str:
    """Like `need`, for a program that `find` looks for."""
    failure = "" if find() else install(package, unless=find)
    found = find()
    if found is None:
        skip_or_fail(f"{package} is not installed: {failure or 'its package did not bring the program'}")
    return found


def skip_or_fail(message: str) -> NoReturn:
    """Skip the test. In CI, where a skipped test would go unnoticed, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def install(*packages: str, unless: Callable[[], object] = lambda: False) -> str:
    """Install packages, and return why that failed, or an empty string.

    apt-get runs once at a time, so all test processes share a lock. `unless` is checked under that lock.
    """
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "only root on Debian can install it"
    with (Path(tempfile.gettempdir()) / "tickover-tests-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if unless():
            return ""
        with _services_stay_stopped():
            wait = ["-o", "DPkg::Lock::Timeout=600"]
            return (
                # A run that was interrupted while it installed leaves packages that are not configured.
                _run("dpkg", "--configure", "-a")
                or _run("apt-get", *wait, "update")
                or _run("apt-get", *wait, "install", "--yes", "--no-install-recommends", *packages)
            )


@contextmanager
def _services_stay_stopped() -> Iterator[None]:
    """Tests start servers themselves, so the one that a package brings must not start."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()


def _run(*command: str) -> str:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return f"{' '.join(command)} failed: {ran.stderr[-500:].strip()}" if ran.returncode else ""
