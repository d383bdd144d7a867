"""Calls of a page that a test holds back, and a count of the timers and answers of the page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from playwright.async_api import Browser, Page, Request, Route

from tests.browser.consoles import Console, open_console
from tests.support.program import Program

_REFUSED = "Failed to load resource: the server responded with a status of"

# An answer counts as handled once everything that waited for it has run.
_COUNT = """
window.intervals = new Set();
const [start, stop, read] = [setInterval, clearInterval, Response.prototype.json];
window.setInterval = (...given) => {
  const id = start(...given);
  intervals.add(id);
  return id;
};
window.clearInterval = (id) => {
  intervals.delete(id);
  stop(id);
};
window.answersHandled = 0;
Response.prototype.json = async function () {
  try {
    return await read.call(this);
  } finally {
    setTimeout(() => (answersHandled += 1));
  }
};
"""


async def count_timers_and_answers(page: Page) -> None:
    """Make `live_intervals` and `Held.release` work on the documents that the page opens from now on."""
    await page.add_init_script(_COUNT)


@asynccontextmanager
async def open_counted_console(browser: Browser, program: Program) -> AsyncIterator[Console]:
    """A console of somebody who is signed in, whose timers and answers are counted."""
    async with open_console(browser, program) as console:
        console.tab.forgiven = (_REFUSED,)
        await count_timers_and_answers(console.page)
        yield console


async def live_intervals(page: Page) -> int:
    count: int = await page.evaluate("() => intervals.size")
    return count


class Held:
    """While entered, requests of one method, or of one path, wait until they are released."""

    def __init__(self, page: Page, what: str) -> None:
        self._page = page
        self._what = what
        self._released = asyncio.Event()
        self._arrived = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._page.route("**/*", self._handle)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        await self._page.unroute("**/*", self._handle)

    async def arrived(self) -> None:
        """Wait until a request is held."""
        await asyncio.wait_for(self._arrived.wait(), 15)

    async def release(self) -> None:
        """Let the requests go, and wait until the page has handled the next answer."""
        handled = await self._page.evaluate("() => answersHandled")
        self._released.set()
        await self._page.wait_for_function("(before) => answersHandled > before", arg=handled)

    def drop(self) -> None:
        """Let the requests go whose answers nobody waits for."""
        self._released.set()

    async def _handle(self, route: Route) -> None:
        if self._matches(route.request) and not self._released.is_set():
            self._arrived.set()
            await self._released.wait()
        await route.fallback()

    def _matches(self, request: Request) -> bool:
        if request.method != "POST":
            return request.url.endswith(self._what)
        return bool((request.post_data_json or {}).get("method") == self._what)
