"""The console with the keyboard alone."""

import re

from playwright.async_api import Locator, expect

from tests.browser.console import Console, new_address
from tests.browser.tabs import Tab
from tests.support.program import Program

# Returns whether the element has the focus, the start of the element that has it, and whether that is visible. The link
# of a card has the ring around the card.
_FOCUS = """(element) => {
  const focused = document.activeElement;
  const isRinged = ({ content, outlineStyle, outlineWidth, boxShadow }) =>
    content !== "none" && ((outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none");
  const isVisible = [null, "::after"].some((part) => isRinged(getComputedStyle(focused, part)))
    || focused === document.body;
  return [focused === element, focused.outerHTML.slice(0, 80), isVisible];
}"""


async def tab_to(tab: Tab, target: Locator, *, key: str = "Tab", limit: int = 250) -> None:
    """Press Tab until the target has the focus, which is always visible.

    A late response can draw the part with the focus again. The limit allows another round through the page.
    """
    await expect(target).to_be_visible()
    has_focus = await target.evaluate("(element) => element === document.activeElement")
    passed: list[str] = []
    while not has_focus and len(passed) < limit:
        await tab.page.keyboard.press(key)
        # A late response can draw the target again.
        has_focus, focused, is_visible = await target.evaluate(_FOCUS)
        assert is_visible, f"the focus is not visible: {focused}"
        passed.append(focused)
    assert has_focus, f"the focus never reaches {target}. It passes {passed[-50:]}"


async def press(tab: Tab, target: Locator, key: str = "Enter") -> None:
    await tab_to(tab, target)
    await tab.page.keyboard.press(key)


async def test_first_session_works_with_the_keyboard_alone(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await sign_in_and_create_clock(console)
    await move_time(console)
    await confirm_dialogs(console)
    await read(console)


async def sign_in_and_create_clock(console: Console) -> None:
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await console.open()
    await expect(page.get_by_label("Email")).to_be_focused()
    await keyboard.type(new_address())
    await keyboard.press("Enter")
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
    tab, keyboard = console.tab, console.page.keyboard
    await tab_to(tab, console.slider)
    await keyboard.press("ArrowRight")
    await expect(console.slider).to_have_attribute("aria-valuetext", re.compile("balance .* euros"))
    await press(tab, console.button("+1 month"), "Space")
    await tab_to(tab, console.advance, key="Shift+Tab")
    await keyboard.press("Enter")
    await expect(console.notification).to_have_text(re.compile("^[0-9]+ events posted[.] Balance"))
    await expect(console.advance).to_be_focused()


async def test_shortcuts_work_on_the_whole_page_but_not_in_fields_and_dialogs(console: Console) -> None:
    page, keyboard = console.page, console.page.keyboard
    await console.open_clock(console.create())
    for key, label in (("d", "2 Jan"), ("w", "9 Jan"), ("m", "9 Feb"), ("Escape", "next event"), ("n", "3 Jan")):
        await keyboard.press(key)
        await expect(console.advance).to_contain_text(f"Advance to {label}")
    await page.get_by_label("Filter by name or category").press("d")
    await console.button("Fork…").click()
    await keyboard.press("d")
    await keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await console.button("More actions").click()
    await keyboard.press("Escape")
    await expect(console.advance).to_contain_text("Advance to 3 Jan")
    # Enter presses a button that has the focus.
    await keyboard.press("Enter")
    await expect(page.get_by_role("menu")).to_be_visible()
    await keyboard.press("Escape")
    await page.evaluate("() => document.activeElement.blur()")
    await keyboard.press("Enter")
    await expect(console.notification).to_contain_text("Rent −€1,150.00. Balance")


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
    # Enter confirms the dialog, wherever the focus is.
    await keyboard.press("Enter")
    await expect(console.heading("Fork of Salary and rent")).to_be_visible()
    await press(tab, menu := console.button("More actions"))
    await expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    await keyboard.press("Enter")
    await keyboard.type("Mine")
    await keyboard.press("Enter")
    await expect(console.heading("Mine")).to_be_visible()
    await expect(menu).to_be_focused()
    await keyboard.press("ArrowUp")
    await expect(page.get_by_role("menuitem", name="Delete…")).to_be_focused()
    await keyboard.press("Escape")
    await expect(menu).to_be_focused()
    await keyboard.press("ArrowUp")
    await keyboard.press("Enter")
    await press(tab, console.button("Delete clock"))
    await expect(console.heading("Clocks")).to_be_visible()


async def read(console: Console) -> None:
    """Read the table and the request inspector, and use the skip link."""
    tab, page, keyboard = console.tab, console.page, console.page.keyboard
    await press(tab, page.get_by_role("link", name="Salary and rent"))
    await press(tab, console.button("View as table"))
    await tab_to(tab, page.get_by_role("region", name="Timeline as a table"))
    await tab_to(tab, console.button("Requests"))
    await keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Request inspector")).to_be_focused()
    await press(tab, page.get_by_role("tab", name="curl"), "ArrowRight")
    await expect(page.get_by_role("group", name="Response")).to_be_visible()
    await page.evaluate("() => document.activeElement.blur()")
    await press(tab, page.get_by_role("link", name="Skip to content"))
    await expect(page.get_by_role("main")).to_be_focused()
