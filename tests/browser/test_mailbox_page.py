"""The mailbox of the console."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, Locator, expect

from tests.browser.console import HTTP_ERROR, new_address
from tests.browser.layout import SMALL
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params


def email_items(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Emails").get_by_role("listitem")


def email_view(tab: Tab) -> Locator:
    return tab.page.get_by_role("article", name="Email")


async def open_email(tab: Tab, program: Program, address: str) -> None:
    await tab.page.goto(f"{program.url}/#/mailbox?to={address}")
    await email_items(tab).get_by_role("link").first.click()
    await expect(email_view(tab).get_by_role("heading")).to_be_visible()


async def clipboard(tab: Tab) -> Any:
    return await tab.evaluate("() => navigator.clipboard.readText()")


# List


async def test_new_emails_appear_newest_first_and_keep_the_focus(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path) as program:
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(tab.page.get_by_text("No emails yet.")).to_be_visible()
        await expect(tab.page.get_by_placeholder("ana@example.test")).to_be_visible()
        first = program.send_code("ana@example.test")
        await poll(tab)
        await expect(tab.page.get_by_text("No emails yet.")).to_be_hidden()
        focused = email_items(tab).get_by_role("link").filter(has_text="ana@example.test")
        await focused.focus()
        program.send_code("bo@example.test")
        await poll(tab)
        await expect(email_items(tab)).to_have_count(2)
        assert "bo@example.test" in await email_items(tab).nth(0).inner_text()
        assert f"{first} is your Tickover code" in await email_items(tab).nth(1).inner_text()
        await expect(focused).to_be_focused()
        # The mailbox calls no operations.
        assert tab.calls == []


async def poll(tab: Tab) -> None:
    """Let the page poll now, as after a return to its tab."""
    await tab.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")


async def test_filter_selects_emails_and_a_missing_email_is_explained(program: Program, tab: Tab) -> None:
    mine, other = new_address(), new_address()
    for address in (mine, other):
        program.send_code(address)
    await tab.page.goto(f"{program.url}/#/mailbox?to=")
    field = tab.page.get_by_label("Filter by address")
    await field.fill(f"  {mine.upper()} ")
    await expect(email_items(tab)).to_have_count(1)
    await expect(email_items(tab)).to_contain_text(mine)
    await email_items(tab).get_by_role("link").click()
    await expect(email_view(tab).locator(".email-to")).to_have_text(mine)
    await expect(field).to_have_value(f"  {mine.upper()} ")
    await expect(email_items(tab)).to_have_count(1)
    await field.fill("nobody")
    await expect(tab.page.get_by_text("No emails to addresses with “nobody”.")).to_be_visible()
    await field.fill("")
    assert await email_items(tab).count() > 1
    # On a phone, an email covers the list.
    await tab.page.set_viewport_size(SMALL)
    await tab.page.goto(f"{program.url}/#/mailbox/20200101T000000.000000Z-1-1?to=")
    await expect(email_view(tab).get_by_role("alert")).to_have_text("Email not found It may have been deleted.")
    tab.ignored_prefixes = (f"{HTTP_ERROR} 404",)
    await tab.page.get_by_role("link", name="All emails").click()
    await expect(email_items(tab).first).to_be_visible()


# Email


async def test_email_with_a_code(program: Program, browser: Browser) -> None:
    async with open_tab(browser) as tab:
        address = new_address()
        code = program.send_code(address)
        await open_email(tab, program, address)
        await expect(email_view(tab).locator("time")).to_have_text(
            re.compile(r"^\d+ [A-Z][a-z]{2} 20\d\d, \d\d:\d\d:\d\d UTC$")
        )
        # The code is large and can be copied.
        await expect(email_view(tab).get_by_role("heading")).to_have_text(f"{code} is your Tickover code")
        shown = email_view(tab).locator(".code-digits")
        await expect(shown).to_have_text(code)
        await email_view(tab).get_by_role("button", name="Copy code").click()
        await expect(tab.status).to_have_text("Copied the code.")
        assert await clipboard(tab) == code
        await expect_every_view(tab, address, code)
        # The URL can be shared.
        await tab.page.reload()
        await expect(shown).to_have_text(code)
        assert await tab.page.title() == f"{code} is your Tickover code · Mailbox · Tickover"
        await expect(email_items(tab).locator("[aria-current]")).to_contain_text(address)


async def expect_every_view(tab: Tab, address: str, code: str) -> None:
    frame = email_view(tab).locator("iframe")
    assert await frame.get_attribute("sandbox") == ""
    assert code in (await frame.get_attribute("title") or "")
    await expect(frame.content_frame.get_by_text("Your Tickover code is")).to_be_visible()
    tabs = email_view(tab).get_by_role("tab")
    assert await tabs.all_inner_texts() == ["Email", "Text", "Source"]
    panel = email_view(tab).get_by_role("tabpanel")
    await tabs.nth(1).click()
    await expect(panel).to_contain_text(f"It signs you in as {address}.")
    await tabs.nth(2).click()
    await expect(panel).to_contain_text("Auto-Submitted")
    await expect(panel).to_contain_text(f"To: {address}")
    await expect(panel).to_contain_text("Content-Type: multipart/alternative")


async def test_email_with_a_login_link(program: Program, browser: Browser) -> None:
    async with open_tab(browser) as tab:
        address = new_address()
        link = program.result("sendLoginCodeEmail", link_params(address))["loginUrl"]
        await open_email(tab, program, address)
        await expect(email_view(tab).locator(".code-digits")).to_have_count(0)
        await email_view(tab).get_by_role("button", name="Copy link").click()
        await expect(tab.status).to_have_text("Copied the link.")
        assert await clipboard(tab) == link
        await email_view(tab).get_by_role("link", name="Open").click()
        await expect(tab.sign_in).to_be_visible()
        assert urlsplit(tab.page.url).path == "/login"
