"""Tests of help texts and usage errors, and that neither imports slow modules."""

import subprocess
import sys

import pytest

from tests.system.shells import Shell
from tickover import __version__

SLOW_MODULES = {"asyncio", "httpx2", "rich", "tickover.client", "tickover.scenarios", "uvloop", "apsw", "asyncpg"}


def test_help_does_not_import_slow_modules() -> None:
    commands = ["", "--help", "--version", "clock", "clock show --help", "login -h", "clok"]
    script = """
import sys
from tickover.cli.root import run
print([int(run(command.split())) for command in sys.argv[1:]])
print(*sys.modules, sep='\\n')
"""
    result = subprocess.run(
        [sys.executable, "-c", script, *commands], capture_output=True, text=True, timeout=120, check=True
    )
    assert f"tickover, version {__version__}" in result.stdout
    assert "\n[0, 0, 0, 0, 0, 0, 2]\n" in result.stdout
    assert set(result.stdout.splitlines()) & SLOW_MODULES == set()
    assert "click" in result.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["clok"], "No such command 'clok'. Did you mean 'clock'?", "tickover --help"),
        (["clock", "show", "--jsn"], "No such option", "tickover clock show --help"),
        (["login"], "Missing argument 'EMAIL'", "tickover login --help"),
        (["completion"], "Choose from: bash, zsh, fish", "tickover completion --help"),
        (["clock", "export", "--opening", "eur=5"], "'eur=5' isn't a currency", "tickover clock export --help"),
    ],
)
def test_usage_error_has_one_sentence_and_a_help_command(
    offline_shell: Shell, arguments: list[str], message: str, hint: str
) -> None:
    result = offline_shell(*arguments)
    assert (result.code, result.out) == (2, "")
    first, second = result.err.splitlines()
    assert first.startswith("tickover: ")
    assert message in first
    # Click lays out some messages over several lines. They must become one sentence.
    assert not {"\N{REPLACEMENT CHARACTER}", "\t"} & set(first)
    assert second == f"  See: {hint}"


@pytest.mark.parametrize("argument", ["\udcff@example.test", "\ud800"])
def test_arguments_must_be_utf_8(offline_shell: Shell, argument: str) -> None:
    result = offline_shell("login", argument)
    assert (result.code, result.out, result.err) == (2, "", "tickover: The arguments aren't valid UTF-8.\n")
