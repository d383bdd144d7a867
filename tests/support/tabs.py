"""A browser tab that records console messages and requests."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request

# Long enough for a busy machine.
TIMEOUT_MS = 60_000

# Slows down the pages by this factor, to find races.
_CPU_SLOWDOWN = float(os.environ.get("BROWSER_CPU_SLOWDOWN", "1"))

_REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (violation) =>
  console.error(`${violation.violatedDirective} forbids ${violation.blockedURI}`));
"""


class Tab:
    """A tab with its own session storage.

    A test fails on console messages that are not `expected_messages` and don't start with `ignored_prefixes`.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.messages: list[str] = []
        self.log: list[str] = []
        """Messages and failed requests with their URLs, for assertion messages."""
        self.expected_messages: list[str] = []
        self.ignored_prefixes: tuple[str, ...] = ()
        self.requests: list[Request] = []

        def record_message(message: ConsoleMessage) -> None:
            self.messages.append(message.text)
            self.log.append(f"{message.type}: {message.text} ({message.location['url']})")

        def record_error(error: Exception) -> None:
            self.messages.append(str(error))
            self.log.append(f"uncaught: {error} (at {page.url})")

        async def dismiss(dialog: Dialog) -> None:
            self.messages.append(f"a dialog: {dialog.message}")
            await dialog.dismiss()

        def record_request(request: Request) -> None:
            self.requests.append(request)

        def record_failure(request: Request) -> None:
            self.log.append(f"request failed: {request.method} {request.url}: {request.failure}")

        page.on("console", record_message)
        page.on("pageerror", record_error)
        page.on("dialog", dismiss)
        page.on("request", record_request)
        page.on("requestfailed", record_failure)

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("status")

    @property
    def sign_in(self) -> Locator:
        return self.page.get_by_role("button", name="Sign in")

    @property
    def calls(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]

    @property
    def methods(self) -> list[str]:
        """The operations that the page has called."""
        return [json.loads(request.post_data or "{}")["method"] for request in self.calls]

    @property
    def hosts(self) -> set[str]:
        """The hosts of all requests, without data URLs."""
        return {urlsplit(request.url).netloc for request in self.requests if not request.url.startswith("data:")}

    async def requests_since(self, count: int) -> list[str]:
        """Return the URLs that the page has requested after its first `count` requests."""
        # The browser reports requests in order, so this one is the last.
        await self.evaluate("async () => { await fetch('/healthz'); }")
        return [request.url for request in self.requests[count:] if not request.url.endswith("/healthz")]

    async def evaluate(self, script: str) -> Any:
        """Return the result of a JavaScript function."""
        return await self.page.evaluate(script)


async def create_shared_profile(browser: Browser) -> None:
    """Create the profile that tests share, so that the browser loads the files of the console only once."""
    context = await _create_profile(browser)
    # This page stays open to clear the storage after each test.
    await context.new_page()


async def _create_profile(browser: Browser, **options: Any) -> BrowserContext:
    # Motion is the subject of few tests, which emulate it.
    context = await browser.new_context(**{"reduced_motion": "reduce", **options})
    context.set_default_timeout(TIMEOUT_MS)
    await context.add_init_script(_REPORT_VIOLATIONS)
    return context


@asynccontextmanager
async def open_tab(
    browser: Browser, *, new_profile: bool = False, permissions: Sequence[str] = (), **options: Any
) -> AsyncIterator[Tab]:
    """Open a tab in the shared profile, or in a new one if there are options.

    When it closes, fail if it has unexpected messages or requests to other hosts.
    """
    is_shared = not (new_profile or options)
    context = browser.contexts[0] if is_shared else await _create_profile(browser, **options)
    other_pages = set(context.pages)
    await context.grant_permissions(permissions)
    tab = Tab(await context.new_page())
    if _CPU_SLOWDOWN > 1:
        devtools = await context.new_cdp_session(tab.page)
        await devtools.send("Emulation.setCPUThrottlingRate", {"rate": _CPU_SLOWDOWN})
    try:
        yield tab
        unexpected = [message for message in tab.messages if not message.startswith(tab.ignored_prefixes)]
        assert unexpected == tab.expected_messages, "\n".join(
            [f"the page wrote to its console, at {tab.page.url}:", *tab.log]
        )
        assert len(tab.hosts) <= 1, tab.hosts
    finally:
        if is_shared:
            await _close_pages(context, set(context.pages) - other_pages, tab.hosts)
        else:
            await context.close()


async def _close_pages(context: BrowserContext, pages: set[Page], hosts: set[str]) -> None:
    """Close pages of the shared profile and delete their data."""
    for page in pages:
        await page.close()
    await context.clear_permissions()
    devtools = await context.new_cdp_session(context.pages[0])
    for host in hosts:
        origin = {"origin": f"http://{host}", "storageTypes": "local_storage,cookies"}
        await devtools.send("Storage.clearDataForOrigin", origin)
    await devtools.detach()
