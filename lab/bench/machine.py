"""Describes the machine of a run."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import apsw

from lab.bench.sides import DEFAULT_PYTHON


def facts() -> dict[str, str]:
    programs = ("uvicorn", "uvloop", "httptools", "msgspec", "asyncpg")
    return {
        "cores": str(os.cpu_count()),
        "processor": processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in programs},
        "wrk": _wrk_version(),
        "default": _of_default(),
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")


def _wrk_version() -> str:
    # wrk prints its version and exits with an error.
    result = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout  # noqa: S607
    return result.split("[")[0].removeprefix("wrk").strip()


def _of_default() -> str:
    """Return the versions of the default server's packages."""
    if not DEFAULT_PYTHON.exists():
        return "is not installed"
    names = ("fastapi", "pydantic", "sqlalchemy", "uvicorn")
    script = f"from importlib.metadata import version as v; print(*(f'{{n}} {{v(n)}}' for n in {names}), sep=', ')"
    result = subprocess.run([DEFAULT_PYTHON, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    return result.stdout.strip()
