"""Reads files and exports of Node.js packages, and installs the packages when they are first needed."""

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

_FOLDER: Final = ROOT / ".node-test"
_VERSIONS: Final = {"@json-schema-tools/meta-schema": "1.8.0", "@open-rpc/meta-schema": "1.14.9", "axe-core": "4.14.0"}
_QUIET: Final = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


@cache
def default_exports(*packages: str) -> list[Any]:
    """Return the default export of each package. Skip the test if one can't be installed."""
    script = "console.log(JSON.stringify(process.argv.slice(1).map((path) => require(path).default)))"
    exports: list[Any] = json.loads(_run(["node", "-e", script, *map(str, map(_require, packages))]).stdout)
    return exports


@cache
def read_package_file(package: str, name: str) -> str:
    """Return a file of a package. Skip the test if it can't be installed."""
    return (_require(package) / name).read_text("utf-8")


def install_project(folder: Path) -> None:
    """Install the locked packages of a folder's package.json. Skip the test if that is impossible."""
    lock, installed = folder / "package-lock.json", folder / "node_modules" / ".installed"
    with npm_lock():
        if installed.exists() and installed.read_bytes() == lock.read_bytes():
            return
        ran = _run(["npm", "ci", "--prefix", str(folder), *_QUIET])
        if ran.returncode != 0:
            skip_or_fail(f"npm ci in {folder.name} failed: {ran.stderr[-500:]}")
        installed.write_bytes(lock.read_bytes())


def require_program(program: str, version: str) -> str:
    """Return the path of the program that a package of the same name has. Skip the test if it can't be installed."""
    folder = _FOLDER / program
    path = folder / "node_modules" / ".bin" / program
    with npm_lock():
        if not path.exists():
            _make_folder()
            packages = ["--prefix", str(folder), "--no-save", "--no-package-lock", *_QUIET, f"{program}@{version}"]
            ran = _run(["npm", "install", *packages])
            if not path.exists():
                skip_or_fail(f"npm install {program} failed: {ran.stderr[-500:]}")
    return str(path)


def _require(package: str) -> Path:
    if failure := _install():
        skip_or_fail(f"{package} is not installed: {failure}")
    return _path_of(package)


@cache
def _install() -> str:
    """Install all packages once for all processes. Return the reason of a failure, or an empty string."""
    with npm_lock():
        if all(map(_is_installed, _VERSIONS)):
            return ""
        _make_folder()
        packages = [f"{package}@{version}" for package, version in _VERSIONS.items()]
        ran = _run(["npm", "install", "--prefix", str(_FOLDER), "--no-save", "--no-package-lock", *_QUIET, *packages])
        return "" if all(map(_is_installed, _VERSIONS)) else f"npm install failed: {ran.stderr[-500:]}"


def _make_folder() -> None:
    _FOLDER.mkdir(exist_ok=True)
    # The folder ignores itself, so that .gitignore doesn't need an entry.
    (_FOLDER / ".gitignore").write_text("*\n")


@contextmanager
def npm_lock() -> Iterator[None]:
    """Let one process of this user install at a time."""
    with (Path(tempfile.gettempdir()) / f"tickover-tests-npm-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _path_of(package: str) -> Path:
    return _FOLDER / "node_modules" / package


def _is_installed(package: str) -> bool:
    about = _path_of(package) / "package.json"
    return about.exists() and json.loads(about.read_text("utf-8"))["version"] == _VERSIONS[package]


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)
