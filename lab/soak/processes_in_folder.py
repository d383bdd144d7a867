"""Finds processes by their working directory. `python -m` with a folder ends its processes when the input ends."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def signal_processes(folder: Path, number: int) -> int:
    """Send a signal to all processes that work in the folder. Return their number."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        # Other processes may end, or belong to another user.
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                os.kill(int(process.name), number)
                found += 1
    return found


def kill_processes(folder: Path) -> None:
    while signal_processes(folder, signal.SIGKILL):
        time.sleep(0.01)


@contextmanager
def removed_at_end(folder: Path) -> Iterator[None]:
    """At the end of the block or of this process, kill the processes in the folder and delete it."""
    # Its own session, so that Ctrl-C doesn't end it.
    command = [sys.executable, "-m", __name__, str(folder)]
    # At its end, Popen closes the input and waits.
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=Path(__file__).parents[2], start_new_session=True):
        yield


if __name__ == "__main__":
    sys.stdin.read()
    kill_processes(Path(sys.argv[1]))
    shutil.rmtree(sys.argv[1], ignore_errors=True)
