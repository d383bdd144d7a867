"""The page that a login link opens."""

import json
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.browser.console import new_address
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params

READY = "Press the button to sign in. The link works once."
INVALID_LINK = "It is invalid, expired or already used."
NO_LINK = "This page needs a complete login link. Open the link in your email."
STORAGE_BLOCKED = "Your browser doesn't allow this page to store data. Allow it, then press the button again."


def new_link(program: Program, email: str = "") -> str:
    """Return a login link, by default for a new user."""
    link: str = program.result("sendLoginCodeEmail", link_params(email or new_address()))["loginUrl"]
    return link


def token_in(link: str) -> str:
    return link.partition("#token=")[2]


def new_link_offer(tab: Tab) -> Locator:
    return tab.page.get_by_role("link", name="Request a new link")


async def expect_rejected(tab: Tab) -> None:
    await expect(tab.page.get_by_role("heading")).to_have_text("This link doesn't work")
    await expect(tab.status).to_have_text(INVALID_LINK)
    await expect(tab.sign_in).to_be_hidden()
    await expect(new_link_offer(tab)).to_be_focused()


async def stored_session(tab: Tab) -> Any:
    return json.loads(await tab.evaluate("() => localStorage.getItem('tickover')") or "null")


async def expect_signed_in(tab: Tab, program: Program) -> str:
    """Expect the console with a session and return its token."""
    await expect(tab.page).to_have_url(re.compile(rf"^{re.escape(program.url)}/(#/)?$"))
    session = await stored_session(tab)
    assert re.fullmatch(r"user_[0-9a-f-]{36}", session["userId"])
    assert list(session) == ["token", "email", "userId"]
    token: str = session["token"]
    return token


# Sign-in


async def test_secrets_never_appear_in_urls(program: Program, browser: Browser) -> None:
    # A request from the cache has no headers.
    async with open_tab(browser, new_profile=True) as tab:
        link = new_link(program)
        await tab.page.goto(link)
        await expect(tab.status).to_have_text(READY)
        assert tab.page.url == f"{program.url}/login", "the token leaves the address bar"
        await tab.sign_in.click()
        token = await expect_signed_in(tab, program)
        urls = [request.url.partition("#")[0] for request in tab.requests]
        headers_sent = [await request.all_headers() for request in tab.requests]
        texts = urls + [value for headers in headers_sent for name, value in headers.items() if name != "authorization"]
        assert [text for text in texts if token_in(link) in text or token in text] == []
        assert [headers["referer"] for headers in headers_sent if headers.get("referer")] == []
        # The history doesn't contain the link.
        assert await tab.evaluate("() => history.length") <= 2
        await tab.page.go_back()
        assert tab.page.url == "about:blank"


async def test_blocked_storage_does_not_use_up_the_link(program: Program, tab: Tab) -> None:
    await tab.page.add_init_script("""
      const block = () => { throw new DOMException("no", "SecurityError"); };
      Object.defineProperty(window, "localStorage", { get: block });
    """)
    link = new_link(program)
    await tab.page.goto(link)
    await tab.sign_in.click()
    await expect(tab.status).to_have_text(STORAGE_BLOCKED)
    assert tab.calls == []
    await expect(tab.sign_in).to_be_enabled()


# Opening a link


async def test_opening_a_link_does_not_redeem_it(program: Program, browser: Browser) -> None:
    link = new_link(program)
    async with open_tab(browser) as first, open_tab(browser) as second:
        for tab in (first, second):
            await tab.page.goto(link)
            await expect(tab.status).to_have_text(READY)
        await first.page.reload()
        await expect(first.status).to_have_text(READY)
        for path in ("/login", f"/login?token={token_in(link)}"):
            assert {program.request(method, path).status for method in ("GET", "HEAD")} == {200}
        assert first.calls == second.calls == []
        await first.sign_in.click()
        await expect_signed_in(first, program)
        # The link works once.
        await second.sign_in.click()
        await expect_rejected(second)


async def test_page_without_a_link_has_no_button(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    for path in ("/login", "/login#token=", "/login?token=abc"):
        with subtests.test(path):
            await tab.page.goto("about:blank")
            await tab.page.goto(program.url + path)
            await expect(tab.status).to_have_text(NO_LINK)
            await expect(tab.sign_in).to_be_hidden()
            await expect(new_link_offer(tab)).to_be_visible()
    assert tab.calls == []
    await new_link_offer(tab).click()
    await expect(tab.page.get_by_label("Email")).to_be_visible()


# Invalid links


async def test_rejected_link_is_forgotten_and_a_new_one_works_in_the_same_tab(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login#token=old")
    await tab.sign_in.click()
    await expect_rejected(tab)
    await tab.page.reload()
    await expect(tab.status).to_have_text(NO_LINK)
    # The link replaces an earlier session, even a damaged one.
    await tab.page.evaluate("() => localStorage.setItem('tickover', 'damaged')")
    await tab.page.goto(new_link(program))
    await expect(tab.status).to_have_text(READY)
    await expect(new_link_offer(tab)).to_be_hidden()
    await tab.sign_in.click()
    token = await expect_signed_in(tab, program)
    await expect(tab.page.get_by_role("button", name="Sign out")).to_be_visible()
    assert program.result("createTestClock", {}, token)["clock"]["status"] == "READY"
