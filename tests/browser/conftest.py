"""A real browser: Debian's Chromium, installed if it is missing and this is a machine on which that may be done."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.tabs import Tab, open_tab

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


def _install() -> str:
    """Install it once, whichever process comes first; what went wrong, or nothing."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "only root on Debian can install it"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with (Path(tempfile.gettempdir()) / "tickover-tests-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _find():
            return ""
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                return f"{' '.join(command)} failed: {ran.stderr[-500:]}"
    return ""


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is."""
    trouble = "" if _find() else _install()
    found = _find()
    if found is None:
        message = f"there is no {', '.join(_NAMES)} here, and {trouble or 'installing it did not help'}"
        # Where every change is judged, a test that did not run has to be seen.
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    # Nobody waits so long unless something is wrong; the machine may be busy with other tests.
    expect.set_options(timeout=15_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser) -> AsyncIterator[Tab]:
    async with open_tab(browser) as opened:
        yield opened
