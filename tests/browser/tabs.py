"""A browser's tab that writes down what its page says to developers, and whom it asks for what."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request

_REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (violation) =>
  console.error(`${violation.violatedDirective} forbids ${violation.blockedURI}`));
"""


class Tab:
    """A tab with a profile of its own.

    What belongs to a test's story is no fault: `excused` are messages of the browser, and `forgiven` the beginnings of
    those of which nobody knows how many there will be.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.log: list[str] = []
        """The same messages and failed requests with their URLs, for the message of a failed assertion."""
        self.excused: list[str] = []
        self.forgiven: tuple[str, ...] = ()
        self.requests: list[Request] = []

        def hear(message: ConsoleMessage) -> None:
            self.said.append(message.text)
            self.log.append(f"{message.type}: {message.text} ({message.location['url']})")

        def hear_error(error: Exception) -> None:
            self.said.append(str(error))
            self.log.append(f"uncaught: {error} (at {page.url})")

        async def dismiss(dialog: Dialog) -> None:
            self.said.append(f"a dialog: {dialog.message}")
            await dialog.dismiss()

        def follow(request: Request) -> None:
            self.requests.append(request)

        def note_failure(request: Request) -> None:
            self.log.append(f"request failed: {request.method} {request.url}: {request.failure}")

        page.on("console", hear)
        page.on("pageerror", hear_error)
        page.on("dialog", dismiss)
        page.on("request", follow)
        page.on("requestfailed", note_failure)

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
        """The operations that it has called."""
        return [json.loads(request.post_data or "{}")["method"] for request in self.calls]

    @property
    def hosts(self) -> set[str]:
        """All that it has asked. An address that carries its own data asks nobody."""
        return {urlsplit(request.url).netloc for request in self.requests if not request.url.startswith("data:")}

    async def measure(self, script: str) -> Any:
        """What a function of JavaScript finds on the page."""
        return await self.page.evaluate(script)


@asynccontextmanager
async def open_tab(browser: Browser, **options: Any) -> AsyncIterator[Tab]:
    """A tab, which has to have been quiet, and to have asked nobody but its own server, when it is closed."""
    context = await browser.new_context(**options)
    context.set_default_timeout(15_000)
    try:
        await context.add_init_script(_REPORT_VIOLATIONS)
        tab = Tab(await context.new_page())
        yield tab
        unforgiven = [said for said in tab.said if not said.startswith(tab.forgiven)]
        assert unforgiven == tab.excused, "\n".join([f"the page wrote to its console, at {tab.page.url}:", *tab.log])
        assert len(tab.hosts) <= 1, tab.hosts
    finally:
        await context.close()
