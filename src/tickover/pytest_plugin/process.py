"""A private server: a process that ends with the one that started it, however that ends."""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

import pytest

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0
_LAST_SECONDS: Final = 2.0
"""For a process that has said its last word, until it has ended."""
_SHOWN_BYTES: Final = 4000

_COMMAND: Final = (sys.executable, "-m", "tickover", "serve", "--attached")
_SETTINGS: Final = {
    "TICKOVER_HOST": "127.0.0.1",
    "TICKOVER_PORT": "0",
    "TICKOVER_DATA_DIR": "data",
    "TICKOVER_MAIL_URL": "outbox:",
    "TICKOVER_LOG_LEVEL": "warning",
    # Tests ask for more in a minute than people do in a day.
    "TICKOVER_RESEND_SECONDS": "1",
    "TICKOVER_SENDS_PER_HOUR": "0",
    "TICKOVER_SENDS_PER_HOUR_PER_NETWORK": "0",
    "TICKOVER_MAX_CLOCKS_PER_USER": "0",
    "TICKOVER_CLIENT_BURST": "0",
    "TICKOVER_CLIENT_REFILL": "0",
}


class Process:
    """The server's process, once it is ready."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self._process = process
        self._output = output
        self.url = ""

    def ending(self) -> str:
        """How it has ended, and what it said last; nothing while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"The Tickover server of this session has ended with exit code {code}.\n{self._told()}"

    def wait_until_ready(self, seconds: float) -> None:
        line = self._read_line(time.monotonic() + seconds)
        if line is None:
            _fail(f"The Tickover server was not ready within {seconds:g} seconds.", self._told())
        self.url = _url_in(line)
        if not self.url:
            _fail(f"The Tickover server did not start{self._last_code()}.", self._told(line))

    def _read_line(self, deadline: float) -> bytes | None:
        """What it prints first, until the end of the line or of the process; None when it prints nothing in time."""
        assert self._process.stdout
        read = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not read.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                piece = os.read(self._process.stdout.fileno(), 65_536)
                if not piece:
                    break
                read += piece
        return read

    def _last_code(self) -> str:
        try:
            return f", but ended with exit code {self._process.wait(_LAST_SECONDS)}"
        except subprocess.TimeoutExpired:
            return ""

    def _told(self, printed: bytes = b"") -> str:
        with self._output.open("rb") as file:
            file.seek(max(0, self._output.stat().st_size - _SHOWN_BYTES))
            text = (printed + file.read()).decode(errors="replace").strip("\n")
        return f"Its last output:\n{text}" if text else "It has printed nothing."


def _fail(*lines: str) -> NoReturn:
    # Where in our code that is found out helps nobody.
    pytest.fail("\n".join(lines), pytrace=False)


def _url_in(line: bytes) -> str:
    """What it says when it is ready; empty when it says something else."""
    try:
        return str(json.loads(line.partition(b"\n")[0])["url"])
    except (ValueError, KeyError, TypeError):
        return ""


@contextmanager
def running(
    folder: Path,
    command: Sequence[str] = _COMMAND,
    start_seconds: float = _START_SECONDS,
    stop_seconds: float = _STOP_SECONDS,
) -> Iterator[Process]:
    """A server with its data in `folder`, ready when the context is entered, and ended when it is left."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
    output = folder / "output.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - it is our own program
            command,
            cwd=folder,
            env=environment | _SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            start_new_session=True,  # a Ctrl-C in the terminal, as in a debugger, is not for it
        )
    try:
        server = Process(process, output)
        server.wait_until_ready(start_seconds)
        yield server
    finally:
        _stop(process, stop_seconds)


def _stop(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """End its input, which asks it to stop, and see to it that it does."""
    assert process.stdin
    assert process.stdout
    process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
