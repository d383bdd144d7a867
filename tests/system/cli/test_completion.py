"""Tests of shell completion."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.debian_packages import require_program
from tests.system.shells import Shell
from tickover.cli.root import COMPLETE_VARIABLE
from tickover.scenarios import names


def complete(shell: Shell, words: str) -> list[list[str]]:
    """Return bash's completions of the last word: kinds and values."""
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
        ("tickover clock a", {"add", "advance"}),
        ("tickover clock advance --", {"--to", "--by", "--next", "--url", "--json", "--help"}),
        ("tickover clock create sal", {"salary-and-rent"}),
        ("tickover clock create zzz", set()),
        ("tickover scenarios show ", set(names())),
    ],
)
def test_commands_options_and_scenarios_are_complete(offline_shell: Shell, words: str, offered: set[str]) -> None:
    assert plain(complete(offline_shell, words)) == offered


def test_bash_completes_with_the_script(offline_shell: Shell, tmp_path: Path) -> None:
    require_program("bash")
    command = Path(sys.executable).with_name("tickover")
    script = f"""eval "$({command} completion bash)"
COMP_WORDS=({command} clock cre) COMP_CWORD=2
_tickover_completion {command}
echo "${{COMPREPLY[@]}}"
"""
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True, text=True, timeout=120, check=True, env=offline_shell.environment(),
    )  # fmt: skip
    assert result.stdout == "create\n"
