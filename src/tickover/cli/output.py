"""Output of commands: text or JSON on standard output, notes and errors on standard error."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from tickover.api.terminal import sanitize
from tickover.cli.cli_errors import CliError

if TYPE_CHECKING:
    from rich.text import Text

_C1_CONTROLS: Final = "[\x7f-\x9f]"
_DEFAULT_WIDTH: Final = 80


class Output:
    """The output options of a command, and methods that write."""

    def __init__(self) -> None:
        self.wants_json = False

    @property
    def width(self) -> int:
        """The width of COLUMNS or of the terminal, in cells."""
        # As shutil.get_terminal_size, which takes long to import.
        if (columns := os.environ.get("COLUMNS", "")).isdecimal():
            return int(columns)
        for stream in range(3):
            # Output to a pager is as wide as the terminal of the other streams.
            with suppress(OSError):
                return os.get_terminal_size(stream).columns or _DEFAULT_WIDTH
        return _DEFAULT_WIDTH

    def write_json(self, value: Any) -> None:
        """Write one JSON document: indented at a terminal, else on one line."""
        text = to_json(value, indent=2 if sys.stdout.isatty() else 0)
        click.echo(text.encode())

    def write_json_line(self, value: Any) -> None:
        """Write one JSON document on one line."""
        click.echo(to_json(value).encode())

    def write(self, document: Any, *lines: str) -> None:
        """Write `document` if the user wants JSON, or else the lines."""
        if self.wants_json:
            self.write_json(document)
            return
        for line in lines:
            click.echo(sanitize(line))

    def draw(self, lines: Iterable["Text"]) -> None:
        """Write styled lines without wrapping them."""
        from tickover.cli.render.layout import to_ansi

        has_colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        for line in lines:
            # Renderers sanitize text before they measure it. This catches text that they missed.
            line.plain = sanitize(line.plain)
            sys.stdout.write(f"{to_ansi(line) if has_colours else line.plain}\n")
        sys.stdout.flush()

    def note(self, line: str) -> None:
        """Write to standard error, unless the user wants JSON."""
        if not self.wants_json:
            _echo_error(sanitize(line))


def report_error(error: CliError, *, as_json: bool) -> None:
    """Write the error to standard error."""
    if as_json:
        _echo_error(to_json(error.document).encode())
        return
    for line in error.lines:
        _echo_error(line)


def _echo_error(text: str | bytes) -> None:
    try:
        click.echo(text, err=True)
    except OSError:
        # Standard error is closed or full. The exit code still reports the failure.
        discard_output(sys.stderr)


def to_json(value: Any, indent: int = 0) -> str:
    """Encode as JSON without control characters."""
    from msgspec import json

    from tickover.api.plans import encode_json

    document = encode_json(value)
    text = (json.format(document, indent=indent) if indent else document).decode()
    # JSON escapes C0 controls, but not DEL and C1 controls.
    return re.sub(_C1_CONTROLS, lambda found: f"\\u{ord(found[0]):04x}", text)


def configure_streams() -> None:
    """Open /dev/null for closed standard streams, and replace characters that a stream can't encode."""
    # The order matters: each open takes the lowest free file descriptor, which is the stream's own.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def discard_output(stream: TextIO) -> None:
    """Redirect a broken stream to /dev/null, so that flushing it at exit doesn't fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
