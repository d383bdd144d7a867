"""README and docs/curl.md are followed as a newcomer would: what they say is pasted, and answers what they show."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.debian_packages import need
from tests.program import Program
from tests.transcripts import ROOT

_END = "-- end of block --"


class Step(NamedTuple):
    commands: str
    shown: str
    """What the page says that they answer, line by line; empty when it says nothing."""


def steps(page: str) -> list[Step]:
    text = (ROOT / page).read_text("utf-8")
    found = re.finditer(r"^```sh\n(.*?)^```$(?:\n\n> ```\n(.*?)^> ```$)?", text, re.DOTALL | re.MULTILINE)
    return [Step(step[1], re.sub("^> ?", "", step[2] or "", flags=re.MULTILINE)) for step in found]


def run_as_pasted(shell: str, commands: list[str], program: Program, folder: Path) -> list[str]:
    """What each block prints, when all are run in one shell, in this folder.

    The pages' server listens on port 8000. Here that port may be taken, so the program listens on another one, and the
    commands are told so; nothing else about them is changed.
    """
    blocks = [block.replace("http://127.0.0.1:8000", program.url) for block in commands]
    script = program.folder / "pasted.sh"
    script.write_text("set -e\n" + "".join(f"{block}printf '\\n%s\\n' '{_END}'\n" for block in blocks))
    environment = {
        **os.environ,
        "no_proxy": "*",
        "TICKOVER_URL": program.url,
        "XDG_CONFIG_HOME": str(program.folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    ran = subprocess.run(
        [shell, str(script)], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr + program.output
    return ran.stdout.split(_END)[:-1]


def assert_shows(output: str, shown: str) -> None:
    """Every line that is shown is in the output, in that order; … stands for anything."""
    lines = iter(line.strip() for line in output.splitlines())
    for wanted in shown.splitlines():
        pattern = ".*".join(map(re.escape, wanted.strip().split("…")))
        assert any(re.fullmatch(pattern, line) for line in lines), f"{wanted!r} is not there, or not in this order"


shells = pytest.mark.parametrize("shell", ["bash", "zsh"])


@shells
def test_the_readme_leads_from_nothing_to_an_advanced_clock(shell: str, tmp_path: Path) -> None:
    need(shell)
    start, tests, activate, *pasted = steps("README.md")
    # These are not pasted: the first is what Program does, the second is this very run, and the third would name an
    # environment that may be elsewhere.
    assert [start.commands, tests.commands] == ["make run\n", "make test\n"]
    assert activate.commands == ". .venv/bin/activate\n"
    with Program(tmp_path) as program:
        here = f"PATH={Path(sys.executable).parent}:$PATH\n"
        outputs = run_as_pasted(shell, [here, *(step.commands for step in pasted)], program, tmp_path)
    assert [bool(step.shown) for step in pasted].count(True) >= 1
    for step, output in zip(pasted, outputs[1:], strict=True):
        assert_shows(output, step.shown)
    assert "a copy" in outputs[-1]


@shells
def test_the_page_on_curl_leads_to_an_advanced_clock(shell: str, tmp_path: Path) -> None:
    need(shell)
    need("curl")
    pasted = steps("docs/curl.md")
    with Program(tmp_path) as program:
        outputs = run_as_pasted(shell, [step.commands for step in pasted], program, tmp_path)
    for step, output in zip(pasted, outputs, strict=True):
        assert_shows(output, step.shown)
    clock = json.loads(outputs[-1])["result"]["clock"]
    assert clock["frozenTime"] == "2027-02-01T00:00:00Z"
    assert [item["name"] for item in clock["transactions"]] == ["Rent", "Salary"]
    assert [goal["currentAmount"] for goal in clock["goals"]] == [810]


def test_the_test_in_the_readme_passes_and_can_fail(tmp_path: Path) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / "test_readme_example.py").write_text(example)
    (tmp_path / "test_the_other_way_round.py").write_text(example.replace(") < names", ") > names"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TICKOVER_", "PYTEST_"))}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/curl.md"])
def test_commands_can_be_pasted_into_a_shell_at_its_prompt(page: str) -> None:
    """At its prompt zsh takes # for a command, and both shells take ! for history."""
    assert not [step.commands for step in steps(page) if re.search(r"(^|\s)#|!", step.commands)]
