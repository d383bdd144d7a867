"""Fixtures for browser tests. They use Debian's Chromium and install it if that is possible."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.console import Console, open_console
from tests.browser.tabs import TIMEOUT_MS, Tab, open_tab
from tests.support.chromium import require_chromium
from tests.support.program import Program

_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    # All tabs of a profile share a process, which compiles the scripts of the console once.
    "--renderer-process-limit=1",
    "--in-process-gpu",
    # No page runs long enough to pay for optimized code and frequent garbage collections.
    "--js-flags=--no-opt --min-semi-space-size=32",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> str:
    return require_chromium()


@pytest.fixture(scope="session")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server for all tests that change neither its settings nor its files."""
    with Program(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture(scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    expect.set_options(timeout=TIMEOUT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with open_tab(browser) as opened:
        yield opened


@pytest.fixture
async def console(browser: Browser, program: Program) -> AsyncIterator[Console]:
    """The console of a new user. It has no page yet."""
    async with open_console(browser, program) as opened:
        yield opened
