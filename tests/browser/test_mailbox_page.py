"""The console's mailbox in a real browser before the real program: letters come by themselves, and are read whole."""

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

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

COPYING = ["clipboard-read", "clipboard-write"]

_numbers = count(1)


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("mailbox")) as started:
        yield started


def new_address() -> str:
    return f"guest{next(_numbers)}@example.test"


def listed(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Letters").get_by_role("listitem")


def letter(tab: Tab) -> Locator:
    return tab.page.get_by_role("article", name="Letter")


async def open_letter(tab: Tab, program: Program, address: str) -> None:
    await tab.page.goto(f"{program.url}/#/mailbox?to={address}")
    await listed(tab).get_by_role("link").first.click()
    await expect(letter(tab).get_by_role("heading")).to_be_visible()


async def clipboard(tab: Tab) -> Any:
    return await tab.measure("() => navigator.clipboard.readText()")


# The list


async def test_letters_come_by_themselves_newest_first(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path) as program:
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(tab.page.get_by_text("No letter yet.")).to_be_visible()
        first = program.send_code("ana@example.test")
        await expect(tab.status).to_have_text("A new letter to ana@example.test.")
        await expect(tab.page.get_by_text("No letter yet.")).to_be_hidden()
        program.send_code("bo@example.test")
        await expect(listed(tab)).to_have_count(2)
        assert "bo@example.test" in await listed(tab).nth(0).inner_text()
        assert f"{first} is your Tickover code" in await listed(tab).nth(1).inner_text()
        # It asks nothing but what it shows.
        assert tab.calls == []


async def test_a_new_letter_leaves_the_focus_where_it_was(program: Program, tab: Tab) -> None:
    address = new_address()
    program.send_code(address)
    await tab.page.goto(f"{program.url}/#/mailbox")
    mine = listed(tab).get_by_role("link").filter(has_text=address)
    await mine.focus()
    another = new_address()
    program.send_code(another)
    await expect(listed(tab).first).to_contain_text(another)
    await expect(mine).to_be_focused()


async def test_nothing_is_asked_while_nobody_looks(program: Program, tab: Tab) -> None:
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


async def test_another_page_stops_the_asking(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/#/mailbox")
    await expect(tab.page.get_by_label("Filter by address")).to_be_visible()
    await tab.page.goto(f"{program.url}/#/api")
    await expect(tab.page.get_by_role("heading", name="Calling")).to_be_visible()
    before = len([request for request in tab.requests if "letters.json" in request.url])
    await tab.page.wait_for_timeout(2500)
    assert len([request for request in tab.requests if "letters.json" in request.url]) == before


async def test_a_filter_shows_the_letters_to_some_addresses(program: Program, tab: Tab) -> None:
    mine, other = new_address(), new_address()
    for address in (mine, other):
        program.send_code(address)
    await tab.page.goto(f"{program.url}/#/mailbox")
    field = tab.page.get_by_label("Filter by address")
    await field.fill(f"  {mine.upper()} ")
    await expect(listed(tab)).to_have_count(1)
    await expect(listed(tab)).to_contain_text(mine)
    await listed(tab).get_by_role("link").click()
    await expect(field).to_have_value(f"  {mine.upper()} ")
    await expect(listed(tab)).to_have_count(1)
    await field.fill("nobody")
    await expect(tab.page.get_by_text("No letter to an address with “nobody” in it.")).to_be_visible()
    await field.fill("")
    assert await listed(tab).count() > 1


# A letter


async def test_the_code_is_large_and_can_be_copied(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=COPYING) as tab:
        address = new_address()
        code = program.send_code(address)
        await open_letter(tab, program, address)
        shown = letter(tab).get_by_label("Code")
        await expect(shown).to_have_text(code)
        size = await shown.evaluate("(code) => parseFloat(getComputedStyle(code).fontSize)")
        assert size >= 32
        await letter(tab).get_by_role("button", name="Copy the code").click()
        await expect(tab.status).to_have_text("Copied the code.")
        assert await clipboard(tab) == code


async def test_a_login_link_can_be_copied_and_opened(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=COPYING) as tab:
        address = new_address()
        link = program.result("sendLoginCodeEmail", link_params(address))["loginUrl"]
        await open_letter(tab, program, address)
        await expect(letter(tab).get_by_label("Code")).to_be_hidden()
        await letter(tab).get_by_role("button", name="Copy the link").click()
        await expect(tab.status).to_have_text("Copied the link.")
        assert await clipboard(tab) == link
        await letter(tab).get_by_role("link", name="Open").click()
        await expect(tab.sign_in).to_be_visible()
        assert urlsplit(tab.page.url).path == "/login"


async def test_a_letter_is_seen_as_a_person_sees_it_and_in_all_its_parts(program: Program, tab: Tab) -> None:
    address = new_address()
    code = program.send_code(address)
    await open_letter(tab, program, address)
    frame = letter(tab).locator("iframe")
    assert await frame.get_attribute("sandbox") == ""
    assert code in (await frame.get_attribute("title") or "")
    await expect(frame.content_frame.get_by_text("Your Tickover code is")).to_be_visible()
    await expect(frame.content_frame.get_by_text(code, exact=True)).to_have_css("font-size", "32px")
    tabs = letter(tab).get_by_role("tab")
    assert await tabs.all_inner_texts() == ["As a person sees it", "Text", "Headers", "Source"]
    panel = letter(tab).get_by_role("tabpanel")
    await tabs.nth(1).click()
    await expect(panel).to_contain_text(f"It signs you in as {address}.")
    await tabs.nth(2).click()
    await expect(panel).to_contain_text("Auto-Submitted")
    await tabs.nth(3).click()
    await expect(panel).to_contain_text(f"To: {address}")
    await expect(panel).to_contain_text("Content-Type: multipart/alternative")


async def test_the_address_of_a_letter_can_be_shared(program: Program, tab: Tab) -> None:
    address = new_address()
    code = program.send_code(address)
    await open_letter(tab, program, address)
    where = tab.page.url
    await tab.page.goto("about:blank")
    await tab.page.goto(where)
    await expect(letter(tab).get_by_label("Code")).to_have_text(code)
    assert await tab.page.title() == f"{code} is your Tickover code · Mailbox · Tickover"
    await expect(listed(tab).locator("[aria-current]")).to_contain_text(address)


async def test_a_letter_that_is_not_there_has_its_sentence_and_a_way_back(program: Program, browser: Browser) -> None:
    async with open_tab(browser, viewport=SMALL) as tab:
        program.send_code(new_address())
        gone = "20200101T000000.000000Z-1-1"
        await tab.page.goto(f"{program.url}/#/mailbox/{gone}")
        await expect(tab.page.get_by_text("There is no such letter, or not any more.")).to_be_visible()
        tab.excused = ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
        await tab.page.get_by_role("link", name="All letters").click()
        await expect(listed(tab).first).to_be_visible()


async def test_the_keyboard_is_enough(program: Program, browser: Browser) -> None:
    async with open_tab(browser, permissions=COPYING) as tab:
        address = new_address()
        code = program.send_code(address)
        press = tab.page.keyboard.press
        await tab.page.goto(f"{program.url}/#/mailbox")
        await tab.page.get_by_label("Filter by address").focus()
        await tab.page.keyboard.type(address)
        await expect(listed(tab)).to_have_count(1)
        await press("Tab")
        await press("Enter")
        # The reader is taken to the letter, not to the top of the page.
        await expect(letter(tab).get_by_role("heading")).to_be_focused()
        await press("Tab")
        await press("Enter")
        await expect(tab.status).to_have_text("Copied the code.")
        assert await clipboard(tab) == code
        await press("Tab")
        for key, title in (
            ("ArrowRight", "Text"), ("End", "Source"), ("ArrowRight", "As a person sees it"), ("ArrowLeft", "Source"),
            ("Home", "As a person sees it"),
        ):  # fmt: skip
            await press(key)
            chosen = letter(tab).get_by_role("tab", name=title)
            await expect(chosen).to_be_focused()
            await expect(chosen).to_have_attribute("aria-selected", "true")
            await expect(letter(tab).get_by_role("tabpanel", name=title)).to_be_visible()


NAUGHTY = (
    '"<img/src=x/onerror=alert(1)>"@example.test',
    '"</script><script>alert(1)</script>"@example.test',
    "\"'-alert(1)-'\"@example.test",
    '"${alert(1)}{{alert(1)}}"@example.test',
    '"%3cimg%20src=x%3e&lt;b&gt;"@example.test',
)


async def test_whatever_an_address_holds_stays_text(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    for address in NAUGHTY:
        with subtests.test(address):
            program.result("sendLoginCodeEmail", link_params(address))
            await tab.page.goto(f"{program.url}/#/mailbox")
            await expect(listed(tab).first.locator(".letter-to")).to_have_text(address)
            await listed(tab).first.get_by_role("link").click()
            await expect(letter(tab).locator(".letter-to")).to_have_text(address)
            await expect(letter(tab).locator("iframe").content_frame.get_by_text(address)).to_be_visible()
            for title in ("Text", "Headers", "Source"):
                await letter(tab).get_by_role("tab", name=title).click()
                await expect(letter(tab).get_by_role("tabpanel")).to_contain_text("example.test")
            assert await tab.measure("() => document.querySelectorAll('main img, main script').length") == 0


# When there is nothing to show


async def test_with_real_mail_there_is_no_mailbox(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path, TICKOVER_MAIL_URL="smtp://127.0.0.1:1") as program:
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(tab.page.get_by_text("This server sends real mail")).to_be_visible()
        await expect(tab.page.get_by_role("link", name="Mailbox")).to_have_count(0)
        tab.excused = list(tab.said)
        assert set(tab.said) == {"Failed to load resource: the server responded with a status of 404 (Not Found)"}


async def test_when_the_server_is_away_the_page_says_so_and_goes_on_when_it_is_back(tmp_path: Path, tab: Tab) -> None:
    with ExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        program.send_code("ana@example.test")
        await tab.page.goto(f"{program.url}/#/mailbox")
        await expect(listed(tab)).to_have_count(1)
        program.kill()
        await expect(tab.status).to_have_text("The server cannot be reached. Is it running?")
        retry = tab.page.get_by_role("button", name="Try again")
        await retry.focus()
        # Asking again in vain does not take the button away from under the finger.
        await tab.page.wait_for_timeout(2500)
        await expect(retry).to_be_focused()
        stack.enter_context(Program(tmp_path, TICKOVER_PORT=str(urlsplit(program.url).port)))
        await tab.page.keyboard.press("Enter")
        await expect(tab.status).to_have_text("The server is back.")
        await expect(retry).to_be_hidden()
        await expect(tab.page.get_by_label("Filter by address")).to_be_focused()
        assert {said.partition("ERR_")[0] for said in tab.said} == {"Failed to load resource: net::"}
        tab.excused = list(tab.said)


# How it looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [SMALL, LARGE], ids=["320 px", "1280 px"])
async def test_it_can_be_read_on_every_screen(
    program: Program, browser: Browser, tmp_path: Path, scheme: str, viewport: ViewportSize
) -> None:
    address = f"{'a-very-long-name-' * 3}@{'a-long-part-of-a-domain.' * 4}test"
    # The second of two letters in a minute is refused; whoever came before has sent the same one.
    program.call("sendLoginCodeEmail", link_params(address))
    async with open_tab(browser, color_scheme=scheme, viewport=viewport) as tab:

        async def look(name: str) -> None:
            await tab.page.screenshot(path=tmp_path / f"{name}-{scheme}-{viewport['width']}.png", full_page=True)
            widths = await tab.measure("() => [document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{name} scrolls sideways"

        await tab.page.goto(f"{program.url}/#/mailbox?to={address}")
        await expect(listed(tab).first).to_be_visible()
        await look("letters")
        await listed(tab).get_by_role("link").first.click()
        for title in await letter(tab).get_by_role("tab").all_inner_texts():
            await letter(tab).get_by_role("tab", name=title).click()
            await look(re.sub(r"\W+", "-", title))
        # Two panes where there is room for them.
        assert await listed(tab).first.is_visible() == (viewport == LARGE)
