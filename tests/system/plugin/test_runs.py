"""Whole pytest runs: sessions, workers and failure reports.

They run in this process where possible, and use the private server of this session where it doesn't matter which.
"""

import json
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import tickover.pytest_plugin as plugin
from tests.support.program import wait_until

pytest_plugins = ["pytester"]

SETTINGS = """
    [pytest]
    addopts = -p tickover.pytest_plugin -p no:cacheprovider
    filterwarnings = error
"""


@pytest.fixture(autouse=True)
def _project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load no other plugins, because importing them takes most of the time of a run."""
    pytester.makeini(SETTINGS)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("TICKOVER_URL", raising=False)
    monkeypatch.setenv("FOLDER", str(pytester.path))


@pytest.fixture
def _use_server_of_this_session(tickover: plugin.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKOVER_URL", tickover.url)


def is_listening(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as connection:
        return connection.connect_ex((address.hostname, address.port)) == 0


def test_every_worker_has_its_own_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import json, os, pathlib, pytest

        @pytest.mark.parametrize("number", range(4))
        def test_it(number, tickover, client):
            assert list(client.list_clocks()) == []
            with tickover.client("ana@example.test") as ana:
                ids = [clock.id for clock in ana.list_clocks()] + [ana.create_clock().id]
            seen = {"worker": os.environ["PYTEST_XDIST_WORKER"], "url": tickover.url, "ids": ids}
            (pathlib.Path(os.environ["FOLDER"]) / f"seen-{number}.json").write_text(json.dumps(seen))
        """
    )
    pytester.runpytest_subprocess("-p", "xdist.plugin", "-n", "2", "--dist", "load").assert_outcomes(passed=4)
    seen = [json.loads(file.read_text()) for file in pytester.path.glob("seen-*.json")]
    servers = {(one["worker"], one["url"]) for one in seen}
    assert len({worker for worker, _ in servers}) == len({url for _, url in servers}) == len(servers) == 2
    # The servers share no clocks.
    first, second = ({id for one in seen if one["url"] == url for id in one["ids"]} for _, url in servers)
    assert not first & second
    assert [url for _, url in servers if is_listening(url)] == []


@pytest.mark.usefixtures("_use_server_of_this_session")
def test_the_report_of_a_failed_test_contains_its_clocks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tickover.client import expense

        RENT = expense("Rent", 1150, "EUR", "2027-01-03T08:00:00Z")
        SHOES = expense("Shoes", 80, "EUR", "2027-02-03T08:00:00Z")

        def test_fails(clock, client):
            made = clock(transactions=[RENT, SHOES])
            client.get_clock(made.id).advance(months=1)
            made.refresh()
            made.spend("Coffee", 3.5, "EUR")
            made.cancel(made.pending_transactions[0])
            clock(frozen_time="2026-01-01T00:00:00Z")
            assert made is None

        def test_fails_with_another_user(tickover):
            with tickover.client("bo@example.test") as bo, tickover.client("bo@example.test"):
                bo.create_clock(frozen_time="2028-01-01T00:00:00Z")
                bo.create_clock().delete()
                assert bo is None

        @pytest.fixture
        def failing_teardown(clock):
            clock(frozen_time="2029-01-01T00:00:00Z")
            yield
            assert not "at the end"

        def test_fails_at_teardown(failing_teardown):
            pass

        def test_fails_with_many_clocks(clock):
            for year in range(2030, 2036):
                clock(frozen_time=f"{year}-01-01T00:00:00Z")
            assert clock is None

        def test_passes(clock):
            clock(transactions=[RENT])

        def test_fails_without_a_clock(client):
            assert client is None
        """
    )
    result = pytester.runpytest_inprocess("-rP")
    result.assert_outcomes(passed=2, failed=4, errors=1)
    assert len([line for line in result.outlines if " tickover -" in line]) == 4
    lines = [line for line in result.outlines if line.startswith(("_", "--", "clock_", "  ●", "  ○", "  (", "("))]
    pytest.LineMatcher(lines).fnmatch_lines(
        [
            "*_ ERROR at teardown of test_fails_at_teardown _*",
            "*- tickover -*",
            "clock_* at 2029-01-01T00:00:00Z",
            "  (no events)",
            "*_ test_fails _*",
            "*- tickover -*",
            "clock_* at 2027-02-01T00:00:00Z",
            "  ● 2027-01-03T08:00:00Z  -1150 EUR  Rent",
            "  ● 2027-02-01T00:00:00Z  -3.50 EUR  Coffee",
            "clock_* at 2026-01-01T00:00:00Z",
            "  (no events)",
            "*_ test_fails_with_another_user _*",
            "*- tickover -*",
            "clock_* at 2028-01-01T00:00:00Z",
            "  (no events)",
            "*_ test_fails_with_many_clocks _*",
            "*- tickover -*",
            "(older clocks are omitted)",
            *[line for year in range(2031, 2036) for line in (f"clock_* at {year}-01-01T00:00:00Z", "  (*)")],
            "*_ test_fails_without_a_clock _*",
        ],
        consecutive=True,
    )


@pytest.mark.usefixtures("_use_server_of_this_session")
def test_expectations_fail_tests_with_a_marked_timeline(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tickover.client import expense, never_below

        RENT = expense("Rent", 20, "EUR", "2027-01-03")

        def test_check(clock):
            clock(transactions=[RENT]).check(never_below("EUR", 0))

        @pytest.mark.tickover_expect(never_below("EUR", 0))
        def test_marker(clock):
            clock(transactions=[RENT])

        @pytest.mark.tickover_expect(never_below("EUR", 0), opening_balances={"EUR": 20})
        def test_marker_with_opening(clock):
            clock(transactions=[RENT])

        @pytest.mark.tickover_expect(never_below("EUR", 0))
        def test_deleted(clock):
            clock(transactions=[RENT]).delete()

        @pytest.mark.tickover_expect(never_below("EUR", 0))
        class TestClass:
            def test_in_a_class(self, clock):
                clock(transactions=[RENT])
        """
    )
    result = pytester.runpytest_inprocess("--strict-markers")
    result.assert_outcomes(passed=4, failed=1, errors=2)
    timeline = [
        "E * 2027-01-03T00:00:00Z  -20 EUR  = -20 EUR  Rent",
        "E   *✗ 2027-01-03T00:00:00Z  The EUR balance is never below 0.",
    ]
    result.stdout.fnmatch_lines(timeline * 3)
    result.stdout.fnmatch_lines(
        ["E   *ExpectationFailed: Below 0.00 EUR *, because of Rent (-20.00): 0.00 -> -20.00. *1 of 1 *"]
    )
    result.stdout.no_fnmatch_line("*format_violations*")


