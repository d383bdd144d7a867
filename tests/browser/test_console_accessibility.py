"""Accessibility of the console: keyboard, axe, colour schemes and screen widths."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.browser.console import HOSTILE_CLOCK, Console, new_address, open_console
from tests.browser.tabs import Tab, open_tab
from tests.support.npm_packages import read_package_file
from tests.support.program import Program

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

HTTP_ERROR = "Failed to load resource: the server responded with a status of"
WIDTHS = (320, 390, 1280, 2560)


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("console-accessibility")) as started:
        yield started


# Keyboard


async def tab_to(tab: Tab, target: Locator, *, key: str = "Tab", limit: int = 80) -> None:
    """Press Tab until the target has the focus."""
    await expect(target).to_be_visible()
    for _ in range(limit):
        if await target.evaluate("(element) => element === document.activeElement"):
            return
        await tab.page.keyboard.press(key)
    pytest.fail(f"the focus never reaches {target}")


async def press(tab: Tab, target: Locator, key: str = "Enter") -> None:
    await tab_to(tab, target)
    await tab.page.keyboard.press(key)


async def test_first_session_works_with_the_keyboard_alone(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await sign_in_and_create_clock(console)
    await move_time(console)
    await confirm_dialogs(console)
    await read_and_sign_out(console)


async def sign_in_and_create_clock(console: Console) -> None:
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await console.open("")
    await expect(page.get_by_label("Email")).to_be_focused()
    await keyboard.type(new_address())
    await keyboard.press("Enter")
    await expect(page.get_by_label("Six-digit code")).to_be_focused()
    await tab_to(tab, console.button("Fill in"), key="Shift+Tab")
    await keyboard.press("Space")
    await expect(console.heading("Start with a scenario")).to_be_focused()
    # The tab list is one stop. Arrow keys select a tab.
    await tab_to(tab, page.get_by_role("tab", name="Scenarios"))
    await keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Form")).to_be_focused()
    await expect(page.get_by_label("Clock name")).to_be_visible()
    await keyboard.press("Home")
    await press(tab, console.button("Create Salary and rent"))
    await expect(console.slider).to_be_visible()
    await expect(page.get_by_role("main")).to_be_focused()


async def move_time(console: Console) -> None:
    """Move the preview with every control and with the shortcut keys."""
    tab, keyboard = console.tab, console.page.keyboard
    await tab_to(tab, console.slider)
    await keyboard.press("ArrowRight")
    await expect(console.slider).to_have_attribute("aria-valuetext", re.compile("net flow .* euros"))
    await expect(console.advance).to_have_text(re.compile("^Advance to"))
    before = await console.advance.inner_text()
    for key in ("d", "w", "m", "n"):
        await keyboard.press(key)
        await expect(console.advance).not_to_have_text(before)
        before = await console.advance.inner_text()
    await keyboard.press("0")
    await expect(console.advance).to_have_text("Advance…")
    await press(tab, console.button("+1 month"), "Space")
    await press(tab, console.advance)
    await expect(console.notification).to_have_text(re.compile("^Advanced to .* items posted.$"))
    await expect(console.advance).to_be_focused()


async def confirm_dialogs(console: Console) -> None:
    """A dialog takes the focus and returns it. Escape closes it."""
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await tab_to(tab, fork := console.button("Fork…"), key="Shift+Tab")
    await keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Fork clock")).to_be_visible()
    await keyboard.press("Escape")
    await expect(fork).to_be_focused()
    await keyboard.press("Enter")
    await tab_to(tab, page.get_by_role("radio", name=re.compile("^Now")))
    await keyboard.press("ArrowUp")
    await expect(page.get_by_role("radio", name=re.compile("^At its start"))).to_be_checked()
    await press(tab, console.button("Fork"))
    await expect(console.heading("Fork of Salary and rent")).to_be_visible()
    await press(tab, console.button("Rename"))
    await keyboard.type("Mine")
    await keyboard.press("Enter")
    await expect(console.heading("Mine")).to_be_visible()
    await expect(console.button("Rename")).to_be_focused()
    await press(tab, console.button("Delete…"))
    await press(tab, console.button("Delete clock"))
    await expect(console.heading("Clocks")).to_be_visible()


async def read_and_sign_out(console: Console) -> None:
    """Read the table and the request inspector, use the skip link, sign out."""
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await press(tab, page.get_by_role("link", name="Salary and rent"))
    await press(tab, console.button("View as table"))
    await tab_to(tab, page.get_by_role("region", name="Timeline as a table"))
    await tab_to(tab, page.get_by_role("region", name="Transactions"))
    await tab_to(tab, page.locator("summary").filter(has_text="Request inspector"))
    await keyboard.press("Enter")
    await press(tab, page.get_by_role("tab", name="JSON"), "ArrowRight")
    await expect(page.get_by_role("group", name="Request as curl")).to_be_visible()
    await page.evaluate("() => document.activeElement.blur()")
    await press(tab, page.get_by_role("link", name="Skip to content"))
    await expect(page.get_by_role("main")).to_be_focused()
    await tab_to(tab, console.button("Sign out"), key="Shift+Tab")
    await keyboard.press("Enter")
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(page.get_by_label("Email")).to_be_focused()


async def test_enter_confirms_the_fork_dialog(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        await console.open_clock(console.create())
        await console.button("Fork…").click()
        await console.page.get_by_role("radio", name=re.compile("^At its start")).press("Enter")
        await expect(console.notification).to_contain_text("This is the fork.", timeout=3000)


async def test_focus_is_always_visible(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open()
    await console.sign_in(new_address())
    await console.open_clock(console.create())
    invisible = []
    for _ in range(40):
        await tab.page.keyboard.press("Tab")
        focused = await tab.evaluate("""() => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
          const isRinged = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
          return [document.activeElement.outerHTML.slice(0, 80), isRinged || boxShadow !== "none"];
        }""")
        if focused[0].startswith("<body"):
            break
        # The browser draws the focus ring inside a date field.
        if not focused[1] and "datetime-local" not in focused[0]:
            invisible.append(focused[0])
    assert invisible == []


# All pages


async def every_page(console: Console) -> AsyncIterator[str]:
    """Visit every page and state of the console as a new user. Yield the name of each."""
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    for part in (sign_in_pages, new_clock_pages, clock_pages, public_pages):
        async for name in part(console):
            yield name


async def sign_in_pages(console: Console) -> AsyncIterator[str]:
    page, email = console.page, f"{'very.' * 9}long.{new_address()}"
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    yield "sign-in"
    await page.get_by_label("Email").fill(new_address())
    await console.button("Send me a link instead").click()
    await expect(console.heading("Open your link")).to_be_visible()
    yield "link sent"
    await console.button("Use another address").click()
    await console.request_code(email)
    await page.get_by_label("Six-digit code").fill("12")
    await console.button("Sign in").click()
    await expect(console.alert).to_be_visible()
    yield "code sent"
    await console.button("Fill in").click()
    await expect(console.button("Create Salary and rent")).to_be_visible()
    console.token = (await console.session("sessionStorage"))["token"]
    yield "scenario gallery"


async def new_clock_pages(console: Console) -> AsyncIterator[str]:
    page = console.page
    await page.get_by_role("button", name=re.compile("^Edit Saving for a trip")).click()
    await page.get_by_role("group", name="Transactions").get_by_label("Amount").first.fill("-1")
    await console.button("Create clock").click()
    await expect(console.alert).to_be_visible()
    yield "form with faults"
    await page.get_by_role("tab", name="JSON").click()
    await page.get_by_label("Parameters of createTestClock").fill('{"goals": 1}')
    await console.button("Create clock").click()
    await expect(console.alert).to_be_visible()
    yield "JSON with faults"


async def clock_pages(console: Console) -> AsyncIterator[str]:
    page = console.page
    clock = console.create(HOSTILE_CLOCK)
    console.create()
    await console.open_clock(clock, "?t=2027-01-09T00:00:00Z")
    await console.goals.first.get_by_text("1 contribution").click()
    yield "clock"
    await console.button("View as table").click()
    await page.get_by_text("Request inspector").click()
    await expect(page.get_by_role("group", name="Request")).to_be_visible()
    yield "timeline table and request as JSON"
    await page.get_by_role("tab", name="curl").click()
    yield "request as curl"
    await page.get_by_text("Request inspector").click()
    await console.button("Fork…").click()
    yield "fork dialog"
    await console.button("Cancel").click()
    await console.button("Delete…").click()
    yield "delete dialog"
    await console.button("Cancel").click()
    await console.open("#/clocks")
    await page.get_by_role("button", name=re.compile("^Rename")).first.click()
    await expect(page.get_by_text("pending")).to_have_count(2)
    yield "clocks"
    await console.open_clock(clock)
    console.call("deleteTestClock", id=clock)
    await expect(console.alert).to_be_visible()
    yield "deleted clock"


async def public_pages(console: Console) -> AsyncIterator[str]:
    page = console.page
    await console.open("#/mailbox")
    await expect(page.get_by_role("region", name="Emails").get_by_role("link").first).to_be_visible()
    yield "mailbox"
    await page.get_by_role("region", name="Emails").get_by_role("link").first.click()
    await expect(page.get_by_role("article", name="Email").get_by_role("heading")).to_be_visible()
    yield "email"
    await console.open("#/api")
    await expect(page.get_by_role("heading", name="Calling the API")).to_be_visible()
    yield "API overview"
    await console.open("#/api/createTestClock")
    await expect(page.get_by_role("heading", name="createTestClock").first).to_be_visible()
    yield "operation"
    await console.open("#/nowhere")
    await expect(console.heading("Page not found")).to_be_visible()
    yield "page not found"


_AXE = """async () => {
  // Contrast is undefined during a transition.
  document.getAnimations().forEach((animation) => animation.finish());
  const { violations } = await axe.run(document, { resultTypes: ["violations"], iframes: false });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violations(
    browser: Browser, program: Program, scheme: str, subtests: pytest.Subtests
) -> None:
    axe = read_package_file("axe-core", "axe.min.js")
    # The policy of the console blocks the axe script, so this test bypasses it.
    async with open_tab(browser, color_scheme=scheme, bypass_csp=True, viewport={"width": 1280, "height": 900}) as tab:
        async for name in every_page(Console(tab, program)):
            with subtests.test(name):
                if not await tab.evaluate("() => 'axe' in window"):
                    await tab.page.evaluate(axe)
                violations = await tab.evaluate(_AXE)
                assert violations == []


async def test_no_page_scrolls_horizontally(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    async for name in every_page(Console(tab, program)):
        for width in WIDTHS:
            await tab.page.set_viewport_size({"width": width, "height": 900})
            with subtests.test(f"{name} at {width} px"):
                assert await overflowing_elements(tab, width) == []
        await tab.page.set_viewport_size({"width": 1280, "height": 900})


async def overflowing_elements(tab: Tab, width: int) -> Any:
    """Return the elements that make the page wider than the window."""
    return await tab.evaluate("""async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const excess = document.documentElement.scrollWidth - innerWidth;
      const all = [...document.querySelectorAll("body *")];
      const outside = all.filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5);
      return excess > 0 ? [excess, ...outside.slice(-5).map((element) => element.outerHTML.slice(0, 120))] : [];
    }""")
