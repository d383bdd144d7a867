"""The examples in docs/pytest.md run."""

import re

import pytest

import tickover.pytest_plugin as plugin
from tests.support.repository import ROOT

pytest_plugins = ["pytester"]

PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8")


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_examples_in_the_docs_run(
    tickover: plugin.Server, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKOVER_URL", tickover.url)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\nfilterwarnings = error")
    examples = code_blocks("python")
    for number, example in enumerate(examples):
        (pytester.path / f"test_{number}.py").write_text(example)
    tests = sum(example.count("\ndef test_") for example in ["\n" + example for example in examples])
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "tickover.pytest_plugin")
    # One example fails on purpose, to show its report.
    result.assert_outcomes(passed=tests - 1, failed=1)
    [report] = code_blocks("text")
    expected = [re.sub("clock_[0-9a-f-]{36}", "clock_*", line) for line in report.splitlines()]
    result.stdout.fnmatch_lines(expected, consecutive=True)


def test_settings_in_the_docs_select_a_server(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TICKOVER_URL", raising=False)
    [url] = set(re.findall(r"http://[^\s\"]+", PAGE))
    [command] = [line for line in "".join(code_blocks("sh")).splitlines() if line.startswith("pytest ")]
    assert plugin._configured_url(pytester.parseconfig(*command.split()[1:])) == url
    [settings] = code_blocks("toml")
    pytester.makepyprojecttoml(settings)
    assert plugin._configured_url(pytester.parseconfig()) == url
