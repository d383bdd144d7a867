"""The reference at /docs."""

import json
import re

from playwright.async_api import Locator, expect

from tests.browser.console import HOSTILE_CLOCK, HTTP_ERROR, Console
from tests.browser.tabs import Tab
from tests.support.program import Program
from tickover.api.errors import Reason
from tickover.server.rpc.openrpc import DESCRIBED_OPERATIONS

# Clicks each link and returns the targets that are not visible headings afterwards.
_FOLLOW_LINKS = """async (targets) => {
  const failed = [];
  for (const { selector, id, tag } of targets) {
    document.querySelector(selector).click();
    await new Promise(requestAnimationFrame);
    const { top, bottom } = document.getElementById(id).getBoundingClientRect();
    const isVisible = top >= 0 && bottom <= innerHeight;
    if (location.hash !== `#${id}` || document.getElementById(id).tagName !== tag || !isVisible) failed.push(id);
  }
  return failed;
}"""


async def test_contents_can_be_filtered_and_links_lead_to_their_headings(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    targets = [
        {"selector": f'.contents a[href="#{name}"]', "id": name, "tag": "H2"}
        for name in ["calling", *DESCRIBED_OPERATIONS, "reasons"]
    ]
    reasons = [{"selector": f'table a[href="#{reason}"]', "id": str(reason), "tag": "H3"} for reason in Reason]
    assert await tab.page.evaluate(_FOLLOW_LINKS, targets + reasons) == []
    await expect(tab.page.locator("pre").first).to_contain_text(f"curl -sS {program.url}/rpc")
    pages = tab.page.get_by_role("navigation", name="Pages")
    await expect(pages.get_by_role("link")).to_have_text(["Clocks", "Mailbox", "API"])
    await expect(tab.page.get_by_role("link", name="Account")).to_have_attribute("href", "./#/account")
    contents = tab.page.get_by_role("navigation", name="Contents")
    shown = contents.locator(".group > p:visible, li:visible")
    # The sections have the same order.
    ids = await tab.page.locator("main h2").evaluate_all("(headings) => headings.map(({ id }) => id)")
    assert await contents.locator("li").evaluate_all("(links) => links.map((li) => li.firstChild.hash.slice(1))") == ids
    field = contents.get_by_role("searchbox", name="Filter the contents")
    await field.fill(" LOGIN link")
    await expect(shown).to_have_text(["Sign-in", "sendLoginCodeEmail", "loginByEmailLink"])
    await field.press("Enter")
    await expect(tab.page.get_by_role("heading", name="sendLoginCodeEmail")).to_be_in_viewport()
    await field.fill("rate_limited")
    await expect(shown).to_have_text(["Error reasons"])
    await field.fill("nothing like this")
    await expect(contents.get_by_role("status")).to_have_text("Nothing matches.")
    await tab.page.get_by_role("link", name="openrpc.json").click()
    assert tab.page.url == f"{program.url}/openrpc.json"
    # The browser requests an icon after the document and logs an error if there is none.
    assert await tab.evaluate("async () => (await fetch('/favicon.ico')).status") == 200


# Try it


async def open_form(console: Console, method: str) -> Locator:
    """Open the form of an operation, and return its section."""
    section = console.page.locator("section", has=console.page.locator(f"#{method}"))
    await section.get_by_text("Try it").click()
    await expect(section.get_by_label("Parameters")).to_have_value(re.compile("{"))
    return section


async def test_signed_in_users_can_try_an_operation(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    clock = console.create(HOSTILE_CLOCK)
    await console.open("docs")
    section = await open_form(console, "getTestClock")
    params, send = section.get_by_label("Parameters"), section.get_by_role("button", name="Send")
    # The newest clock of the user replaces that of the example.
    assert json.loads(await params.input_value()) == {"id": clock, "at": "2027-03-01T00:00:00Z"}
    await params.fill(json.dumps({"id": clock}))
    await send.click()
    result = section.get_by_role("group", name="Result")
    assert json.loads(await result.inner_text())["clock"] == console.clock(clock)
    await params.fill('{"id": 1}')
    await send.click()
    error = section.get_by_role("group", name="Error")
    await expect(error).to_contain_text('"reason": "INVALID_PARAMS"')
    await params.fill("{")
    await send.click()
    await expect(section.get_by_role("status")).to_contain_text("Invalid JSON")
    await section.get_by_role("button", name="Reset to example").click()
    await expect(params).to_have_value(re.compile(clock))
    section = await open_form(console, "createAccessToken")
    await section.get_by_role("button", name="Send").click()
    await expect(section.get_by_role("group", name="Result")).to_contain_text('"token": "••••••"')
    await expect(section.get_by_role("button", name="Copy with secrets")).to_be_visible()


async def test_header_shows_the_user_and_the_end_of_the_session_clears_the_forms(console: Console) -> None:
    await console.open("#/clocks")
    email = await console.page.locator("#header .address").inner_text()
    await console.open("docs")
    account = console.page.locator("#header .account")
    await expect(account).to_have_text(f"{email}{email[:2].upper()}")
    section = await open_form(console, "listTestClocks")
    await section.get_by_role("button", name="Send").click()
    await expect(section.get_by_role("group", name="Result")).to_be_visible()
    other = await open_form(console, "logout")
    await other.get_by_role("button", name="Send").click()
    await expect(account).to_have_accessible_name("Account")
    await expect(console.button("Sign out")).to_be_hidden()
    await expect(console.page.locator(".try-it:visible")).to_have_count(0)
    assert await console.session() is None
    assert await section.locator(".try-it pre").count() == 0
    assert await section.locator("textarea").input_value() == ""
