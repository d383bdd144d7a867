"""Compares docs/command-line.md with the program: the session's output and the tables."""

from pathlib import Path

import click
import pytest

from tests.system.cli.session_page import PAGE, update_page
from tests.system.cli.test_help import ALL_COMMANDS
from tests.unit.test_docs import quoted, rows
from tickover.cli.errors import Exit
from tickover.cli.rejections import EXIT_CODES
from tickover.cli.root import root

SHARED = {"--json", "--no-color", "--url", "--help", "-h"}


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def table(page: str, heads: str) -> list[list[str]]:
    # An escaped bar doesn't end a cell.
    return [[cell.replace("\0", "|") for cell in row] for row in rows(page.replace("\\|", "\0"), heads)]


def test_session_matches_the_program(page: str, tmp_path: Path) -> None:
    assert update_page(page, tmp_path) == page, "run `python -m tests.system.cli.session_page` and review the changes"


def test_exit_code_table_matches_the_code(page: str) -> None:
    documented = table(page, "Code | Name | When | Server reasons")
    assert {int(code): (quoted(kind), set(quoted(reasons))) for code, kind, _, reasons in documented} == {
        int(exit): ([exit.name], {str(reason) for reason, code in EXIT_CODES.items() if code == exit}) for exit in Exit
    }


GROUPS = [("clock",), ("token",), ("users",)]
"""They do nothing themselves."""


def command_at(words: tuple[str, ...]) -> click.Command:
    command: click.Command = root
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found
        command = found
    return command


def test_command_table_matches_the_commands(page: str) -> None:
    documented = {quoted(usage)[0]: options for usage, options, _ in table(page, "Command | Options | Description")}
    usages = {
        words: [usage for usage in documented if usage.startswith(f"tickover {' '.join(words)}")]
        for words in ALL_COMMANDS
    }
    leaves = [words for words in ALL_COMMANDS if words not in GROUPS]
    assert len(documented) == len(leaves)
    for words in leaves:
        usage = min(usages[words], key=len)
        named = {option.split()[0] for option in quoted(documented[usage]) if option.startswith("-")}
        options = {
            option
            for parameter in command_at(words).params
            if isinstance(parameter, click.Option)
            for option in parameter.opts
        }
        # The settings have their own table.
        required = {"serve": {"--attached"}, "doctor": set[str]()}.get(words[0], options - SHARED)
        assert required <= named <= options, words


def test_json_table_names_every_command(page: str) -> None:
    named = [name for row in table(page, "Command | JSON") for name in quoted(row[0])]
    full = {f"clock {name}" if name in ("show", "fork") else name for name in named}
    assert full == {" ".join(words) for words in ALL_COMMANDS if words not in GROUPS}


def test_completion_lines_match_the_help(page: str) -> None:
    lines = [quoted(line)[0] for _, line, _ in table(page, "Shell | Line | File")]
    shown = command_at(("completion",)).help or ""
    assert len(lines) == 3
    assert all(line in shown for line in lines)
