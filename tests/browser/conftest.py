"""Fixtures for browser tests. They use Debian's Chromium and install it if that is possible."""

import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.tabs import Tab, open_tab
from tests.support.debian_packages import require

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _find() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the browser."""
    return require(_find, "chromium")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    # Long enough for a busy machine.
    expect.set_options(timeout=15_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with open_tab(browser) as opened:
        yield opened
