"""Runs a private server in a process that stops when its parent process ends for any reason."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tickover.testing import SETTINGS

if TYPE_CHECKING:
    from tickover.pytest_plugin.server import Server

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0
_MAX_OUTPUT: Final = 4000

_COMMAND: Final = (sys.executable, "-m", "tickover", "serve", "--attached")


class Process:
    """The process of a server."""

    def __init__(self, process: "subprocess.Popen[str]", output: Path) -> None:
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
        assert self._process.stdout
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            problem = f"The Tickover server was not ready within {seconds:g} seconds."
            pytest.fail(f"{problem}\n{self._last_output()}", pytrace=False)
        line = self._process.stdout.readline()
        try:
            self.url = str(json.loads(line)["url"])
        except (ValueError, KeyError, TypeError):
            pytest.fail(f"The Tickover server didn't start.\n{self._last_output(line)}", pytrace=False)

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
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal must not stop it
        ) as process,
    ):
        assert process.stdin
        try:
            server = Process(process, output)
            # The fixtures' modules take as long to import as the server to start.
            import_module("tickover.pytest_plugin.server")
            import_module("tickover.pytest_plugin.clocks")
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
        from tickover.pytest_plugin.server import Server  # noqa: PLC0415 - the same

        with Tickover(process.url) as client:
            yield Server(client, process.exit_message)
