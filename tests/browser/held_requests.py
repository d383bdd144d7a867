"""Holds back requests of a page, and counts its timers and responses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from playwright.async_api import Browser, Page, Request, Route

from tests.support.console import HTTP_ERROR, Console, open_console
from tests.support.program import Program
from tests.support.tabs import TIMEOUT_MS

# A response counts as handled when all its promise callbacks have run.
_INSTRUMENT = """
window.intervals = new Set();
const [start, stop, read] = [setInterval, clearInterval, Response.prototype.json];
window.setInterval = (...args) => {
  const id = start(...args);
  intervals.add(id);
  return id;
};
window.clearInterval = (id) => {
  intervals.delete(id);
  stop(id);
};
window.responsesHandled = 0;
Response.prototype.json = async function () {
  try {
    return await read.call(this);
  } finally {
    setTimeout(() => (responsesHandled += 1));
  }
};
"""


async def instrument_page(page: Page) -> None:
    """Prepare the next documents of the page for `active_intervals` and `HeldRequests.release`."""
    await page.add_init_script(_INSTRUMENT)


@asynccontextmanager
async def open_instrumented_console(browser: Browser, program: Program) -> AsyncIterator[Console]:
    """Open a console with a session and count its timers and responses."""
    async with open_console(browser, program) as console:
        console.tab.ignored_prefixes = (HTTP_ERROR,)
        await instrument_page(console.page)
        yield console


async def active_intervals(page: Page) -> int:
    count: int = await page.evaluate("() => intervals.size")
    return count


class HeldRequests:
    """Holds back requests with one JSON-RPC method or path, or only the first one, until they are released."""

    def __init__(self, page: Page, target: str, *, only_first: bool = False) -> None:
        self._page = page
        self._target = target
        self._only_first = only_first
        self._released = asyncio.Event()
        self._arrived = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._page.route("**/*", self._handle)
        return self

    async def __aexit__(self, *_: object) -> None:
        # The route remains, because Chromium can lose a request of a navigation while Playwright removes the last one.
        self._released.set()

    async def arrived(self) -> None:
        """Wait until a request is held back."""
        await asyncio.wait_for(self._arrived.wait(), TIMEOUT_MS / 1000)

    async def release(self) -> None:
        """Send the requests and wait until the page has handled the next response."""
        handled = await self._page.evaluate("() => responsesHandled")
        self._released.set()
        await self._page.wait_for_function("(before) => responsesHandled > before", arg=handled)

    def drop(self) -> None:
        """Send the requests without waiting for their responses."""
        self._released.set()

    async def _handle(self, route: Route) -> None:
        is_over = self._released.is_set() or (self._only_first and self._arrived.is_set())
        if self._matches(route.request) and not is_over:
            self._arrived.set()
            await self._released.wait()
        await route.fallback()

    def _matches(self, request: Request) -> bool:
        if request.method != "POST":
            return request.url.endswith(self._target)
        return bool((request.post_data_json or {}).get("method") == self._target)
