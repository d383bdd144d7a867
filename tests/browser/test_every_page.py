"""Every page of the console: axe, colour schemes and screen widths."""

from collections.abc import AsyncIterator, Callable

import pytest
from playwright.async_api import Browser

from tests.browser.axe import violations
from tests.browser.console import Console
from tests.browser.every_page import clock_pages, first_session_pages, public_pages
from tests.browser.layout import overflowing_elements
from tests.browser.tabs import open_tab
from tests.support.program import Program

WIDTHS = (320, 1280)
# The parts of states that differ from an earlier state.
CHANGED_PARTS = {
    "code sent": ".sign-in-form",
    "timeline table and request as JSON": ".chart-table, #request-inspector",
}

# The relative luminance of the page background by WCAG, without gamma correction.
_BRIGHTNESS = """() => {
  const colours = [document.querySelector(".card"), document.body, document.documentElement]
    .filter(Boolean).map((element) => getComputedStyle(element).backgroundColor);
  const [red, green, blue] = colours.find((colour) => colour !== "rgba(0, 0, 0, 0)").match(/[0-9]+/g);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}"""


@pytest.mark.parametrize("pages", [first_session_pages, clock_pages, public_pages])
async def test_page_is_accessible_in_both_schemes_and_fits_every_width(
    browser: Browser, program: Program, pages: Callable[[Console], AsyncIterator[str]], subtests: pytest.Subtests
) -> None:
    # The policy of the console blocks the axe script, so this test bypasses it.
    async with open_tab(browser, bypass_csp=True, viewport={"width": 1280, "height": 900}) as tab:
        async for name in pages(Console(tab, program)):
            parts = CHANGED_PARTS.get(name, "")
            for width in WIDTHS:
                with subtests.test(f"{name} at {width} px"):
                    assert await overflowing_elements(tab, width) == []
            with subtests.test(f"{name} in light colours"):
                assert await tab.evaluate(_BRIGHTNESS) > 0.5
                assert await violations(tab, {}, parts) == []
            with subtests.test(f"{name} in dark colours"):
                await tab.page.emulate_media(color_scheme="dark")
                assert await tab.evaluate(_BRIGHTNESS) < 0.5
                assert await violations(tab, {"runOnly": ["color-contrast"]}, parts) == []
            await tab.page.emulate_media(color_scheme="light")
