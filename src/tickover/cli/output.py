"""Where a command's words go: text for a person or JSON for a program on standard output, remarks on standard error."""

import os
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from tickover.cli import wording
from tickover.cli.troubles import Trouble

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
            click.echo(self.fitting(line))

    def draw(self, lines: Iterable["Text"]) -> None:
        """Lines that fit the width already."""
        for line in lines:
            self.console.print(self.drawable(line), soft_wrap=True)

    def drawable(self, line: "Text") -> "Text":
        if not self._shows_all:
            line = line.copy()
            line.plain = self.fitting(line.plain)
        return line

    def fitting(self, text: str) -> str:
        """The text in characters that standard output can show."""
        return text if self._shows_all else text.translate(_ASCII)

    def remark(self, *lines: str) -> None:
        """For a person only, beside what the command gives out."""
        if not self.wants_json:
            for line in lines:
                click.echo(_fitting_error(wording.safe(line)), err=True)


def tell(trouble: Trouble, *, as_json: bool) -> None:
    """Say on standard error what went wrong."""
    if as_json:
        click.echo(written(trouble.document).encode(), err=True)
        return
    for line in trouble.lines:
        click.echo(_fitting_error(line), err=True)


def written(value: Any, indent: int = 0) -> str:
    """As JSON, with nothing in it that a terminal obeys."""
    from msgspec import json

    from tickover.plans import encode

    document = encode(value)
    text = (json.format(document, indent=indent) if indent else document).decode()
    # JSON itself escapes what comes before them.
    return _UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def set_streams_up() -> None:
    """Have characters that a stream cannot show shown as question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def give_up_stdout() -> None:
    """Nobody reads it any more: let nothing be said about that when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
