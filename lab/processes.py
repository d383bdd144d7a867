"""Processes, their memory and their CPU time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

_WAIT_SECONDS = 30.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Process:
    """A program with its output in a file. It has its own session, so that Ctrl-C reaches only the benchmark."""

    def __init__(self, command: list[str], log: Path, environment: Mapping[str, str], folder: Path) -> None:
        self.command = command
        self.log = log
        self.environment = environment
        self.folder = folder
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._popen is not None, "the process was not started"
        return self._popen.pid

    @property
    def output(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def start(self, is_ready: Callable[[Self], bool], look_again: float = 0.01) -> None:
        """Start it, and wait until it is ready."""
        with self.log.open("wb") as log:
            self._popen = subprocess.Popen(  # noqa: S603 - constant arguments
                self.command,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                cwd=self.folder, env=dict(self.environment), start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + _WAIT_SECONDS
        while not is_ready(self):
            is_well = self._popen.poll() is None and time.monotonic() < deadline
            assert is_well, f"{' '.join(self.command)} didn't start: {self.output[-2000:]}"
            time.sleep(look_again)

    def stop(self) -> None:
        """Terminate it, and wait for its end."""
        if self._popen is None:
            return
        everyone = [self.pid, *children_of(self.pid)]
        self._popen.terminate()
        try:
            self._popen.wait(_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            for pid in everyone:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._popen.wait(_WAIT_SECONDS)
        self._popen = None

    def mebibytes(self) -> float:
        return resident_mib(self.pid)


def says_ready(process: Process) -> bool:
    return "ready" in process.output.split()


def children_of(pid: int) -> list[int]:
    """Return its children and their children."""
    direct = [child for child, parent in _parents().items() if parent == pid]
    return [*direct, *(grandchild for child in direct for grandchild in children_of(child))]


def _parents() -> dict[int, int]:
    if sys.platform != "linux":
        return dict(_run_ps("pid=,ppid="))
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
    if sys.platform != "linux":
        return dict(_run_ps("pid=,rss=")).get(pid, 0) * 1024
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _run_ps(columns: str) -> list[tuple[int, int]]:
    listing = subprocess.run(["/bin/ps", "-A", "-o", columns], capture_output=True, text=True, check=True)  # noqa: S603
    return [(int(first), int(second)) for first, second in map(str.split, listing.stdout.splitlines())]
