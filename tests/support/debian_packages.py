"""Finds programs that tests require_program, and installs them as Debian packages if possible."""

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
def require_program(program: str, package: str = "") -> str:
    """Return the path of a program, and install its package if it is missing.

    If that is impossible, skip the test with the reason. In CI, fail it.
    """
    return require(lambda: shutil.which(program), package or program)


def require(find: Callable[[], str | None], package: str) -> str:
    """Like `require_program`, for a program that `find` looks for."""
    failure = "" if find() else install(package, unless=find)
    found = find()
    if found is None:
        skip_or_fail(f"{package} is not installed: {failure or 'its package lacks the program'}")
    return found


def skip_or_fail(message: str) -> NoReturn:
    """Skip the test. In CI, where nobody notices a skipped test, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def install(*packages: str, unless: Callable[[], object] = lambda: False) -> str:
    """Install packages. Return the reason of a failure, or an empty string.

    apt-get can't run concurrently, so all test processes share a lock. `unless` is checked under that lock.
    """
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "only root on Debian can install it"
    with (Path(tempfile.gettempdir()) / "tickover-tests-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if unless():
            return ""
        with _keep_services_stopped():
            apt = ("apt-get", "-o", "DPkg::Lock::Timeout=600")
            get = (*apt, "install", "--yes", "--no-install-recommends", *packages)
            # The lists may be old, or an interrupted installation left packages that are not configured. dpkg doesn't
            # wait for an apt-get of others, so it comes second.
            return _run(*get) and (_run("dpkg", "--configure", "-a") or _run(*apt, "update") or _run(*get))


@contextmanager
def _keep_services_stopped() -> Iterator[None]:
    """Prevent packages from starting their services, because tests start servers themselves."""
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
