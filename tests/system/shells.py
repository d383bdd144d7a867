"""Ways to run the command line: in this process, in a new process, and at a terminal."""

import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from tests.support.forked_programs import ForkedProcess
from tests.support.program import wait_until
from tickover.cli.root import run

_SECONDS_BETWEEN_KEYS = 3.0


class Result(NamedTuple):
    """The output of a command and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


class Shell:
    """A user's shell: an environment, a config folder and a default server."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.variables = {"XDG_CONFIG_HOME": str(home), "TICKOVER_URL": url, "COLUMNS": "80", "LANG": "C.UTF-8"}

    @property
    def credentials_file(self) -> Path:
        return self.home / "tickover" / "credentials.json"

    @property
    def token(self) -> str:
        """The stored token."""
        return str(json.loads(self.credentials_file.read_bytes())["servers"][self.url]["token"])

    @property
    def clock(self) -> str:
        """The ID of the last used clock."""
        return str(json.loads(self.credentials_file.read_bytes())["servers"][self.url].get("clock", ""))

    def __call__(self, *arguments: str, input: bytes = b"", **variables: str) -> Result:
        """Run `tickover` in this process with its own streams and environment."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["tickover", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            environment = self.environment(**variables)
            for name in os.environ.keys() - environment.keys():
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            # Commands of the database change the umask of the process.
            umask = os.umask(0o022)
            try:
                code = run(list(arguments))
            finally:
                os.umask(umask)
        return Result(code, _read_all(out), _read_all(err))

    def environment(self, **variables: str) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {**inherited, **self.variables, **variables}

    def start(self, *arguments: str, folder: Path | None = None, **variables: str) -> "Pipes":
        """Start a new process in a folder. Its output goes to pipes."""
        return Pipes(arguments, folder or Path.cwd(), self.environment(**variables))

    @contextmanager
    def open_terminal(self, *arguments: str, **variables: str) -> Iterator["Terminal"]:
        environment = self.environment(**{"TERM": "xterm-256color", **variables})
        del environment["COLUMNS"]
        with Terminal(arguments, environment) as terminal:
            yield terminal


def _read_all(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


class Pipes(ForkedProcess):
    """A process whose streams are pipes. Its input stays open until `stdin` is closed."""

    def __init__(self, arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
        pipes = [os.pipe() for _ in range(3)]
        own, other = (pipes[0][1], pipes[1][0], pipes[2][0]), (pipes[0][0], pipes[1][1], pipes[2][1])
        super().__init__(arguments, folder, environment, other)
        for end in other:
            os.close(end)
        self.stdin = os.fdopen(own[0], "w", encoding="utf-8")
        self.stdout, self.stderr = (os.fdopen(end, encoding="utf-8") for end in own[1:])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait(120)
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()

    def end(self) -> Result:
        """Wait for the end, and return the rest of the output."""
        with ThreadPoolExecutor(2) as threads:
            out, err = (threads.submit(stream.read) for stream in (self.stdout, self.stderr))
            return Result(self.wait(120), out.result(), err.result())


class Terminal:
    """A process at its own terminal."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        # A new session with this controlling terminal, so that Ctrl-C reaches the process.
        self.process = ForkedProcess(arguments, Path.cwd(), environment, (slave, slave, slave), has_terminal=True)
        os.close(slave)
        self._raw = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(120)
        os.close(self._master)

    @property
    def raw(self) -> str:
        """All output so far."""
        while select.select([self._master], [], [], 0)[0]:
            try:
                self._raw += os.read(self._master, 65_536)
            except OSError:
                break  # the other end is closed
        return self._raw.decode(errors="replace")

    @property
    def text(self) -> str:
        """All output so far without escape sequences."""
        return re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>])", "", self.raw).replace("\r\n", "\n")

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.text or self.process.poll() is not None)
        assert text in self.text, self.text

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def interrupt(self) -> int:
        """Press Ctrl-C until the process exits. Return its exit code.

        A signal between the output of a prompt and the read of its answer has no effect before the next key.
        """
        pressed = 0.0

        def has_exited() -> bool:
            nonlocal pressed
            if self.raw is not None and self.process.poll() is not None:
                return True
            if time.monotonic() - pressed > _SECONDS_BETWEEN_KEYS:
                pressed = time.monotonic()
                self.type("\x03")
            return False

        wait_until(has_exited)
        return self.process.wait(120)

    def end(self) -> int:
        """Wait for the process to exit. Return its exit code."""
        wait_until(lambda: self.raw is not None and self.process.poll() is not None)
        return self.process.wait(120)
