"""Help, wrong commands and completion: what is answered at once, without importing what only commands need."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.shells import Shell
from tickover.cli.root import clock, root

HEAVY = {
    "asyncio",
    "httpx2",
    "rich",
    "tickover.client",
    "tickover.scenarios",
    "uvloop",
    "apsw",
    "asyncpg",
    "structlog",
}


def commands(group: click.Group = root, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = list(commands())


@pytest.fixture
def nobody(tmp_path: Path) -> Shell:
    """Somebody who needs no server."""
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


def test_there_are_these_commands() -> None:
    assert {" ".join(words) for words in ALL} == {
        "login",
        "logout",
        "clock",
        *(f"clock {name}" for name in ("create", "show", "advance", "fork", "watch", "list", "delete")),
        "scenarios",
        "scenarios show",
        "serve",
        "migrate",
        "sweep",
        "copy",
        "completion",
    }


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_has_help_within_80_columns(nobody: Shell, words: tuple[str, ...]) -> None:
    ran = nobody(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: tickover {' '.join(words)} [OPTIONS]")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "--json" in ran.out


@pytest.mark.parametrize("words", [words for words in ALL if words[0] in ("login", "clock", "scenarios")], ids=" ".join)
def test_help_has_examples(nobody: Shell, words: tuple[str, ...]) -> None:
    assert f"\n  tickover {' '.join(words[:1])}" in nobody(*words, "--help").out


@pytest.mark.parametrize("group", [(root, ()), (clock, ("clock",))], ids=["tickover", "tickover clock"])
def test_a_group_alone_prints_its_help(nobody: Shell, group: tuple[click.Group, tuple[str, ...]]) -> None:
    ran = nobody(*group[1])
    assert (ran.code, ran.err, ran.out) == (0, "", nobody(*group[1], "--help").out)
    for name in group[0].list_commands(click.Context(group[0])):
        assert f"\n  {name} " in ran.out


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["--version"], ["clock"], ["clock", "show", "--help"], ["login", "-h"], ["clok"]]
)
def test_help_imports_nothing_that_takes_long(arguments: list[str]) -> None:
    script = "import sys; from tickover.cli.root import run; run(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=30, check=True
    )
    assert set(ran.stdout.splitlines()) & HEAVY == set()
    assert "click" in ran.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["clok"], "There is no command 'clok'; did you mean 'clock'?", "tickover --help"),
        (["clock", "shw"], "There is no command 'shw'; did you mean 'show'?", "tickover clock --help"),
        (["zzz"], "There is no command 'zzz'; there are login, logout, clock, scenarios, serve,", "tickover --help"),
        (["clock", "show", "--jsn"], "No such option", "tickover clock show --help"),
        (["clock", "show", "one", "two"], "Got unexpected extra argument", "tickover clock show --help"),
        (["login"], "Missing argument 'EMAIL'", "tickover login --help"),
        (["completion", "tcsh"], "'tcsh' is not one of", "tickover completion --help"),
        (["completion"], "Choose from: bash, zsh, fish", "tickover completion --help"),
    ],
)
def test_a_wrong_command_is_one_sentence_and_where_to_look(
    nobody: Shell, arguments: list[str], said: str, hint: str
) -> None:
    ran = nobody(*arguments)
    assert (ran.code, ran.out) == (2, "")
    first, second = ran.err.splitlines()
    assert first.startswith("tickover: ")
    assert said in first
    # What click lays out in lines and columns is one sentence here.
    assert not {"\N{REPLACEMENT CHARACTER}", "\t"} & set(first)
    assert second == f"  See: {hint}"


def test_a_wrong_command_is_json_for_a_program(nobody: Shell) -> None:
    for arguments in (["--json", "clok"], ["clock", "shw", "--json"]):
        ran = nobody(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.error["reason"] == "WRONG_COMMAND"
        assert ran.error["exitCode"] == 2


@pytest.mark.parametrize("arguments", [["login", "\udcff@example.test"], ["clock", "show", "\ud800" * 4], ["\udfff"]])
def test_what_is_no_text_is_no_command(nobody: Shell, arguments: list[str]) -> None:
    ran = nobody(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", "tickover: What was typed is not text in UTF-8.\n")
