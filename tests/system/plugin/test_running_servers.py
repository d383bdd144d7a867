"""Tests against a running server, and without the server's packages."""

from pathlib import Path

import pytest

import tickover.pytest_plugin as plugin
from tests.support.program import Program
from tickover.pytest_plugin.server_fixture import use_server

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("option", "variable", "setting", "expected"),
    [
        ("http://option", "http://variable", "http://setting", "http://option"),
        ("", "http://variable", "http://setting", "http://variable"),
        ("", "", "http://setting", "http://setting"),
        ("", "", "", ""),
    ],
)
def test_the_option_overrides_the_variable_which_overrides_the_setting(
    option: str, variable: str, setting: str, expected: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini(f"[pytest]\nasyncio_default_fixture_loop_scope = function\ntickover_url = {setting}")
    monkeypatch.setenv("TICKOVER_URL", variable)
    config = pytester.parseconfig("--tickover-url", option) if option else pytester.parseconfig()
    assert plugin._configured_url(config) == expected


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://127.0.0.1:1", "Can't connect to http://127.0.0.1:1"),
        ("localhost:8000", "invalid server URL 'localhost:8000'"),
    ],
)
def test_an_unusable_server_is_reported(url: str, problem: str) -> None:
    with pytest.raises(pytest.fail.Exception) as caught, use_server(url):
        pass
    source = "--tickover-url, TICKOVER_URL or tickover_url"
    assert str(caught.value).startswith(f"Tests can't use the Tickover server {url} (set by {source}): {problem}")


def test_a_server_without_a_mailbox_is_not_used_and_sends_no_email(tmp_path: Path) -> None:
    with (
        Program(tmp_path, TICKOVER_MAIL_URL="smtp://127.0.0.1:1") as program,
        pytest.raises(pytest.fail.Exception, match="it has no development mailbox, so tests can't sign in"),
        use_server(program.url),
    ):
        pass
    # The SMTP port is closed, so the server would log an error if it sent an email.
    assert program.output.endswith("Press Ctrl-C to stop.\n\n")
