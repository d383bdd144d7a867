"""The mailbox of the console."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Locator, ViewportSize, expect

from tests.browser.tabs import Tab, open_tab
from tests.browser.test_login_page import LARGE, SMALL
from tests.support.program import Program, link_params

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIPBOARD_PERMISSIONS = ["clipboard-read", "clipboard-write"]

_numbers = count(1)


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("mailbox")) as started:
        yield started


def new_address() -> str:
    return f"guest{next(_numbers)}@example.test"


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


async def test_new_emails_appear_newest_first(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path) as program:
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(tab.page.get_by_text("No emails yet.")).to_be_visible()
        first = program.send_code("ana@example.test")
        await expect(tab.status).to_have_text("New email to ana@example.test.")
        await expect(tab.page.get_by_text("No emails yet.")).to_be_hidden()
        program.send_code("bo@example.test")
        await expect(email_items(tab)).to_have_count(2)
        assert "bo@example.test" in await email_items(tab).nth(0).inner_text()
        assert f"{first} is your Tickover code" in await email_items(tab).nth(1).inner_text()
        # The mailbox calls no operations.
        assert tab.calls == []


async def test_new_email_keeps_the_focus(program: Program, tab: Tab) -> None:
    address = new_address()
    program.send_code(address)
    await tab.page.goto(f"{program.url}/#/mailbox")
    mine = email_items(tab).get_by_role("link").filter(has_text=address)
    await mine.focus()
    another = new_address()
    program.send_code(another)
    await expect(email_items(tab).first).to_contain_text(another)
    await expect(mine).to_be_focused()


async def test_hidden_tab_does_not_poll(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/#/mailbox")
    await tab.page.evaluate("""() => {
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }""")
    await tab.page.wait_for_timeout(500)
    before = len(tab.requests)
    await tab.page.wait_for_timeout(2500)
    assert len(tab.requests) == before
    await tab.page.evaluate("""() => {
      Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }""")
    await tab.page.wait_for_timeout(500)
    assert len(tab.requests) > before


async def test_polling_stops_on_another_page(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/#/mailbox")
    await expect(tab.page.get_by_label("Filter by address")).to_be_visible()
    await tab.page.goto(f"{program.url}/#/api")
    await expect(tab.page.get_by_role("heading", name="Calling the API")).to_be_visible()
    before = len([request for request in tab.requests if "emails.json" in request.url])
    await tab.page.wait_for_timeout(2500)
    assert len([request for request in tab.requests if "emails.json" in request.url]) == before


async def test_filter_selects_emails_by_address(program: Program, tab: Tab) -> None:
    mine, other = new_address(), new_address()
    for address in (mine, other):
        program.send_code(address)
    await tab.page.goto(f"{program.url}/#/mailbox")
    field = tab.page.get_by_label("Filter by address")
    await field.fill(f"  {mine.upper()} ")
    await expect(email_items(tab)).to_have_count(1)
    await expect(email_items(tab)).to_contain_text(mine)
    await email_items(tab).get_by_role("link").click()
    await expect(field).to_have_value(f"  {mine.upper()} ")
    await expect(email_items(tab)).to_have_count(1)
    await field.fill("nobody")
    await expect(tab.page.get_by_text("No emails to addresses with “nobody”.")).to_be_visible()
    await field.fill("")
    assert await email_items(tab).count() > 1


# Email


async def test_code_is_large_and_can_be_copied(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=CLIPBOARD_PERMISSIONS) as tab:
        address = new_address()
        code = program.send_code(address)
        await open_email(tab, program, address)
        shown = email_view(tab).get_by_label("Code")
        await expect(shown).to_have_text(code)
        size = await shown.evaluate("(code) => parseFloat(getComputedStyle(code).fontSize)")
        assert size >= 32
        await email_view(tab).get_by_role("button", name="Copy code").click()
        await expect(tab.status).to_have_text("Copied the code.")
        assert await clipboard(tab) == code


async def test_login_link_can_be_copied_and_opened(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=CLIPBOARD_PERMISSIONS) as tab:
        address = new_address()
        link = program.result("sendLoginCodeEmail", link_params(address))["loginUrl"]
        await open_email(tab, program, address)
        await expect(email_view(tab).get_by_label("Code")).to_be_hidden()
        await email_view(tab).get_by_role("button", name="Copy link").click()
        await expect(tab.status).to_have_text("Copied the link.")
        assert await clipboard(tab) == link
        await email_view(tab).get_by_role("link", name="Open").click()
        await expect(tab.sign_in).to_be_visible()
        assert urlsplit(tab.page.url).path == "/login"


async def test_email_is_shown_as_preview_text_headers_and_source(program: Program, tab: Tab) -> None:
    address = new_address()
    code = program.send_code(address)
    await open_email(tab, program, address)
    frame = email_view(tab).locator("iframe")
    assert await frame.get_attribute("sandbox") == ""
    assert code in (await frame.get_attribute("title") or "")
    await expect(frame.content_frame.get_by_text("Your Tickover code is")).to_be_visible()
    await expect(frame.content_frame.get_by_text(code, exact=True)).to_have_css("font-size", "32px")
    tabs = email_view(tab).get_by_role("tab")
    assert await tabs.all_inner_texts() == ["Preview", "Text", "Headers", "Source"]
    panel = email_view(tab).get_by_role("tabpanel")
    await tabs.nth(1).click()
    await expect(panel).to_contain_text(f"It signs you in as {address}.")
    await tabs.nth(2).click()
    await expect(panel).to_contain_text("Auto-Submitted")
    await tabs.nth(3).click()
    await expect(panel).to_contain_text(f"To: {address}")
    await expect(panel).to_contain_text("Content-Type: multipart/alternative")


async def test_url_of_an_email_can_be_shared(program: Program, tab: Tab) -> None:
    address = new_address()
    code = program.send_code(address)
    await open_email(tab, program, address)
    url = tab.page.url
    await tab.page.goto("about:blank")
    await tab.page.goto(url)
    await expect(email_view(tab).get_by_label("Code")).to_have_text(code)
    assert await tab.page.title() == f"{code} is your Tickover code · Mailbox · Tickover"
    await expect(email_items(tab).locator("[aria-current]")).to_contain_text(address)


async def test_missing_email_shows_a_message_and_a_link_back(program: Program, browser: Browser) -> None:
    async with open_tab(browser, viewport=SMALL) as tab:
        program.send_code(new_address())
        missing_id = "20200101T000000.000000Z-1-1"
        await tab.page.goto(f"{program.url}/#/mailbox/{missing_id}")
        await expect(tab.page.get_by_text("Email not found. It may have been deleted.")).to_be_visible()
        tab.expected_messages = ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
        await tab.page.get_by_role("link", name="All emails").click()
        await expect(email_items(tab).first).to_be_visible()


async def test_works_with_the_keyboard_alone(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=CLIPBOARD_PERMISSIONS) as tab:
        address = new_address()
        code = program.send_code(address)
        press = tab.page.keyboard.press
        await tab.page.goto(f"{program.url}/#/mailbox")
        await tab.page.get_by_label("Filter by address").focus()
        await tab.page.keyboard.type(address)
        await expect(email_items(tab)).to_have_count(1)
        await press("Tab")
        await press("Enter")
        # The focus moves to the email, not to the top of the page.
        await expect(email_view(tab).get_by_role("heading")).to_be_focused()
        await press("Tab")
        await press("Enter")
        await expect(tab.status).to_have_text("Copied the code.")
        assert await clipboard(tab) == code
        await press("Tab")
        for key, title in (
            ("ArrowRight", "Text"), ("End", "Source"), ("ArrowRight", "Preview"), ("ArrowLeft", "Source"),
            ("Home", "Preview"),
        ):  # fmt: skip
            await press(key)
            selected = email_view(tab).get_by_role("tab", name=title)
            await expect(selected).to_be_focused()
            await expect(selected).to_have_attribute("aria-selected", "true")
            await expect(email_view(tab).get_by_role("tabpanel", name=title)).to_be_visible()


HOSTILE_TEXTS = (
    '"<img/src=x/onerror=alert(1)>"@example.test',
    '"</script><script>alert(1)</script>"@example.test',
    "\"'-alert(1)-'\"@example.test",
    '"${alert(1)}{{alert(1)}}"@example.test',
    '"%3cimg%20src=x%3e&lt;b&gt;"@example.test',
)


async def test_hostile_addresses_stay_text(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    for address in HOSTILE_TEXTS:
        with subtests.test(address):
            program.result("sendLoginCodeEmail", link_params(address))
            await tab.page.goto(f"{program.url}/#/mailbox")
            await expect(email_items(tab).first.locator(".email-to")).to_have_text(address)
            await email_items(tab).first.get_by_role("link").click()
            await expect(email_view(tab).locator(".email-to")).to_have_text(address)
            await expect(email_view(tab).locator("iframe").content_frame.get_by_text(address)).to_be_visible()
            for title in ("Text", "Headers", "Source"):
                await email_view(tab).get_by_role("tab", name=title).click()
                await expect(email_view(tab).get_by_role("tabpanel")).to_contain_text("example.test")
            assert await tab.evaluate("() => document.querySelectorAll('main img, main script').length") == 0


# Errors


async def test_server_with_smtp_has_no_mailbox(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path, TICKOVER_MAIL_URL="smtp://127.0.0.1:1") as program:
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(tab.page.get_by_text("This server sends real emails")).to_be_visible()
        await expect(tab.page.get_by_role("link", name="Mailbox")).to_have_count(0)
        tab.expected_messages = list(tab.messages)
        assert set(tab.messages) == {"Failed to load resource: the server responded with a status of 404 (Not Found)"}


async def test_mailbox_recovers_when_the_server_restarts(tmp_path: Path, tab: Tab) -> None:
    with ExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        program.send_code("ana@example.test")
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(email_items(tab)).to_have_count(1)
        program.kill()
        await expect(tab.status).to_have_text("The server cannot be reached. Is it running?")
        retry = tab.page.get_by_role("button", name="Try again")
        await retry.focus()
        # A failed poll does not replace the button.
        await tab.page.wait_for_timeout(2500)
        await expect(retry).to_be_focused()
        stack.enter_context(Program(tmp_path, TICKOVER_PORT=str(urlsplit(program.url).port)))
        await tab.page.keyboard.press("Enter")
        await expect(tab.status).to_have_text("The server is available again.")
        await expect(retry).to_be_hidden()
        await expect(tab.page.get_by_label("Filter by address")).to_be_focused()
        assert {message.partition("ERR_")[0] for message in tab.messages} == {"Failed to load resource: net::"}
        tab.expected_messages = list(tab.messages)


# Layout


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [SMALL, LARGE], ids=["320 px", "1280 px"])
async def test_readable_on_every_screen(
    program: Program, browser: Browser, tmp_path: Path, scheme: str, viewport: ViewportSize
) -> None:
    address = f"{'a-very-long-name-' * 3}@{'a-long-part-of-a-domain.' * 4}test"
    # The other parameters of this test use the same email, so the server can reject this one.
    program.call("sendLoginCodeEmail", link_params(address))
    async with open_tab(browser, color_scheme=scheme, viewport=viewport) as tab:

        async def check_layout(name: str) -> None:
            await tab.page.screenshot(path=tmp_path / f"{name}-{scheme}-{viewport['width']}.png", full_page=True)
            widths = await tab.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{name} scrolls horizontally"

        await tab.page.goto(f"{program.url}/#/mailbox?to={address}")
        await expect(email_items(tab).first).to_be_visible()
        await check_layout("emails")
        await email_items(tab).get_by_role("link").first.click()
        for title in await email_view(tab).get_by_role("tab").all_inner_texts():
            await email_view(tab).get_by_role("tab", name=title).click()
            await check_layout(re.sub(r"\W+", "-", title))
        # A large screen shows the list next to the email.
        assert await email_items(tab).first.is_visible() == (viewport == LARGE)
