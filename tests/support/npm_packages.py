"""What packages for Node.js hold and export; they are installed beside the program when they are first needed."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.debian_packages import install, skip_or_fail
from tests.support.transcripts import ROOT

_FOLDER: Final = ROOT / ".node-test"
_VERSIONS: Final = {"@json-schema-tools/meta-schema": "1.8.0", "@open-rpc/meta-schema": "1.14.9", "axe-core": "4.14.0"}


@cache
def exported_by(package: str) -> Any:
    """The default export of one of the packages above. Where they cannot be had, the test is skipped, aloud."""
    script = "console.log(JSON.stringify(require(process.argv[1]).default))"
    return json.loads(_run(["node", "-e", script, str(_installed(package))]).stdout)


@cache
def text_of(package: str, name: str) -> str:
    """A file of one of the packages above. Where they cannot be had, the test is skipped, aloud."""
    return (_installed(package) / name).read_text("utf-8")


def _installed(package: str) -> Path:
    if trouble := _install():
        skip_or_fail(f"{package} is not here, and {trouble}")
    return _place_of(package)


@cache
def _install() -> str:
    """Install them once, whichever process comes first; what went wrong, or nothing."""
    with (Path(tempfile.gettempdir()) / f"tickover-tests-npm-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if all(map(_is_installed, _VERSIONS)) and shutil.which("node"):
            return ""
        if trouble := "" if _npm() else install("npm", unless=_npm):
            return f"there is no npm: {trouble}"
        _FOLDER.mkdir(exist_ok=True)
        # It ignores itself, so that nobody has to know of it.
        (_FOLDER / ".gitignore").write_text("*\n")
        quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        wanted = [f"{package}@{version}" for package, version in _VERSIONS.items()]
        ran = _run(["npm", "install", "--prefix", str(_FOLDER), *quiet, *wanted])
        return "" if all(map(_is_installed, _VERSIONS)) else f"npm install failed: {ran.stderr[-500:]}"


def _npm() -> bool:
    return bool(shutil.which("npm") and shutil.which("node"))


def _place_of(package: str) -> Path:
    return _FOLDER / "node_modules" / package


def _is_installed(package: str) -> bool:
    about = _place_of(package) / "package.json"
    return about.exists() and json.loads(about.read_text("utf-8"))["version"] == _VERSIONS[package]


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)
