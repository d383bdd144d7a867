"""The page on the command line, whose sessions are run. `python -m tests.cli.session_page` writes their output anew.

A fence `console` holds commands behind `$ ` and what they show, 80 columns wide. All fences of the page are one session
of one person, who has not signed in before. Ids, codes and the like, which differ from run to run, are shown as ….
"""

import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.cli.shells import Shell
from tests.program import Program
from tests.transcripts import ROOT

PAGE: Final = ROOT / "docs" / "command-line.md"
_SESSION: Final = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(r"clock_(?:…[0-9a-f]{8}|[0-9a-f-]{36})")
_ID_IN_A_COLUMN: Final = re.compile(r"clock_[0-9a-f-]{36}(?=  )")
_CODE: Final = re.compile(r"(?<=Code )[0-9]{6}")


def rewritten(page: str, folder: Path) -> str:
    """The page with what its commands show just now."""
    with Program(folder) as program:
        shell = Shell(folder / "config", program.url)
        code = 0

        def play(session: re.Match[str]) -> str:
            nonlocal code
            shown = []
            for command in re.findall(r"^\$ (.*)$", session[1], re.MULTILINE):
                output, code = _run(command, shell, code)
                shown.append(f"$ {command}\n{output}\n")
            return "```console\n" + "".join(shown).rstrip("\n") + "\n```"

        return _SESSION.sub(play, page)


def _run(command: str, shell: Shell, code: int) -> tuple[str, int]:
    """What a command shows, and its exit code."""
    if command == "echo $?":
        return f"{code}\n", 0
    name, *arguments = shlex.split(command)
    assert name == "tickover", f"{command} is no command of ours"
    ran = shell(*arguments)
    return _as_on_any_machine(ran.err + ran.out, shell), ran.code


def _as_on_any_machine(output: str, shell: Shell) -> str:
    named = output.replace(str(shell.home), "~/.config").replace(shell.url, "http://127.0.0.1:8000")
    in_columns = _ID_IN_A_COLUMN.sub(lambda found: "clock_…".ljust(len(found[0])), named)
    return _CODE.sub("…", _ID.sub("clock_…", in_columns))


def main() -> None:
    with TemporaryDirectory() as folder:
        PAGE.write_text(rewritten(PAGE.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
