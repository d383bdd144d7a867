"""The memory and the CPU time of a process, read from /proc."""

import os
import re
import time
from pathlib import Path

_KIB = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process and its children."""
    pids = [pid, *_children(pid)]
    return sum(_read(each).get("VmRSS", 0) for each in pids) / 1024


def resident_and_peak_mib(pid: int) -> tuple[float, float]:
    """Return the resident memory of one process, and its maximum since the start or the last reset."""
    found = _read(pid)
    return found["VmRSS"] / 1024, found["VmHWM"] / 1024


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def cpu_share(pid: int, seconds: float = 0.5) -> float:
    """Return the share of a core that one process uses during some seconds."""
    before = _cpu_seconds(pid)
    time.sleep(seconds)
    return (_cpu_seconds(pid) - before) / seconds


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(pid: int) -> dict[str, int]:
    status = Path(f"/proc/{pid}/status")
    return {name: int(kib) for name, kib in _KIB.findall(status.read_text())} if status.exists() else {}


def _children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]
