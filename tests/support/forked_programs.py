"""Starts programs from a process that has imported Tickover, because imports take most of the time of a start."""

import fcntl
import io
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any, NamedTuple

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.imported_server"])
_STREAMS = (("stdin", "rb"), ("stdout", "wb"), ("stderr", "wb"))


class ForkedProcess:
    """A running program. The methods are those of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: dict[str, str],
        streams: Sequence[int | None],
        *,
        script: Path | None = None,
        inherited_files: Sequence[int] = (),
        has_terminal: bool = False,
    ) -> None:
        """Start `tickover` with these arguments, or a script that runs it.

        `streams` are open files for stdin, stdout and stderr, or None for closed ones. With `has_terminal`, stdin is
        the terminal of a new session.
        """
        run = _Run((*arguments,), folder, environment, script, has_terminal)
        opened = [None if stream is None else _File(stream) for stream in streams]
        inherited = [_File(number) for number in inherited_files]
        # A daemon ends with this process.
        self._process = _CONTEXT.Process(target=_run, args=(run, opened, inherited), daemon=True)
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
        # The process may end at any moment, and its parent is the fork server.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def open_dev_null() -> IO[bytes]:
    """Open an empty input."""
    return Path(os.devnull).open("rb")


class _Run(NamedTuple):
    arguments: tuple[str, ...]
    folder: Path
    environment: dict[str, str]
    script: Path | None
    has_terminal: bool


class _File:
    """An open file that the new process inherits."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_inherited, (DupFd(self.number),)


def _open_inherited(file: Any) -> _File:
    return _File(file.detach())


def _run(run: _Run, streams: list[_File | None], _: list[_File]) -> None:
    if run.has_terminal:
        os.setsid()
        # A run under nohup ignores it.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _open_streams(streams)
    if run.has_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(run.folder)
    os.environ.clear()
    os.environ.update(run.environment)
    sys.argv[1:] = run.arguments
    if run.script is not None:
        runpy.run_path(str(run.script), run_name="__main__")
    else:
        runpy.run_module("tickover", run_name="__main__", alter_sys=True)


def _open_streams(streams: list[_File | None]) -> None:
    """Replace the standard streams, as Python does when it starts."""
    for number, (stream, (name, mode)) in enumerate(zip(streams, _STREAMS, strict=True)):
        if stream is None:
            os.close(number)
            setattr(sys, name, None)
            continue
        os.dup2(stream.number, number)
        os.close(stream.number)
        file = open(number, mode, closefd=False)  # noqa: SIM115 - a file descriptor
        is_error = name == "stderr"
        errors = "backslashreplace" if is_error else "strict"
        setattr(sys, name, io.TextIOWrapper(file, "utf-8", errors, line_buffering=is_error or os.isatty(number)))
