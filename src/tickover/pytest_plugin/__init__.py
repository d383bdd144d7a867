"""The pytest plugin: a private server for the session, and fixtures to sign in, make clocks and read mail.

Every pytest run of every project that has Tickover installed imports this module. So it takes from Tickover nothing
until a fixture is asked for; by then coverage measures, too.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tickover.client import Tickover
    from tickover.pytest_plugin.clocks import ClockFactory
    from tickover.pytest_plugin.emails import Mailbox
    from tickover.pytest_plugin.server import Server

__all__ = ["ClockFactory", "Mailbox", "Server"]

# None of these modules may be called like a fixture: an imported one becomes an attribute of this module, too.
_MODULES = {"ClockFactory": "clocks", "Mailbox": "emails", "Server": "server"}
_SERVER = pytest.StashKey["Server"]()


def __getattr__(name: str) -> Any:
    """The types of the fixtures, for annotations in tests."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


# Options and hooks


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "test against this Tickover server, which must keep its mail, instead of starting one"
    parser.getgroup("tickover").addoption("--tickover-url", metavar="URL", help=told)
    parser.addini("tickover_url", told, default="")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if server := item.config.stash.get(_SERVER, None):
        server.begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a test failed, say how the clocks stand that it made."""
    report = yield
    if report.failed and (server := item.config.stash.get(_SERVER, None)) and (story := server.tell()):
        report.sections.append(("tickover", story))
    return report


# Fixtures


@pytest.fixture(scope="session")
def tickover(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real Tickover server of this session's own: .url, .client(), .async_client() and .mailbox."""
    from tickover.pytest_plugin.server import find_server, start_server  # noqa: PLC0415 - see above

    url = _given_url(pytestconfig)
    with find_server(url) if url else start_server(tmp_path_factory.mktemp("tickover")) as server:
        pytestconfig.stash[_SERVER] = server
        yield server
        del pytestconfig.stash[_SERVER]


def _given_url(config: pytest.Config) -> str:
    """The address of a server that runs already; empty when one is to be started."""
    url: str = config.getoption("tickover_url") or os.environ.get("TICKOVER_URL") or config.getini("tickover_url")
    return url


@pytest.fixture
def tickover_client(tickover: Server) -> Iterator[Tickover]:
    """A client of the server, signed in as a user whom no other test knows."""
    with tickover.client() as client:
        yield client


@pytest.fixture
def tickover_clock(tickover_client: Tickover) -> ClockFactory:
    """Make a clock: of nothing, of a scenario by its name or path, of a plan, or of its parts."""
    from tickover.pytest_plugin.clocks import ClockFactory  # noqa: PLC0415 - see above

    return ClockFactory(tickover_client)


@pytest.fixture
def tickover_mailbox(tickover: Server) -> Mailbox:
    """The mail that the server has sent: .address() is a new one, .wait_for(address) its next letter."""
    return tickover.mailbox


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Any:
    """Short for tickover_client."""
    return _give_way(request, "tickover_client")


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> Any:
    """Short for tickover_clock."""
    return _give_way(request, "tickover_clock")


@pytest.fixture
def mailbox(request: pytest.FixtureRequest) -> Any:
    """Short for tickover_mailbox."""
    return _give_way(request, "tickover_mailbox")


def _give_way(request: pytest.FixtureRequest, ours: str) -> Any:
    """Another plugin's fixture of this name, if there is one, and ours otherwise.

    The names are common ones, and of two plugins the one that happens to be loaded last would win.
    """
    name = request.fixturename
    try:
        return request.getfixturevalue(str(name))
    except pytest.FixtureLookupError as missing:
        if missing.argname != name:
            raise
    return request.getfixturevalue(ours)
