"""The console for everybody: by keyboard alone, for axe, light and dark, and from 320 pixels to the width of a wall."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.browser.consoles import NAUGHTY_CLOCK, Console, new_address, open_console
from tests.browser.tabs import Tab, open_tab
from tests.support.npm_packages import text_of
from tests.support.program import Program

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "Failed to load resource: the server responded with a status of"
WIDTHS = (320, 390, 1280, 2560)


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("console-access")) as started:
        yield started


# The keyboard


async def tab_to(tab: Tab, target: Locator, *, key: str = "Tab", most: int = 80) -> None:
    """Press Tab until the focus is there."""
    await expect(target).to_be_visible()
    for _ in range(most):
        if await target.evaluate("(element) => element === document.activeElement"):
            return
        await tab.page.keyboard.press(key)
    pytest.fail(f"the focus never comes to {target}")


async def press(tab: Tab, target: Locator, key: str = "Enter") -> None:
    await tab_to(tab, target)
    await tab.page.keyboard.press(key)


async def test_the_first_minute_by_keyboard_alone(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await come_in(console)
    await move_time(console)
    await answer_dialogs(console)
    await read_and_leave(console)


async def come_in(console: Console) -> None:
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await console.open("")
    await expect(page.get_by_label("E-mail")).to_be_focused()
    await keyboard.type(new_address())
    await keyboard.press("Enter")
    await expect(page.get_by_label("Six-digit code")).to_be_focused()
    await tab_to(tab, console.button("Fill in"), key="Shift+Tab")
    await keyboard.press("Space")
    await expect(console.heading("Start with a scenario")).to_be_focused()
    # Tabs are one stop, with arrows between them.
    await tab_to(tab, page.get_by_role("tab", name="Scenarios"))
    await keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Form")).to_be_focused()
    await expect(page.get_by_label("Name of the clock")).to_be_visible()
    await keyboard.press("Home")
    await press(tab, console.button("Create Salary and rent"))
    await expect(console.slider).to_be_visible()
    await expect(page.get_by_role("main")).to_be_focused()


async def move_time(console: Console) -> None:
    """With every control, and with letters for those who are in a hurry."""
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
    await expect(console.advance).to_have_text("Advance …")
    await press(tab, console.button("+1 month"), "Space")
    await press(tab, console.advance)
    await expect(console.said).to_have_text(re.compile("^Advanced to .* items posted.$"))
    await expect(console.advance).to_be_focused()


async def answer_dialogs(console: Console) -> None:
    """A dialog takes the focus, gives it back, and is left with Escape."""
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await tab_to(tab, fork := console.button("Fork …"), key="Shift+Tab")
    await keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Fork the clock")).to_be_visible()
    await keyboard.press("Escape")
    await expect(fork).to_be_focused()
    await keyboard.press("Enter")
    await tab_to(tab, page.get_by_role("radio", name=re.compile("^now")))
    await keyboard.press("ArrowUp")
    await expect(page.get_by_role("radio", name=re.compile("^at its start"))).to_be_checked()
    await press(tab, console.button("Fork"))
    await expect(console.heading("Fork of Salary and rent")).to_be_visible()
    await press(tab, console.button("Rename"))
    await keyboard.type("Mine")
    await keyboard.press("Enter")
    await expect(console.heading("Mine")).to_be_visible()
    await expect(console.button("Rename")).to_be_focused()
    await press(tab, console.button("Delete …"))
    await press(tab, console.button("Delete the clock"))
    await expect(console.heading("Clocks")).to_be_visible()


async def read_and_leave(console: Console) -> None:
    """The chart has a table, the calls can be read, and the first stop leads past what all pages have."""
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await press(tab, page.get_by_role("link", name="Salary and rent"))
    await press(tab, console.button("View as table"))
    await tab_to(tab, page.get_by_role("region", name="The timeline as a table"))
    await tab_to(tab, page.get_by_role("region", name="Transactions"))
    await tab_to(tab, page.locator("summary").filter(has_text="The call behind it"))
    await keyboard.press("Enter")
    await press(tab, page.get_by_role("tab", name="JSON"), "ArrowRight")
    await expect(page.get_by_role("group", name="The call for curl")).to_be_visible()
    await page.evaluate("() => document.activeElement.blur()")
    await press(tab, page.get_by_role("link", name="Skip to content"))
    await expect(page.get_by_role("main")).to_be_focused()
    await tab_to(tab, console.button("Sign out"), key="Shift+Tab")
    await keyboard.press("Enter")
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(page.get_by_label("E-mail")).to_be_focused()


async def test_enter_in_a_dialog_is_its_yes(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        await console.open_clock(console.create())
        await console.button("Fork …").click()
        await console.page.get_by_role("radio", name=re.compile("^at its start")).press("Enter")
        await expect(console.said).to_contain_text("This is the fork.", timeout=3000)


async def test_the_focus_is_always_seen(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open()
    await console.sign_in(new_address())
    await console.open_clock(console.create())
    unseen = []
    for _ in range(40):
        await tab.page.keyboard.press("Tab")
        look = await tab.measure("""() => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
          const isRinged = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
          return [document.activeElement.outerHTML.slice(0, 80), isRinged || boxShadow !== "none"];
        }""")
        if look[0].startswith("<body"):
            break
        # The last stop in a field for time is the browser's own, and so is its ring.
        if not look[1] and "datetime-local" not in look[0]:
            unseen.append(look[0])
    assert unseen == []


# Every page


async def all_that_there_is(console: Console) -> AsyncIterator[str]:
    """Lead somebody new through everything that the console shows; the name of each stop, while it is shown."""
    console.tab.forgiven = (REFUSED,)
    for part in (signing_in, making_a_clock, a_clock, what_needs_no_clock):
        async for stop in part(console):
            yield stop


async def signing_in(console: Console) -> AsyncIterator[str]:
    page, email = console.page, f"{'very.' * 9}long.{new_address()}"
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    yield "sign in"
    await page.get_by_label("E-mail").fill(new_address())
    await console.button("Send me a link instead").click()
    await expect(console.heading("Open your link")).to_be_visible()
    yield "a link was sent"
    await console.button("Use another address").click()
    await console.ask_for_code(email)
    await page.get_by_label("Six-digit code").fill("12")
    await console.button("Sign in").click()
    await expect(console.trouble).to_be_visible()
    yield "a code was sent"
    await console.button("Fill in").click()
    await expect(console.button("Create Salary and rent")).to_be_visible()
    console.token = (await console.session("sessionStorage"))["token"]
    yield "the gallery"


async def making_a_clock(console: Console) -> AsyncIterator[str]:
    page = console.page
    await page.get_by_role("button", name=re.compile("^Edit first ?: Saving for a trip")).click()
    await page.get_by_role("group", name="Transactions").get_by_label("Amount").first.fill("-1")
    await console.button("Create clock").click()
    await expect(console.trouble).to_be_visible()
    yield "a form with faults"
    await page.get_by_role("tab", name="JSON").click()
    await page.get_by_label("Parameters of createTestClock").fill('{"goals": 1}')
    await console.button("Create clock").click()
    await expect(console.trouble).to_be_visible()
    yield "JSON with faults"


async def a_clock(console: Console) -> AsyncIterator[str]:
    page = console.page
    clock = console.create(NAUGHTY_CLOCK)
    console.create()
    await console.open_clock(clock, "?t=2027-01-09T00:00:00Z")
    await console.goals.first.get_by_text("1 contribution").click()
    yield "a clock"
    await console.button("View as table").click()
    await page.get_by_text("The call behind it").click()
    await expect(page.get_by_role("group", name="Request")).to_be_visible()
    yield "the chart as a table, and the call as JSON"
    await page.get_by_role("tab", name="curl").click()
    yield "the call for curl"
    await page.get_by_text("The call behind it").click()
    await console.button("Fork …").click()
    yield "the question where to fork"
    await console.button("Cancel").click()
    await console.button("Delete …").click()
    yield "the question whether to delete"
    await console.button("Cancel").click()
    await console.open("#/clocks")
    await page.get_by_role("button", name=re.compile("^Rename")).first.click()
    await expect(page.get_by_text("pending")).to_have_count(2)
    yield "the clocks"
    await console.open_clock(clock)
    console.call("deleteTestClock", id=clock)
    await expect(console.trouble).to_be_visible()
    yield "a clock that is gone"


async def what_needs_no_clock(console: Console) -> AsyncIterator[str]:
    page = console.page
    await console.open("#/mailbox")
    await expect(page.get_by_role("region", name="Letters").get_by_role("link").first).to_be_visible()
    yield "the mailbox"
    await page.get_by_role("region", name="Letters").get_by_role("link").first.click()
    await expect(page.get_by_role("article", name="Letter").get_by_role("heading")).to_be_visible()
    yield "a letter"
    await console.open("#/api")
    await expect(page.get_by_role("heading", name="Calling")).to_be_visible()
    yield "the reference"
    await console.open("#/api/createTestClock")
    await expect(page.get_by_role("heading", name="createTestClock").first).to_be_visible()
    yield "an operation"
    await console.open("#/nowhere")
    await expect(console.heading("There is no such page")).to_be_visible()
    yield "no page"


_AXE = """async () => {
  // What is changing has no contrast of its own yet.
  document.getAnimations().forEach((one) => one.finish());
  const { violations } = await axe.run(document, { resultTypes: ["violations"], iframes: false });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(browser: Browser, program: Program, scheme: str, subtests: pytest.Subtests) -> None:
    axe = text_of("axe-core", "axe.min.js")
    # A page under the console's own policy would let no such script in; every other test has that policy.
    async with open_tab(browser, color_scheme=scheme, bypass_csp=True, viewport={"width": 1280, "height": 900}) as tab:
        async for stop in all_that_there_is(Console(tab, program)):
            with subtests.test(stop):
                if not await tab.measure("() => 'axe' in window"):
                    await tab.page.evaluate(axe)
                found = await tab.measure(_AXE)
                assert found == []


async def test_nothing_scrolls_sideways(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    async for stop in all_that_there_is(Console(tab, program)):
        for width in WIDTHS:
            await tab.page.set_viewport_size({"width": width, "height": 900})
            with subtests.test(f"{stop} at {width} px"):
                assert await beyond(tab, width) == []
        await tab.page.set_viewport_size({"width": 1280, "height": 900})


async def beyond(tab: Tab, width: int) -> Any:
    """What makes the page wider than its window, if anything does."""
    return await tab.measure("""() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
      const wide = document.documentElement.scrollWidth - innerWidth;
      const all = [...document.querySelectorAll("body *")];
      const inside = all.filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5);
      resolve(wide > 0 ? [wide, ...inside.slice(-5).map((one) => one.outerHTML.slice(0, 120))] : []);
    })))""")
