"""The peak memory of a process, read from /proc."""

import re
from pathlib import Path

_KIB = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


def resident_and_peak_mib(pid: int) -> tuple[float, float]:
    """Return the resident memory of one process, and its maximum since the start or the last reset."""
    found = {name: int(kib) / 1024 for name, kib in _KIB.findall(Path(f"/proc/{pid}/status").read_text())}
    return found["VmRSS"], found["VmHWM"]


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")
