"""The reference at /docs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from tests.browser.tabs import Tab, open_tab
from tests.browser.test_login_page import LARGE, SMALL, brightness, colour, contrast
from tests.support.program import Program
from tickover.api.errors import Reason
from tickover.server.operations import OPERATIONS

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

# Every text colour with its background and an example element.
_COLOURS = """() => {
  const colours = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
    if (texts.length === 0) continue;
    let background = element;
    while (getComputedStyle(background).backgroundColor === "rgba(0, 0, 0, 0)") background = background.parentElement;
    const pair = [getComputedStyle(element).color, getComputedStyle(background).backgroundColor];
    colours.set(pair.join(), [...pair, element.tagName]);
  }
  return [...colours.values()];
}"""

# Every element with overflowing content.
_OVERFLOWING = """() => [...document.querySelectorAll("section, p, pre, dl, dd, table, h2, h3")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("docs")) as started:
        yield started


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [SMALL, LARGE], ids=["320 px", "1280 px"])
async def test_readable_on_every_screen(
    program: Program, browser: Browser, tmp_path: Path, scheme: str, viewport: ViewportSize
) -> None:
    async with open_tab(browser, color_scheme=scheme, viewport=viewport) as tab:
        await tab.page.goto(f"{program.url}/docs")
        await tab.page.screenshot(path=tmp_path / f"docs-{scheme}-{viewport['width']}.png")
        widths = await tab.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], "the page scrolls horizontally"
        assert (brightness(await colour(tab, ".card", "backgroundColor")) > 0.5) == (scheme == "light")
        colours = await tab.evaluate(_COLOURS)
        assert len(colours) >= 5
        assert [pair for pair in colours if contrast(pair[0], pair[1]) < 4.5] == []
        assert await tab.evaluate(_OVERFLOWING) == []


async def test_contents_links_lead_to_headings(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    for name in ["calling", *OPERATIONS, "reasons"]:
        await tab.page.locator(f'nav a[href="#{name}"]').click()
        assert tab.page.url == f"{program.url}/docs#{name}"
        heading = tab.page.locator(f'[id="{name}"]')
        await expect(heading).to_be_in_viewport(ratio=1)
        assert await tab.evaluate(f"() => document.getElementById('{name}').tagName") == "H2"


async def test_reason_links_lead_to_their_descriptions(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    for reason in Reason:
        await tab.page.locator(f'table a[href="#{reason}"]').click()
        await expect(tab.page.locator(f"h3#{reason}")).to_be_in_viewport(ratio=1)


async def test_keyboard_can_skip_the_contents(program: Program, tab: Tab) -> None:
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


async def test_contents_links_are_large_enough_to_tap(program: Program, browser: Browser) -> None:
    async with open_tab(browser, viewport=SMALL) as tab:
        await tab.page.goto(f"{program.url}/docs")
        heights = await tab.evaluate("() => [...document.querySelectorAll('nav a')].map((a) => a.offsetHeight)")
        assert len(heights) == len(OPERATIONS) + 2
        assert min(heights) >= 24


async def test_page_loads_only_its_stylesheets_and_needs_no_javascript(program: Program, browser: Browser) -> None:
    async with open_tab(browser, java_script_enabled=False) as tab:
        await tab.page.goto(f"{program.url}/docs#reasons")
        await expect(tab.page.get_by_role("heading", name="Error reasons", exact=True)).to_be_in_viewport()
        requested = {request.url.partition("#")[0].rpartition("/")[2] for request in tab.requests}
        assert requested - {"data:,"} == {"docs", "base.css", "docs.css"}


async def test_examples_use_the_url_of_this_server(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/docs")
    await expect(tab.page.locator("pre").first).to_contain_text(f"curl -sS {program.url}/rpc")
    await tab.page.get_by_role("link", name="openrpc.json").click()
    assert tab.page.url == f"{program.url}/openrpc.json"
    # The browser requests an icon after the document and logs an error if there is none.
    assert await tab.evaluate("async () => (await fetch('/favicon.ico')).status") == 200
