"""Runs a private server in a process that stops when its parent process ends for any reason."""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tickover.testing import SETTINGS

if TYPE_CHECKING:
    from tickover.pytest_plugin.server_fixture import Server

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0
_EXIT_SECONDS: Final = 2.0
"""How long to wait for the exit code of a process that printed something unexpected."""
_MAX_OUTPUT: Final = 4000

_COMMAND: Final = (sys.executable, "-m", "tickover", "serve", "--attached")


class Process:
    """The process of a server."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self._process = process
        self._output = output
        self.url = ""

    def exit_message(self) -> str:
        """Return the exit code and the last output, or an empty string while the process runs."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"The Tickover server of this session exited with code {code}.\n{self._last_output()}"

    def wait_until_ready(self, seconds: float) -> None:
        """Read the URL that a ready server prints on its first line."""
        line = self._read_line(time.monotonic() + seconds)
        if line is None:
            problem = f"The Tickover server was not ready within {seconds:g} seconds."
            pytest.fail(f"{problem}\n{self._last_output()}", pytrace=False)
        try:
            self.url = str(json.loads(line)["url"])
        except (ValueError, KeyError, TypeError):
            problem = f"The Tickover server didn't start{self._exit_code()}."
            pytest.fail(f"{problem}\n{self._last_output(line)}", pytrace=False)

    def _read_line(self, deadline: float) -> str | None:
        """Return the output up to the first line end or the end of the process, or None after the deadline."""
        assert self._process.stdout
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                chunk = os.read(self._process.stdout.fileno(), 65_536)
                if not chunk:
                    break
                line += chunk
        return line.decode(errors="replace")

    def _exit_code(self) -> str:
        try:
            return f": it exited with code {self._process.wait(_EXIT_SECONDS)}"
        except subprocess.TimeoutExpired:
            return ""

    def _last_output(self, printed: str = "") -> str:
        text = (printed + self._output.read_text(errors="replace")[-_MAX_OUTPUT:]).strip("\n")
        return f"Last output:\n{text}" if text else "It printed nothing."


@contextmanager
def run_server(
    folder: Path,
    command: Sequence[str] = _COMMAND,
    start_seconds: float = _START_SECONDS,
    stop_seconds: float = _STOP_SECONDS,
) -> Iterator[Process]:
    """Run a server with its data in `folder`. It is ready when the context is entered, and stopped at its end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
    output = folder / "output.txt"
    with (
        output.open("wb") as file,
        subprocess.Popen(  # noqa: S603 - the command is trusted
            command,
            cwd=folder,
            env=environment | SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            start_new_session=True,  # Ctrl-C in the terminal must not stop it
        ) as process,
    ):
        assert process.stdin
        try:
            server = Process(process, output)
            # The fixtures' modules take as long to import as the server to start.
            import_module("tickover.pytest_plugin.server_fixture")
            import_module("tickover.pytest_plugin.clock_fixture")
            server.wait_until_ready(start_seconds)
            yield server
        finally:
            # A server with --attached stops when its standard input ends.
            process.stdin.close()
            try:
                process.wait(stop_seconds)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def start_server(folder: Path) -> Iterator["Server"]:
    """Start a private server with its data in `folder`."""
    with run_server(folder) as process:
        from tickover.client import Tickover  # noqa: PLC0415 - imported while the server starts
        from tickover.pytest_plugin.server_fixture import Server  # noqa: PLC0415 - the same

        with Tickover(process.url) as client:
            yield Server(client, process.exit_message)
