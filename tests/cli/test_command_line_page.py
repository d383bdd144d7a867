"""The page on the command line says what is: its session is run, and its tables are held to the code."""

from pathlib import Path

import click
import pytest

from tests.cli.session_page import PAGE, rewritten
from tests.cli.test_help import ALL
from tests.test_docs import quoted, rows
from tickover.cli.errors import EXITS, Exit
from tickover.cli.root import root

SHARED = {"--json", "--no-color", "--url", "--help", "-h"}


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def table(page: str, heads: str) -> list[list[str]]:
    # A bar that is escaped is no end of a cell.
    return [[cell.replace("\0", "|") for cell in row] for row in rows(page.replace("\\|", "\0"), heads)]


def test_the_session_is_what_the_program_shows(page: str, tmp_path: Path) -> None:
    assert rewritten(page, tmp_path) == page, "run `python -m tests.cli.session_page`, and read what it changes"


def test_the_table_of_exit_codes_is_the_codes(page: str) -> None:
    told = table(page, "Code | Kind | When | Reasons of the server")
    assert {int(code): (quoted(kind), set(quoted(reasons))) for code, kind, _, reasons in told} == {
        int(exit): ([exit.name], {str(reason) for reason, code in EXITS.items() if code == exit}) for exit in Exit
    }


def command_at(words: tuple[str, ...]) -> click.Command:
    command: click.Command = root
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found
        command = found
    return command


def test_the_table_of_commands_is_the_commands_with_their_options(page: str) -> None:
    told = {quoted(usage)[0]: options for usage, options, _ in table(page, "Command | Options | What it does")}
    shown = {words: [usage for usage in told if usage.startswith(f"tickover {' '.join(words)}")] for words in ALL}
    leaves = [words for words in ALL if words != ("clock",)]
    assert len(told) == len(leaves)
    for words in leaves:
        usage = min(shown[words], key=len)
        named = {option.split()[0] for option in quoted(told[usage]) if option.startswith("-")}
        options = {
            option
            for parameter in command_at(words).params
            if isinstance(parameter, click.Option)
            for option in parameter.opts
        }
        missing = {"--attached"} if words == ("serve",) else options - SHARED
        assert missing <= named <= options, words


def test_the_table_of_documents_names_every_command(page: str) -> None:
    named = [name for row in table(page, "Command | Document") for name in quoted(row[0])]
    full = {f"clock {name}" if name in ("show", "fork") else name for name in named}
    assert full == {" ".join(words) for words in ALL if words != ("clock",)}


def test_the_page_shows_every_line_that_completion_help_shows(page: str) -> None:
    lines = [quoted(line)[0] for _, line, _ in table(page, "Shell | Line | File")]
    shown = command_at(("completion",)).help or ""
    assert len(lines) == 3
    assert all(line in shown for line in lines)
