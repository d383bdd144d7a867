"""Holds back requests of a page."""

import asyncio
from collections.abc import Callable
from typing import Self

from playwright.async_api import Page, Request, Route

from tests.browser.tabs import TIMEOUT_MS


def calls(method: str) -> Callable[[Request], bool]:
    """Return a predicate for requests that call this operation. Pages that poll also send others."""
    return lambda request: request.method == "POST" and (request.post_data_json or {}).get("method") == method


class HeldRequests:
    """Holds back requests with one JSON-RPC method or path until they are released.

    With `first_response`, all requests are sent, and only the first response is held back.
    """

    def __init__(self, page: Page, target: str, *, first_response: bool = False) -> None:
        self._page = page
        self._target = target
        self._first_response = first_response
        self._is_holding = False
        self._released = asyncio.Event()
        self._arrived = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._page.route(f"**{self._target}" if self._target.startswith("/") else "**/rpc", self._handle)
        return self

    async def __aexit__(self, *_: object) -> None:
        # The route remains, because Chromium can lose a request of a navigation while Playwright removes the last one.
        self._released.set()

    async def arrived(self) -> None:
        """Wait until a request is held back."""
        await asyncio.wait_for(self._arrived.wait(), TIMEOUT_MS / 1000)

    async def release(self) -> None:
        """Send the requests and wait until the page has handled the response to one of them, or left the document."""
        count = "handledResponses.filter((name) => name === target).length"
        before = await self._page.evaluate(f"(target) => {{ window.isHeld = true; return {count}; }}", self._target)
        self._released.set()
        handled = f"([target, before]) => !window.isHeld || {count} > before"
        await self._page.wait_for_function(handled, arg=[self._target, before])

    def drop(self) -> None:
        """Send the requests without waiting for their responses."""
        self._released.set()

    async def _handle(self, route: Route) -> None:
        is_over = self._released.is_set() or (self._first_response and self._is_holding)
        if is_over or not self._matches(route.request):
            await route.fallback()
            return
        self._is_holding = True
        response = await route.fetch() if self._first_response else None
        self._arrived.set()
        await self._released.wait()
        if response:
            await route.fulfill(response=response)
        else:
            await route.fallback()

    def _matches(self, request: Request) -> bool:
        return request.url.endswith(self._target) or calls(self._target)(request)
