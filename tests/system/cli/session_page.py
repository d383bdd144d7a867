"""Runs the commands of docs/command-line.md. `python -m tests.system.cli.session_page` updates the output.

A `console` block has commands after `$ ` and their output, 80 columns wide. All blocks form one session of one new
user. An ellipsis replaces IDs and codes, which differ from run to run.
"""

import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.program import Program
from tests.support.repository import ROOT
from tests.system.shells import Shell

PAGE: Final = ROOT / "docs" / "command-line.md"
_SESSION: Final = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(r"clock_(?:…[0-9a-f]{8}|[0-9a-f-]{36})")
_ID_IN_A_COLUMN: Final = re.compile(r"clock_[0-9a-f-]{36}(?=  )")
_CODE: Final = re.compile(r"(?<=code )[0-9]{6}")


def update_page(page: str, folder: Path) -> str:
    """Return the page with the current output of its commands."""
    with Program(folder) as program:
        shell = Shell(folder / "config", program.url)
        code = 0

        def play(session: re.Match[str]) -> str:
            nonlocal code
            parts = []
            for command in re.findall(r"^\$ (.*)$", session[1], re.MULTILINE):
                output, code = _run(command, shell, code)
                parts.append(f"$ {command}\n{output}\n")
            return "```console\n" + "".join(parts).rstrip("\n") + "\n```"

        return _SESSION.sub(play, page)


def _run(command: str, shell: Shell, code: int) -> tuple[str, int]:
    """Return the output of a command and its exit code."""
    if command == "echo $?":
        return f"{code}\n", 0
    name, *arguments = shlex.split(command)
    assert name == "tickover", f"not a tickover command: {command}"
    result = shell(*arguments)
    return _normalize(result.err + result.out, shell), result.code


def _normalize(output: str, shell: Shell) -> str:
    portable = output.replace(str(shell.home), "~/.config").replace(shell.url, "http://127.0.0.1:8000")
    in_columns = _ID_IN_A_COLUMN.sub(lambda found: "clock_…".ljust(len(found[0])), portable)
    return _CODE.sub("…", _ID.sub("clock_…", in_columns))


def main() -> None:
    with TemporaryDirectory() as folder:
        PAGE.write_text(update_page(PAGE.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
