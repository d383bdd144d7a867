"""Starts programs from a process that has imported the server, because imports take most of the time of a start."""

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, NamedTuple

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.imported_server"])


class ForkedProcess:
    """A running program. The methods are those of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: dict[str, str],
        log: Path,
        *,
        errors: Path | None = None,
        script: Path | None = None,
        inherited_files: Sequence[int] = (),
    ) -> None:
        """Start `tickover` with these arguments, or a script that runs it. `errors` is for stderr."""
        run = _Run((*arguments,), folder, environment, log, errors or log, script)
        # A daemon ends with this process.
        self._process = _CONTEXT.Process(target=_run, args=(run, [*map(_File, inherited_files)]), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Run(NamedTuple):
    arguments: tuple[str, ...]
    folder: Path
    environment: dict[str, str]
    log: Path
    errors: Path
    script: Path | None


class _File:
    """An open file that the new process inherits."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_inherited, (DupFd(self._number),)


def _open_inherited(file: Any) -> _File:
    return _File(file.detach())


def _run(run: _Run, _: list[_File]) -> None:
    for number, path in ((1, run.log), (2, run.errors)):
        with path.open("ab") as file:
            os.dup2(file.fileno(), number)
    os.chdir(run.folder)
    os.environ.clear()
    os.environ.update(run.environment)
    sys.argv[1:] = run.arguments
    if run.script is not None:
        runpy.run_path(str(run.script), run_name="__main__")
    else:
        runpy.run_module("tickover", run_name="__main__", alter_sys=True)
