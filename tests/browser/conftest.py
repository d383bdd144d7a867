"""Fixtures for browser tests. They use Debian's Chromium and install it if that is possible."""

import shutil
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.tabs import TIMEOUT_MS, Tab, create_shared_profile, open_tab
from tests.support.debian_packages import install, require
from tests.support.program import Program

_HEADLESS_SHELL = "chromium-headless-shell"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _find_headless_shell() -> str | None:
    return shutil.which(_HEADLESS_SHELL)


def _find_browser() -> str | None:
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the headless shell, which needs less time than the whole browser, or of a browser."""
    if _find_headless_shell() is None:
        install(_HEADLESS_SHELL, unless=_find_headless_shell)
    return _find_headless_shell() or require(_find_browser, "chromium")


@pytest.fixture(scope="session")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server for all tests that change neither its settings nor its files."""
    with Program(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    expect.set_options(timeout=TIMEOUT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        await create_shared_profile(browser)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with open_tab(browser) as opened:
        yield opened
