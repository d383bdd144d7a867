"""The pytest plugin: a private server for the session, and fixtures for clients, clocks and emails.

pytest imports this module in every project that has Tickover installed. The module imports the rest of Tickover only
when a test uses a fixture. This keeps other runs fast, and lets coverage measure Tickover itself.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tickover.client import Tickover
    from tickover.pytest_plugin.clock_fixture import Bank, BankFactory, ClockFactory, Webhooks
    from tickover.pytest_plugin.server_fixture import Mailbox, Server

__all__ = ["Bank", "BankFactory", "ClockFactory", "Mailbox", "Server", "Webhooks"]

_SERVER = pytest.StashKey["Server"]()
_EXPECT = "tickover_expect"
_CHECKS_CLOCKS = pytest.StashKey[bool]()


def __getattr__(name: str) -> Any:
    """Import the types of the fixtures on first use. Tests need them for annotations."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # No module here may have the name of a fixture: importing it would replace the fixture in this namespace.
    module = "server_fixture" if name in ("Mailbox", "Server") else "clock_fixture"
    return getattr(import_module(f"{__name__}.{module}"), name)


# Options and hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "use this running Tickover server, which must have the development mailbox, instead of starting one"
    parser.getgroup("tickover").addoption("--tickover-url", metavar="URL", help=help)
    parser.addini("tickover_url", help, default="")


def pytest_configure(config: pytest.Config) -> None:
    marker = f"{_EXPECT}(*expectations, until=None, opening_balances=None): check every clock of the test after it"
    config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if server := item.config.stash.get(_SERVER, None):
        server.begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test whose marker checks nothing. A marker on a class or a module may cover tests without clocks."""
    yield
    is_marked = any(marker.name == _EXPECT for marker in item.own_markers)
    if is_marked and not item.stash.get(_CHECKS_CLOCKS, False):
        message = (
            f"{item.name} has the marker {_EXPECT}, but no clock was checked, because the test doesn't use the "
            'fixture "clock" (or "tickover_clock"). Create the clocks with the fixture, or remove the marker.'
        )
        pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the clocks of a failed test to its report."""
    report = yield
    if (
        report.failed
        and (server := item.config.stash.get(_SERVER, None))
        and (clocks := server.describe_clocks(_is_property(item)))
    ):
        report.sections.append(("tickover", clocks))
    return report


def _is_property(item: pytest.Item) -> bool:
    """Return whether Hypothesis runs the test with many examples."""
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


# Fixtures


@pytest.fixture(scope="session")
def tickover(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real Tickover server for this session: .url, .client(), .async_client() and .mailbox."""
    if url := _configured_url(pytestconfig):
        opened = import_module("tickover.pytest_plugin.server_fixture").use_server(url)
    else:
        opened = import_module("tickover.pytest_plugin.process").start_server(tmp_path_factory.mktemp("tickover"))
    with opened as server:
        pytestconfig.stash[_SERVER] = server
        yield server
        del pytestconfig.stash[_SERVER]


def _configured_url(config: pytest.Config) -> str:
    """Return the URL of a running server, or an empty string to start one."""
    url: str = config.getoption("tickover_url") or os.environ.get("TICKOVER_URL") or config.getini("tickover_url")
    return url


@pytest.fixture
def tickover_client(tickover: Server) -> Iterator[Tickover]:
    """A client signed in as a new user."""
    with tickover.client() as client:
        yield client


@pytest.fixture
def tickover_clock(tickover_client: Tickover, request: pytest.FixtureRequest) -> Iterator[ClockFactory]:
    """Creates clocks: empty, from a scenario's name or path, from a plan, or from its parts."""
    from tickover.pytest_plugin.clock_fixture import ClockFactory  # noqa: PLC0415 - see the module docstring

    factory = ClockFactory(tickover_client)
    request.node.stash[_CHECKS_CLOCKS] = True
    yield factory
    for marker in request.node.iter_markers(_EXPECT):
        factory.check_clocks(*marker.args, **marker.kwargs)


@pytest.fixture
def tickover_bank(tickover: Server, tickover_clock: ClockFactory, tickover_client: Tickover) -> BankFactory:
    """Connects clocks to an app that uses Plaid or SimpleFIN, and returns the .url and the token for the app."""
    from tickover.pytest_plugin.clock_fixture import BankFactory  # noqa: PLC0415 - see the module docstring

    return BankFactory(tickover.url, tickover_clock, tickover_client)


@pytest.fixture
def tickover_mailbox(tickover: Server) -> Mailbox:
    """The emails that the server sent. .address() is a new address, .wait_for(address) waits for its next email."""
    return tickover.mailbox


@pytest.fixture
def tickover_webhooks() -> Webhooks:
    """Delivers the events of clocks to a handler: .secret signs them, .deliver(clock, to) returns the answers."""
    from tickover.pytest_plugin.clock_fixture import Webhooks  # noqa: PLC0415 - see the module docstring

    return Webhooks()


def _alias(fixture: str) -> Any:
    """Return a fixture that is another plugin's of the same name if there is one, and otherwise `fixture`.

    The aliases are common names. Without this, the plugin that pytest loads last would win.
    """

    def resolve(request: pytest.FixtureRequest) -> Any:
        name = str(request.fixturename)
        try:
            return request.getfixturevalue(name)
        except pytest.FixtureLookupError as missing:
            if missing.argname != name:
                raise
        return request.getfixturevalue(fixture)

    resolve.__doc__ = f"Alias of {fixture}."
    return pytest.fixture(resolve)


client = _alias("tickover_client")
clock = _alias("tickover_clock")
bank = _alias("tickover_bank")
webhooks = _alias("tickover_webhooks")
mailbox = _alias("tickover_mailbox")
