"""A browser tab that records console messages and requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
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
_RECORD_TIMERS_AND_RESPONSES = """{
  window.intervals = new Set();
  const [start, stop, send, read] = [setInterval, clearInterval, fetch, Response.prototype.json];
  window.setInterval = (...args) => {
    const id = start(...args);
    intervals.add(id);
    return id;
  };
  window.clearInterval = (id) => {
    intervals.delete(id);
    stop(id);
  };
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

# Leaves the page, ends the session, and resets the few things that the console keeps longer. Returns whether motion is
# reduced.
_RESET = """async () => {
  if (location.hash !== "#/nowhere") {
    const left = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    location.hash = "#/nowhere";
    await left;
  }
  document.querySelector("#request-inspector:not([hidden]) [aria-label=Close]")?.click();
  // The end of a session clears requests and drafts, so let there be one.
  localStorage.setItem("tickover", '{ "token": "ended" }');
  dispatchEvent(new StorageEvent("storage", { key: null }));
  localStorage.clear();
  dispatchEvent(new StorageEvent("storage", { key: null }));
  document.documentElement.removeAttribute("style");
  document.getElementById("notification").textContent = "";
  return matchMedia("(prefers-reduced-motion)").matches;
}"""

_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}

_profiles: dict[tuple[Browser, str], BrowserContext] = {}
_loaded_pages: list[Page] = []
"""Pages with a loaded console that no test uses."""


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
        self._unfinished: set[Request] = set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

        self._listeners: dict[Any, Any] = {
            "console": self._record_message,
            "pageerror": self._record_error,
            "dialog": self._dismiss,
            "request": self._record_request,
            "requestfinished": self._record_end,
            "requestfailed": self._record_failure,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

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
        self._unfinished.add(request)
        self._is_idle.clear()

    def _record_end(self, request: Request) -> None:
        self._unfinished.discard(request)
        if not self._unfinished:
            self._is_idle.set()

    def _record_failure(self, request: Request) -> None:
        self._record_end(request)
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

    async def reset(self) -> None:
        """Let the page look like a new one, so that the next test can use it. Its responses and messages end here."""
        await self.page.unroute_all(behavior="wait")
        await self.page.mouse.move(0, 0)
        if self.page.viewport_size != _VIEWPORT:
            await self.page.set_viewport_size(_VIEWPORT)
        if not await self.page.evaluate(_RESET):
            await self.page.emulate_media(reduced_motion="reduce")
        await asyncio.wait_for(self._is_idle.wait(), TIMEOUT_MS / 1000)
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)


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
    await context.add_init_script(_REPORT_VIOLATIONS + _RECORD_TIMERS_AND_RESPONSES + _DRAW_NOTHING)
    return context


@asynccontextmanager
async def open_tab(
    browser: Browser, *, new_profile: bool = False, permissions: Sequence[str] = (), **options: Any
) -> AsyncIterator[Tab]:
    """Open a tab in a new profile, or in the one that all tabs with the same options share.

    When it closes, fail if it has unexpected messages or requests to other hosts.
    """
    create = _create_profile if new_profile else _shared_profile
    context = await create(browser, **options)
    other_pages = set(context.pages)
    await _grant(context, permissions)
    tab = Tab(await context.new_page())
    try:
        yield tab
        tab.check()
    finally:
        if new_profile:
            await context.close()
        else:
            await _close_pages(context, set(context.pages) - other_pages - set(_loaded_pages), tab.hosts)
            await _revoke(context, permissions)


@asynccontextmanager
async def open_loaded_tab(browser: Browser, url: str, *, permissions: Sequence[str] = ()) -> AsyncIterator[Tab]:
    """Open a tab with the console at this URL, and no session.

    Loading the console takes longer than most tests. So a tab that passes its test stays open for another one.
    """
    context = await _shared_profile(browser)
    await _grant(context, permissions)
    page = await _take_loaded_page(context, url)
    other_pages = set(context.pages)
    tab, hosts = Tab(page), {urlsplit(url).netloc}
    is_reusable = False
    try:
        yield tab
        if page.url.startswith(f"{url}/#/"):
            await tab.reset()
            is_reusable = True
        tab.check()
    finally:
        pages = set(context.pages) - other_pages - set(_loaded_pages)
        # A page that was reset has deleted its data.
        await _close_pages(context, pages if is_reusable else {page, *pages}, set() if is_reusable else hosts)
        await _revoke(context, permissions)
        if is_reusable:
            _loaded_pages.append(page)


async def _take_loaded_page(context: BrowserContext, url: str) -> Page:
    while _loaded_pages:
        page = _loaded_pages.pop()
        if page.context == context and page.url.startswith(f"{url}/#/"):
            return page
        await page.close()
    page = await context.new_page()
    await page.goto(f"{url}/#/nowhere")
    await page.get_by_role("heading", name="Page not found").wait_for()
    return page


async def _close_pages(context: BrowserContext, pages: set[Page], hosts: set[str]) -> None:
    """Close pages of a shared profile and delete their data."""
    for page in pages:
        await page.close()
    if hosts:
        devtools = await context.new_cdp_session(context.pages[0])
        for host in hosts:
            origin = {"origin": f"http://{host}", "storageTypes": "local_storage,cookies"}
            await devtools.send("Storage.clearDataForOrigin", origin)
        await devtools.detach()


async def _grant(context: BrowserContext, permissions: Sequence[str]) -> None:
    if permissions:
        await context.grant_permissions(permissions)


async def _revoke(context: BrowserContext, permissions: Sequence[str]) -> None:
    if permissions:
        await context.clear_permissions()
