"""Testing against a server that runs already, and where none can be started."""

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import tickover.pytest_plugin as plugin
from tests.program import Program
from tickover.pytest_plugin.server import find_server

pytest_plugins = ["pytester"]

OF_THE_SERVER = {
    "aiosmtplib", "apsw", "asyncpg", "dns", "email_validator", "httptools", "jinja2", "structlog", "uvloop"
}  # fmt: skip


def test_a_run_may_use_a_server_that_runs_already(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(
        """
        import os

        def test_it(tickover, client, clock, mailbox):
            assert tickover.url == os.environ["TICKOVER_URL"].rstrip("/")
            assert client.get_clock(clock("trip").id)
            with tickover.client(mailbox.address()) as other:
                assert other.token
        """
    )
    with Program(pytester.path) as program:
        monkeypatch.setenv("TICKOVER_URL", f"{program.url}/")
        pytester.runpytest_subprocess("-n", "0").assert_outcomes(passed=1)
        assert len(program.letters()) == 2
        assert program.result("rpc.discover", {})


@pytest.mark.parametrize(
    ("option", "variable", "setting", "chosen"),
    [
        ("http://option", "http://variable", "http://setting", "http://option"),
        ("", "http://variable", "http://setting", "http://variable"),
        ("", "", "http://setting", "http://setting"),
        ("", "", "", ""),
    ],
)
def test_the_option_comes_before_the_variable_and_that_before_the_setting(
    option: str,
    variable: str,
    setting: str,
    chosen: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytester.makeini(
        f"[pytest]\ntickover_url = {setting}\nasyncio_default_fixture_loop_scope = function"
        if setting
        else "[pytest]\nasyncio_default_fixture_loop_scope = function"
    )
    monkeypatch.setenv("TICKOVER_URL", variable)
    config = pytester.parseconfig("--tickover-url", option) if option else pytester.parseconfig()
    assert plugin._given_url(config) == chosen


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:1", "Can't connect to http://127.0.0.1:1"),
        ("localhost:8000", "invalid server URL 'localhost:8000'"),
    ],
)
def test_where_no_server_is_found_it_is_told(url: str, told: str) -> None:
    with pytest.raises(pytest.fail.Exception) as problem, find_server(url):
        pass
    named = f"the Tickover server {url}, which --tickover-url, TICKOVER_URL or tickover_url names"
    assert str(problem.value).startswith(f"Tests cannot use {named}: {told}")


def test_a_server_that_really_sends_its_mail_is_not_used_and_sends_none(tmp_path: Path) -> None:
    with (
        Program(tmp_path, TICKOVER_MAIL_URL="smtp://127.0.0.1:1") as program,
        pytest.raises(pytest.fail.Exception, match="it has no development mailbox, so nobody can be signed in"),
        find_server(program.url),
    ):
        pass
    # Nobody is there to take any, and it would complain.
    assert program.output.endswith("Press Ctrl-C to stop.\n\n")


def test_without_the_packages_of_the_server_it_is_told_how_to_get_them(pytester: pytest.Pytester) -> None:
    """In an environment of its own, which has all that is here but those packages."""
    home = pytester.path / "environment"
    venv.create(home, symlinks=True)
    there = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.name.partition("-")[0] not in OF_THE_SERVER:
            (there / package.name).symlink_to(package)
    pytester.makepyfile("def test_it(client): pass")
    ran = subprocess.run(
        [home / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"],
        env={name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")},
        cwd=pytester.path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "The Tickover server did not start, but ended with exit code 2.\n" in ran.stdout
    assert "pip install 'tickover[server]'" in ran.stdout
