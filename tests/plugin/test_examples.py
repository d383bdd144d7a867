"""What the docs and the sample project show of the plugin is run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tickover.pytest_plugin as plugin
from tests.transcripts import ROOT

pytest_plugins = ["pytester"]

FIXTURES = {name for name, value in vars(plugin).items() if type(value) is type(plugin.tickover)}
PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}


def fences(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_examples_of_the_page_do_what_it_says(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TICKOVER_URL", raising=False)
    pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function")
    examples = fences("python")
    for number, example in enumerate(examples):
        (pytester.path / f"test_{number}.py").write_text(example)
    tests = sum(example.count("\ndef test_") for example in ["\n" + example for example in examples])
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    # One is there to show the report of a failing test.
    result.assert_outcomes(passed=tests - 1, failed=1)
    [report] = fences("text")
    shown = [re.sub("clock_[0-9a-f-]{36}", "clock_*", line) for line in report.splitlines()]
    result.stdout.fnmatch_lines(shown, consecutive=True)


def test_the_settings_of_the_page_choose_a_server(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TICKOVER_URL", raising=False)
    [url] = set(re.findall(r"http://[^\s\"]+", PAGE))
    [command] = [line for line in "".join(fences("sh")).splitlines() if line.startswith("pytest ")]
    assert plugin._given_url(pytester.parseconfig(*command.split()[1:])) == url
    [settings] = fences("toml")
    pytester.makepyprojecttoml(settings)
    assert plugin._given_url(pytester.parseconfig()) == url


def test_the_page_names_every_fixture_and_type() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(listed) == {name for name in FIXTURES if not name.startswith("tickover_")}
    assert [name for name in (*FIXTURES, *plugin.__all__) if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        # An environment of its own would not have that plugin, which wants a setting.
        ("pytest -p no:asyncio", "6 passed"),
        ("mypy", "no issues found in 4 source files"),
    ],
)
def test_the_sample_project_passes(tool: str, told: str, tmp_path: Path) -> None:
    project = tmp_path / "budget_app"
    shutil.copytree(ROOT / "examples" / "budget_app", project, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    ran = subprocess.run(
        [sys.executable, "-m", *tool.split()],
        cwd=project, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f" {told}" in ran.stdout
