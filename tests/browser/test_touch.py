"""The console on a phone, with touch."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, CDPSession, FloatRect, expect

from tests.browser.console import Console, open_console
from tests.support.program import Program

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

# A tap on a moving page only stops it.
_SCROLL_END = """async () => {
  for (let still = 0, last = scrollY; still < 10; last = scrollY) {
    await new Promise(requestAnimationFrame);
    still = scrollY === last ? still + 1 : 0;
  }
}"""


async def test_clock_works_with_touch(browser: Browser, program: Program) -> None:
    async with open_console(browser, program, **PHONE) as console:
        tab, page = console.tab, console.page
        await console.open()
        await console.button("Create Salary and rent").tap()
        await expect(console.slider).to_be_visible()
        assert await tab.evaluate("() => scrollY") == 0
        await expect(console.advance).to_be_in_viewport(ratio=1)
        async with touch_screen(console) as fingers:
            whole = await console.plot_range()
            await fingers.move([0.5], [0.5])
            await expect(console.advance).to_have_accessible_name(re.compile(r"^Advance to \d+ (Jan|Feb)"))
            await expect(console.button("Back to now")).to_be_in_viewport(ratio=1)
            tapped = await console.preview_summary.inner_text()
            await fingers.move([0.4], [0.7])
            await expect(console.preview_summary).not_to_have_text(tapped)
            assert await console.plot_range() == whole
            dragged = await console.final_preview_summary()
            await fingers.move([0.4, 0.6], [0.2, 0.8])
            zoomed = await console.plot_range(before=whole)
            await fingers.move([0.6, 0.9], [0.2, 0.5])
            await console.plot_range(before=zoomed)
            await fingers.move([0.3], [0.3], up=100)
            await page.wait_for_function("(before) => scrollY > before", arg=fingers.scroll_start)
            await page.evaluate(_SCROLL_END)
        # Neither zoom, pan nor scrolling moves the preview.
        await expect(console.preview_summary).to_have_text(dragged)
        await console.advance.tap()
        await expect(console.notification).to_have_text(re.compile("^[0-9]+ events posted[.] Balance"))
        await console.button("More actions").tap()
        await expect(page.get_by_role("menuitem", name="Compare…")).to_be_visible()
        await page.get_by_role("menuitem", name="Rename").tap()
        await page.get_by_role("link", name="@example.test").tap()
        await console.button("Sign out").tap()
        await expect(console.notification).to_have_text("You are signed out.")


class Fingers:
    """Fingers on the plot, at fractions of its width."""

    def __init__(self, devtools: CDPSession, box: FloatRect, scroll_start: float) -> None:
        self._devtools = devtools
        self._box = box
        self.scroll_start = scroll_start

    async def move(self, start: list[float], end: list[float], up: float = 0) -> None:
        await self._touch("touchStart", start)
        for step in range(1, 9):
            fractions = [a + (b - a) * step / 8 for a, b in zip(start, end, strict=True)]
            await self._touch("touchMove", fractions, up * step / 8)
        await self._touch("touchEnd", [])

    async def _touch(self, type: str, fractions: list[float], up: float = 0) -> None:
        points = [
            {"x": self._box["x"] + fraction * self._box["width"], "y": self._box["y"] + 100 - up, "id": number}
            for number, fraction in enumerate(fractions)
        ]
        await self._devtools.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})


@asynccontextmanager
async def touch_screen(console: Console) -> AsyncIterator[Fingers]:
    await console.plot.evaluate("(plot) => plot.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = await console.plot.bounding_box()
    assert box
    devtools = await console.page.context.new_cdp_session(console.page)
    yield Fingers(devtools, box, await console.tab.evaluate("() => scrollY"))
    await devtools.detach()
