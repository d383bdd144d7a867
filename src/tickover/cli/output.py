"""Where a command's words go: text for a person or JSON for a program on standard output, remarks on standard error."""

import os
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

import click

from tickover.cli import formatting
from tickover.cli.errors import Trouble

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_DRAWN: Final = "●○│─▁▂▃▄▅▆▇█▒░→…✓✗−\N{REPLACEMENT CHARACTER}"
_ASCII: Final = str.maketrans(_DRAWN, "*o|-_.-:=+*#=.>~+x-?")
_UNESCAPED: Final = re.compile("[\x7f-\x9f]")


class Output:
    """What was asked of the output, and the ways to write to it."""

    def __init__(self) -> None:
        self.wants_json = False
        self.wants_no_color = False

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def width(self) -> int:
        return self.console.width

    @cached_property
    def console(self) -> "Console":
        from tickover.cli.console import PlainConsole

        return PlainConsole(colors=not self.wants_no_color)

    @cached_property
    def _shows_all(self) -> bool:
        return _shows_all(sys.stdout)

    def document(self, value: Any) -> None:
        """One JSON document: on one line, or laid out where a person reads it."""
        text = written(value, indent=2 if self.is_terminal else 0)
        click.echo(text.encode())

    def line(self, value: Any) -> None:
        """One JSON document on one line, at once."""
        click.echo(written(value).encode())

    def say(self, document: Any, *lines: str) -> None:
        """The document for a program, or the lines for a person."""
        if self.wants_json:
            self.document(document)
        for line in () if self.wants_json else lines:
            click.echo(self.fitting(formatting.safe(line)))

    def draw(self, lines: Iterable["Text"]) -> None:
        """Lines that fit the width already."""
        for line in lines:
            self.console.print(self.drawable(line), soft_wrap=True)

    def drawable(self, line: "Text") -> "Text":
        """The line in characters that the terminal can show, and none that it obeys."""
        # Whoever counts cells has made texts safe before; here it is for what somebody forgot.
        plain = self.fitting(formatting.safe(line.plain))
        if plain != line.plain:
            line = line.copy()
            line.plain = plain
        return line

    def fitting(self, text: str) -> str:
        """The text in characters that standard output can show."""
        return text if self._shows_all else text.translate(_ASCII)

    def remark(self, *lines: str) -> None:
        """For a person only, beside what the command gives out."""
        if not self.wants_json:
            for line in lines:
                _echo_error(_fitting_error(formatting.safe(line)))


def tell(trouble: Trouble, *, as_json: bool) -> None:
    """Say on standard error what went wrong."""
    if as_json:
        _echo_error(written(trouble.document).encode())
        return
    for line in trouble.lines:
        _echo_error(_fitting_error(line))


def _echo_error(text: str | bytes) -> None:
    try:
        click.echo(text, err=True)
    except OSError:
        # Nobody can be told that there is nobody to tell; the exit code remains.
        give_up(sys.stderr)


def written(value: Any, indent: int = 0) -> str:
    """As JSON, with nothing in it that a terminal obeys."""
    from msgspec import json

    from tickover.plans import encode_json

    document = encode_json(value)
    text = (json.format(document, indent=indent) if indent else document).decode()
    # JSON itself escapes what comes before them.
    return _UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def set_streams_up() -> None:
    """Have a stream that is closed be empty, and characters that a stream cannot show shown as question marks."""
    # In the order of their numbers, of which each takes the lowest that is free: its own.
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _nothing(mode: Literal["r", "w"]) -> TextIO:
    return Path(os.devnull).open(mode, encoding="utf-8")


def give_up(stream: TextIO) -> None:
    """Nobody reads it any more, or it is full: let nothing be said about that when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fitting_error(text: str) -> str:
    return text if _shows_all(sys.stderr) else text.translate(_ASCII)


def _shows_all(stream: TextIO) -> bool:
    """Whether a stream can show what we draw with."""
    # In the plain C locale Python writes UTF-8 all the same, but a terminal that was set up so does not expect it.
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    try:
        _DRAWN.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return locale not in ("C", "POSIX")
