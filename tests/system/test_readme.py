"""Runs the commands in README.md and docs/curl.md and compares their output with the pages."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.debian_packages import require_program
from tests.support.program import Program
from tests.support.repository import ROOT
from tickover.pytest_plugin import Server

pytest_plugins = ["pytester"]

_END = "-- end of block --"


class Step(NamedTuple):
    commands: str
    expected: str
    """The output on the page, or an empty string."""


def steps(page: str) -> list[Step]:
    text = (ROOT / page).read_text("utf-8")
    found = re.finditer(r"^```sh\n(.*?)^```$(?:\n\n> ```\n(.*?)^> ```$)?", text, re.DOTALL | re.MULTILINE)
    return [Step(step[1], re.sub("^> ?", "", step[2] or "", flags=re.MULTILINE)) for step in found]


def readme_tests() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)


def run_blocks(commands: list[str], program: Program, folder: Path) -> list[str]:
    """Run all blocks in one zsh, which is stricter than bash. Return the output of each block.

    The pages use port 8000, which may be taken. The commands get the port of `program` instead.
    """
    blocks = [block.replace("http://127.0.0.1:8000", program.url) for block in commands]
    require_program("zsh")
    script = folder / "pasted.sh"
    script.write_text("set -e\n" + "".join(f"{block}printf '\\n%s\\n' '{_END}'\n" for block in blocks))
    environment = {
        **os.environ,
        "no_proxy": "*",
        "TICKOVER_URL": program.url,
        "XDG_CONFIG_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    result = subprocess.run(
        ["zsh", str(script)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr + program.output
    subprocess.run(["bash", "-n", str(script)], timeout=60, check=True)
    return result.stdout.split(_END)[:-1]


def assert_contains(output: str, expected: str) -> None:
    """Check that the output has every expected line in order. An ellipsis matches any text."""
    lines = iter(line.strip() for line in output.splitlines())
    for line_pattern in expected.splitlines():
        pattern = ".*".join(map(re.escape, line_pattern.strip().split("…")))
        assert any(re.fullmatch(pattern, line) for line in lines), f"{line_pattern!r} is missing or out of order"


def test_readme_commands_work(program: Program, tmp_path: Path) -> None:
    run, test, activate, *blocks = steps("README.md")
    # The test doesn't run these three: Program starts the server, and the tests already run in an environment.
    assert [run.commands, test.commands] == ["make run\n", "make test\n"]
    assert activate.commands == ". .venv/bin/activate\n"
    (tmp_path / "test_rent.py").write_text(readme_tests()[-1])
    set_path = f"PATH={Path(sys.executable).parent}:$PATH\n"
    outputs = run_blocks([set_path, *(step.commands for step in blocks)], program, tmp_path)
    assert [bool(step.expected) for step in blocks].count(True) >= 1
    for step, output in zip(blocks, outputs[1:], strict=True):
        assert_contains(output, step.expected)
    assert "a copy" in outputs[-2]
    assert "1 passed" in outputs[-1]


def test_curl_commands_work(program: Program, tmp_path: Path) -> None:
    require_program("curl")
    blocks = steps("docs/curl.md")
    outputs = run_blocks([step.commands for step in blocks], program, tmp_path)
    for step, output in zip(blocks, outputs, strict=True):
        assert_contains(output, step.expected)
    clock = json.loads(outputs[-1])["result"]["clock"]
    assert clock["frozenTime"] == "2027-02-01T00:00:00Z"
    assert [item["name"] for item in clock["transactions"]] == ["Rent", "Salary"]
    assert [goal["currentAmount"] for goal in clock["goals"]] == [810]


def test_readme_test_passes_and_can_fail_in_a_checkout_without_other_plugins(
    tickover: Server, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "pyproject.toml", pytester.path)
    example = "\n".join(readme_tests())
    pytester.makepyfile(
        test_readme_example=example, test_readme_example_reversed=example.replace(") < names", ") > names")
    )
    monkeypatch.setenv("TICKOVER_URL", tickover.url)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_inprocess("-p", "tickover.pytest_plugin")
    result.assert_outcomes(passed=3, failed=1)
