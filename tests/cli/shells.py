"""The command line as people and programs meet it: in this process, as a process of its own, and at a terminal."""

import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from tests.program import wait_until
from tickover.cli.root import run

_TICKOVER = (sys.executable, "-m", "tickover")


class Ran(NamedTuple):
    """What a command has said, and how it ended."""

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
    """A person's shell: an environment, a home, and a server that is meant when none is named."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.variables = {"XDG_CONFIG_HOME": str(home), "TICKOVER_URL": url, "COLUMNS": "80", "LANG": "C.UTF-8"}

    @property
    def kept(self) -> Path:
        return self.home / "tickover" / "credentials.json"

    @property
    def token(self) -> str:
        """The token that is kept for the server."""
        return str(json.loads(self.kept.read_bytes())["servers"][self.url]["token"])

    @property
    def clock(self) -> str:
        """The id of the clock that was used last."""
        return str(json.loads(self.kept.read_bytes())["servers"][self.url].get("clock", ""))

    def __call__(self, *arguments: str, input: bytes = b"", encoding: str = "utf-8", **variables: str) -> Ran:
        """Run `tickover` with these arguments in this process, but with streams and an environment of its own."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2))
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
            code = run(list(arguments))
        return Ran(code, _written(out), _written(err))

    def environment(self, **variables: str) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {**inherited, **self.variables, **variables}

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """A process of its own, whose output is a pipe."""
        return subprocess.Popen(
            [*_TICKOVER, *arguments], env=self.environment(**variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    @contextmanager
    def at_a_terminal(
        self, *arguments: str, columns: int = 80, rows: int = 50, **variables: str
    ) -> Iterator["Terminal"]:
        environment = self.environment(**{"TERM": "xterm-256color", **variables})
        del environment["COLUMNS"]
        with Terminal([*_TICKOVER, *arguments], environment, columns, rows) as terminal:
            yield terminal


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


class Terminal:
    """A process at a terminal of its own, which has so many columns and rows."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int, rows: int) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # A session of its own, with this terminal, so that Ctrl-C reaches it.
        self.process = subprocess.Popen(
            command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - it forks no further
        )  # fmt: skip
        os.close(theirs)
        self._raw = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        os.close(self._ours)

    @property
    def raw(self) -> str:
        """All that it has been sent so far."""
        while select.select([self._ours], [], [], 0)[0]:
            try:
                self._raw += os.read(self._ours, 65_536)
            except OSError:
                break  # the other end is closed
        return self._raw.decode(errors="replace")

    @property
    def text(self) -> str:
        """The same without escape sequences."""
        return re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>])", "", self.raw).replace("\r\n", "\n")

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.text or self.process.poll() is not None)
        assert text in self.text, self.text

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Wait until it has ended; its exit code."""
        wait_until(lambda: self.raw is not None and self.process.poll() is not None)
        return self.process.wait(30)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
