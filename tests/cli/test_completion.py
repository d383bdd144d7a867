"""Completion in shells: what is offered, and the scripts that ask for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shells import Shell
from tests.debian_packages import need
from tickover.cli.root import COMPLETE_VARIABLE
from tickover.scenarios import names


@pytest.fixture
def nobody(tmp_path: Path) -> Shell:
    """Somebody who needs no server."""
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


def completed(shell: Shell, words: str) -> list[list[str]]:
    """What bash is told to offer after these words: kinds and values."""
    given = words.split(" ")
    assert COMPLETE_VARIABLE == "_TICKOVER_COMPLETE"
    offered = shell(_TICKOVER_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(given) - 1))
    return [line.split(",") for line in offered.out.splitlines()]


def plain(offered: list[list[str]]) -> set[str]:
    return {value for kind, value in offered if kind == "plain"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("tickover clo", {"clock"}),
        ("tickover clock a", {"advance"}),
        ("tickover clock advance --", {"--to", "--by", "--next", "--all", "--url", "--json", "--no-color", "--help"}),
        ("tickover clock create sal", {"salary-and-rent"}),
        ("tickover clock create --scenario tr", {"trip"}),
        ("tickover clock create zzz", set()),
        ("tickover scenarios show tr", {"trip"}),
        ("tickover scenarios show ", set(names())),
        ("tickover completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_words_are_completed(nobody: Shell, words: str, offered: set[str]) -> None:
    assert plain(completed(nobody, words)) == offered


@pytest.mark.parametrize(
    "words", ["tickover clock create", "tickover clock create --scenario", "tickover scenarios show"]
)
@pytest.mark.parametrize("begun", ["my/l", "tr"])
def test_where_a_scenario_may_be_a_file_files_are_offered_too(nobody: Shell, words: str, begun: str) -> None:
    # Before all names, because bash forgets what came before files.
    assert completed(nobody, f"{words} {begun}")[0] == ["file", begun]


def test_what_is_offered_has_no_gaps_which_zsh_would_leave_out(nobody: Shell) -> None:
    lines = nobody(_TICKOVER_COMPLETE="zsh_complete", COMP_WORDS="tickover clock create ", COMP_CWORD="3").out.split(
        "\n"
    )
    assert lines[:5] == ["file", "./", "_", "plain", names()[0]]
    assert "" not in lines[:-1]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_is_one_that_the_shell_reads(nobody: Shell, name: str, tmp_path: Path) -> None:
    ran = nobody("completion", name)
    assert ran.code == 0
    assert f"{COMPLETE_VARIABLE}={name}_complete" in ran.out
    assert nobody("completion", name, "--json").json == {"shell": name, "script": ran.out.removesuffix("\n")}
    need(name)
    script = tmp_path / "script"
    script.write_text(ran.out)
    subprocess.run([name, "-n", str(script)], timeout=20, check=True)


def test_bash_completes_with_the_script(nobody: Shell, tmp_path: Path) -> None:
    need("bash")
    command = Path(sys.executable).with_name("tickover")
    script = f"""eval "$({command} completion bash)"
COMP_WORDS=({command} clock cre) COMP_CWORD=2
_tickover_completion {command}
echo "${{COMPREPLY[@]}}"
"""
    ran = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True, text=True, timeout=30, check=True, env=nobody.environment(),
    )  # fmt: skip
    assert ran.stdout == "create\n"
