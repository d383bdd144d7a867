"""Navigation between pages loses neither input nor clicks, and no other change of the URL undoes it."""

from playwright.async_api import Browser, expect

from tests.browser.console import Console
from tests.browser.tabs import Tab
from tests.support.program import Program

# Returns when the page has handled the change.
_CHANGE_HASH = """
(hash) => new Promise((resolve) => {
  addEventListener("hashchange", resolve, { once: true });
  location.hash = hash;
})
"""

# The page waits 300 ms before it writes the preview time to the URL.
_CAPTURE_URL_UPDATES = """{
  const start = setTimeout;
  window.setTimeout = (callback, delay, ...args) => {
    if (delay === 300) window.updateUrl = callback;
    return start(callback, delay, ...args);
  };
}"""


async def test_navigation_keeps_the_typed_email(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open("#/clock/clock_1")
    email = tab.page.get_by_label("Email")
    await email.fill("ana@example.test")
    await tab.page.evaluate(_CHANGE_HASH, "#/clocks")
    await expect(email).to_have_value("ana@example.test")
    await expect(email).to_be_focused()
    # The mailbox replaces the page.
    await tab.page.evaluate(_CHANGE_HASH, "#/mailbox")
    await expect(console.heading("Mailbox")).to_be_visible()
    await tab.page.evaluate(_CHANGE_HASH, "#/")
    await expect(email).to_have_value("ana@example.test")


async def test_navigation_is_not_undone_by_a_delayed_url_update(
    console: Console, program: Program, browser: Browser
) -> None:
    await console.page.add_init_script(_CAPTURE_URL_UPDATES)
    await console.open_clock(clock := console.create())
    await console.button("+1 day").click()
    await expect(console.page).to_have_url(f"{program.url}/#/clock/{clock}?t=2027-01-02T00:00:00Z")
    await console.button("+1 day").click()
    # The browser changes the URL at once and dispatches `hashchange` later.
    await console.tab.evaluate("() => { location.hash = '#/clocks'; updateUrl(); }")
    await expect(console.heading("Clocks")).to_be_visible()
    await expect(console.page).to_have_url(f"{program.url}/#/clocks")
