"""Installs the Node.js packages of tests and of the TypeScript client when they are first needed."""

import fcntl
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.debian_packages import skip_or_fail
from tests.support.repository import ROOT

_TOOLS: Final = ROOT / "tests" / "node"
_NPM: Final = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix")


@cache
def tools() -> Path:
    """Return the `node_modules` folder of the packages that only tests use."""
    return install_project(_TOOLS)


def install_project(folder: Path) -> Path:
    """Install the locked packages of a folder's package.json. Skip the test if that is impossible."""
    lock, modules = folder / "package-lock.json", folder / "node_modules"
    installed = modules / ".installed"
    with npm_lock():
        if not installed.exists() or installed.read_bytes() != lock.read_bytes():
            ran = subprocess.run([*_NPM, str(folder)], capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                skip_or_fail(f"npm ci in {folder.name} failed: {ran.stderr[-500:]}")
            installed.write_bytes(lock.read_bytes())
    return modules


@contextmanager
def npm_lock() -> Iterator[None]:
    """Let one process of this user install at a time."""
    with (Path(tempfile.gettempdir()) / f"tickover-tests-npm-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def default_exports(*packages: str) -> list[Any]:
    """Return the default export of each package."""
    script = "console.log(JSON.stringify(process.argv.slice(1).map((path) => require(path).default)))"
    paths = [str(tools() / package) for package in packages]
    exports: list[Any] = json.loads(subprocess.check_output(["node", "-e", script, *paths]))
    return exports
