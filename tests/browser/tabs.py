"""A browser tab that records console messages and requests."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request, ViewportSize

# Long enough for a busy machine.
TIMEOUT_MS = 60_000

_REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (violation) =>
  console.error(`${violation.violatedDirective} forbids ${violation.blockedURI}`));
"""

# Chromium draws no transparent elements. Layout, hit tests and Playwright's checks of visibility ignore the opacity.
_DRAW_NOTHING = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":root { opacity: 0; }");
  document.adoptedStyleSheets.push(sheet);
}"""

# A response counts as handled when all its promise callbacks have run. Responses to calls are recorded by operation,
# others by path.
_RECORD_RESPONSES = """{
  const [send, read] = [fetch, Response.prototype.json];
  window.handledResponses = [];
  const names = new WeakMap();
  window.fetch = async (url, options) => {
    const response = await send(url, options);
    names.set(response, options?.body ? JSON.parse(options.body).method : new URL(response.url).pathname);
    return response;
  };
  Response.prototype.json = async function () {
    try {
      return await read.call(this);
    } finally {
      setTimeout(() => handledResponses.push(names.get(this)));
    }
  };
}"""

_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}

_profiles: dict[tuple[Browser, str], BrowserContext] = {}


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
        page.on("console", self._record_message)
        page.on("pageerror", self._record_error)
        page.on("dialog", self._dismiss)
        page.on("request", self._record_request)
        page.on("requestfailed", self._record_failure)

    def _record_message(self, message: ConsoleMessage) -> None:
        self.messages.append(message.text)
        self.log.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _record_error(self, error: Exception) -> None:
        self.messages.append(str(error))
        self.log.append(f"uncaught: {error} (at {self.page.url})")

    async def _dismiss(self, dialog: Dialog) -> None:
        self.messages.append(f"a dialog: {dialog.message}")
        await dialog.dismiss()

    def _record_request(self, request: Request) -> None:
        self.requests.append(request)

    def _record_failure(self, request: Request) -> None:
        self.log.append(f"request failed: {request.method} {request.url}: {request.failure}")

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

    def check(self) -> None:
        """Fail if there are unexpected messages or requests to other hosts."""
        unexpected = [message for message in self.messages if not message.startswith(self.ignored_prefixes)]
        assert unexpected == self.expected_messages, "\n".join(
            [f"the page wrote to its console, at {self.page.url}:", *self.log]
        )
        assert len(self.hosts) <= 1, self.hosts


async def _shared_profile(browser: Browser, **options: Any) -> BrowserContext:
    """Return the profile with these options, so that the browser loads the files of the console only once."""
    key = (browser, json.dumps(options, sort_keys=True))
    if key not in _profiles:
        _profiles[key] = await _create_profile(browser, **options)
        # This page stays open to clear the storage after each test.
        await _profiles[key].new_page()
    return _profiles[key]


async def _create_profile(browser: Browser, **options: Any) -> BrowserContext:
    # Motion is the subject of few tests, which emulate it.
    context = await browser.new_context(**{"reduced_motion": "reduce", "viewport": _VIEWPORT, **options})
    context.set_default_timeout(TIMEOUT_MS)
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await context.add_init_script(_REPORT_VIOLATIONS + _RECORD_RESPONSES + _DRAW_NOTHING)
    return context


@asynccontextmanager
async def open_tab(browser: Browser, *, new_profile: bool = False, **options: Any) -> AsyncIterator[Tab]:
    """Open a tab in a new profile, or in the one that all tabs with the same options share.

    When it closes, fail if it has unexpected messages or requests to other hosts.
    """
    context = await (_create_profile if new_profile else _shared_profile)(browser, **options)
    other_pages = set(context.pages)
    tab = Tab(await context.new_page())
    try:
        yield tab
        tab.check()
    finally:
        if new_profile:
            await context.close()
        else:
            for page in set(context.pages) - other_pages:
                await page.close()
            await _delete_data(context, tab.hosts)


async def _delete_data(context: BrowserContext, hosts: set[str]) -> None:
    devtools = await context.new_cdp_session(context.pages[0])
    for host in hosts:
        origin = {"origin": f"http://{host}", "storageTypes": "local_storage,cookies"}
        await devtools.send("Storage.clearDataForOrigin", origin)
    await devtools.detach()
