"""The reference at /docs."""

from playwright.async_api import Browser, expect

from tests.browser.layout import LARGE, SMALL
from tests.support.console import open_console
from tests.support.program import Program
from tests.support.tabs import Tab, open_tab
from tickover.api.errors import Reason
from tickover.server.openrpc import DESCRIBED_OPERATIONS

# All tests of a process share the browser and its event loop.

# Every element with overflowing content.
_OVERFLOWING = """() => [...document.querySelectorAll("section, p, pre, dl, dd, table, h2, h3")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.outerHTML.slice(0, 80))"""


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


async def test_links_lead_to_their_headings(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    contents = [
        {"selector": f'.contents a[href="#{name}"]', "id": name, "tag": "H2"}
        for name in ["calling", *DESCRIBED_OPERATIONS, "reasons"]
    ]
    reasons = [{"selector": f'table a[href="#{reason}"]', "id": str(reason), "tag": "H3"} for reason in Reason]
    assert await tab.page.evaluate(_FOLLOW_LINKS, contents + reasons) == []
    await expect(tab.page.locator("pre").first).to_contain_text(f"curl -sS {program.url}/rpc")
    pages = tab.page.get_by_role("navigation", name="Pages")
    await expect(pages.get_by_role("link")).to_have_text(["Clocks", "Mailbox", "API"])
    await expect(tab.page.get_by_role("link", name="Account")).to_have_attribute("href", "./#/account")
    await tab.page.get_by_role("link", name="openrpc.json").click()
    assert tab.page.url == f"{program.url}/openrpc.json"
    # The browser requests an icon after the document and logs an error if there is none.
    assert await tab.evaluate("async () => (await fetch('/favicon.ico')).status") == 200


async def test_header_shows_the_user_and_signs_out(program: Program, browser: Browser) -> None:
    async with open_console(browser, program, viewport=LARGE) as console:
        await console.open("#/api")
        email = await console.page.locator("#header .address").inner_text()
        await console.open("docs")
        account = console.page.locator("#header .account")
        await expect(account).to_have_text(f"{email}{email[:2].upper()}")
        # A phone has only the initials, as in the console.
        await console.page.set_viewport_size(SMALL)
        await expect(account.locator(".avatar")).to_be_in_viewport()
        await expect(console.button("Sign out")).to_be_hidden()
        await console.page.set_viewport_size(LARGE)
        await console.button("Sign out").click()
        await expect(account).to_have_accessible_name("Account")
        await expect(console.button("Sign out")).to_be_hidden()
        assert await console.session("sessionStorage") is None
        assert program.call("listTestClocks", {}, console.token)["error"]["data"]["reason"] == "UNAUTHENTICATED"


async def test_contents_can_be_skipped_and_tapped(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    await tab.page.keyboard.press("Tab")
    skip = tab.page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_focused()
    box = await skip.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 20, "the focused link must be visible"
    await tab.page.keyboard.press("Enter")
    await tab.page.keyboard.press("Tab")
    assert await tab.evaluate("() => document.activeElement.closest('main') !== null")
    for viewport in (LARGE, SMALL):
        await tab.page.set_viewport_size(viewport)
        assert await tab.evaluate(_OVERFLOWING) == []
    # A small window has the contents in a disclosure.
    assert await tab.page.locator(".contents a:visible").count() == 0
    await tab.page.get_by_text("Contents", exact=True).click()
    heights = await tab.evaluate("() => [...document.querySelectorAll('.contents a')].map((a) => a.offsetHeight)")
    assert len(heights) == len(DESCRIBED_OPERATIONS) + 2
    assert min(heights) >= 24


async def test_contents_have_the_groups_of_the_console_and_a_filter(program: Program, loaded_tab: Tab) -> None:
    tab = loaded_tab
    await tab.page.goto(f"{program.url}/#/api")
    listed = tab.page.get_by_role("navigation", name="Operations").locator("h2, li .mono")
    await expect(listed.first).to_be_visible()
    operations = await listed.all_text_contents()
    await tab.page.goto(f"{program.url}/docs")
    contents = tab.page.get_by_role("navigation", name="Contents")
    shown = contents.locator(".group > p:visible, li:visible")
    assert await shown.all_text_contents() == ["Calling the API", *operations, "Error reasons"]
    # The sections have the same order.
    ids = await tab.page.locator("main h2").evaluate_all("(headings) => headings.map(({ id }) => id)")
    assert ids == ["calling", *(name for name in operations if name in DESCRIBED_OPERATIONS), "reasons"]
    field = contents.get_by_role("searchbox", name="Filter the contents")
    await field.fill(" LOGIN link")
    await expect(shown).to_have_text(["Sign-in", "sendLoginCodeEmail", "loginByEmailLink"])
    await field.press("Enter")
    await expect(tab.page.get_by_role("heading", name="sendLoginCodeEmail")).to_be_in_viewport()
    await field.fill("rate_limited")
    await expect(shown).to_have_text(["Error reasons"])
    await field.fill("nothing like this")
    await expect(contents.get_by_role("status")).to_have_text("Nothing matches.")


async def test_code_has_the_colours_of_the_console(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    section = tab.page.locator("section", has=tab.page.locator("#createTestClock"))
    for kind, text in (("keyword", "curl"), ("key", '"frozenTime"'), ("string", '"EUR"'), ("number", "2800")):
        await expect(section.locator("pre").first.locator(f".token-{kind}").filter(has_text=text).first).to_be_visible()


async def test_page_loads_only_its_stylesheets_and_needs_no_javascript(program: Program, browser: Browser) -> None:
    async with open_tab(browser, java_script_enabled=False) as tab:
        await tab.page.goto(f"{program.url}/docs#reasons")
        await expect(tab.page.get_by_role("heading", name="Error reasons", exact=True)).to_be_in_viewport()
        requested = {request.url.partition("#")[0].rpartition("/")[2] for request in tab.requests}
        # Browsers preload modules even if they don't run scripts.
        assert {name for name in requested if not name.endswith(".js")} - {"data:,"} == {
            "docs",
            "tokens.css",
            "base.css",
            "docs.css",
        }