@pytest.mark.usefixtures("_use_server_of_this_session")
def test_clock_of_a_falsifying_example_is_marked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from hypothesis import given, settings, strategies
        from tickover.client import expense, never_below

        @settings(deadline=None, database=None, max_examples=30)
        @given(strategies.integers(min_value=1, max_value=50))
        def test_property(tickover_client, amount):
            clock = tickover_client.create_clock(
                frozen_time="2027-01-01", transactions=[expense("Rent", amount, "EUR", "2027-01-03")]
            )
            clock.check(never_below("EUR", -20))
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:hypothesispytest")
    result.assert_outcomes(failed=1)
    [mark] = [index for index, line in enumerate(result.outlines) if line == "The falsifying example:"]
    assert result.outlines[mark + 1].startswith("clock_")
    assert result.outlines[mark + 2].endswith("-21 EUR  Rent")


@pytest.mark.usefixtures("_use_server_of_this_session")
def test_marker_without_the_clock_fixture_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tickover.client import never_below

        expect = pytest.mark.tickover_expect(never_below("EUR", 0), opening_balances={"EUR": 0})

        @expect
        def test_without_fixture(client):
            client.create_clock()

        @expect
        def test_skipped():
            pytest.skip("no")

        @expect
        def test_with_late_fixture(request):
            request.getfixturevalue("clock")()

        @expect
        class TestClass:
            def test_without_clocks(self):
                pass
        """
    )
    result = pytester.runpytest_inprocess("--strict-markers")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["test_without_fixture has the marker tickover_expect, but no clock was checked, *remove the marker."]
    )


def test_a_killed_server_is_reported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_kills_it(tickover, clock):
            made = clock()
            process = tickover._exit_message.__self__._process
            process.kill()
            process.wait()
            made.advance(days=1)

        def test_needs_a_client(client):
            pass

        def test_needs_an_email(mailbox):
            mailbox.wait_for(mailbox.address())

        def test_needs_nothing():
            pass
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*_ ERROR at setup of test_needs_a_client _*",
            "The Tickover server of this session exited with code -9.",
            "*_ test_kills_it _*",
            "E *Unreachable: Can't connect to http://127.0.0.1:*",
            "*- tickover -*",
            "The Tickover server of this session exited with code -9.",
            "*_ test_needs_an_email _*",
            "The Tickover server of this session exited with code -9.",
        ]
    )


def test_the_server_stops_when_pytest_is_killed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, pathlib, threading

        def test_it(tickover, client):
            file = pathlib.Path(os.environ["FOLDER"]) / "url"
            file.with_suffix(".new").write_text(tickover.url)
            file.with_suffix(".new").rename(file)
            threading.Event().wait()
        """
    )
    url_file = pytester.path / "url"
    with (pytester.path / "output.txt").open("wb") as output:
        run = subprocess.Popen([sys.executable, "-m", "pytest"], stdout=output, stderr=output)
    try:
        wait_until(lambda: url_file.exists() or run.poll() is not None)
        assert run.poll() is None, (pytester.path / "output.txt").read_text()
        url = url_file.read_text()
        assert is_listening(url)
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not is_listening(url))
