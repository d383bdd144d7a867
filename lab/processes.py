"""Processes, their memory and their CPU time."""

import os
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def children_of(pid: int) -> list[int]:
    """Return its children and their children."""
    direct = [child for child, parent in _parents().items() if parent == pid]
    return [*direct, *(grandchild for child in direct for grandchild in children_of(child))]


def _parents() -> dict[int, int]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # The process may have ended. Its name, in brackets, may contain anything.
        with suppress(OSError):
            found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process and all its children."""
    return sum(map(_resident_bytes, (pid, *children_of(pid)))) / 2**20


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process and of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def processor() -> str:
    """Return the name of the processor."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown processor")
