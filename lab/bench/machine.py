"""Describes the machine of a run."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import apsw


def facts() -> dict[str, str]:
    programs = ("uvicorn", "uvloop", "httptools", "msgspec", "asyncpg")
    return {
        "cores": str(os.cpu_count()),
        "processor": processor(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in programs},
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")
