"""Checks the layout of a page."""

from typing import Any

from playwright.async_api import ViewportSize

from tests.browser.tabs import Tab

SMALL: ViewportSize = {"width": 320, "height": 568}
LARGE: ViewportSize = {"width": 1280, "height": 800}


# Returns the elements that make the page wider than its window. Charts follow its width some frames later.
OVERFLOWING = """async () => {
  let excess;
  for (let frames = 0; frames < 2 || (frames < 60 && excess > 0); frames++) {
    await new Promise(requestAnimationFrame);
    excess = document.documentElement.scrollWidth - innerWidth;
  }
  if (excess <= 0) return [];
  const all = [...document.querySelectorAll("body *")];
  const outside = all.filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5);
  return [excess, ...outside.slice(-5).map((element) => element.outerHTML.slice(0, 120))];
}"""


async def overflowing_elements(tab: Tab, width: int) -> Any:
    """Return the elements that make the page wider than a window of this width."""
    await tab.page.set_viewport_size({"width": width, "height": 900})
    return await tab.evaluate(OVERFLOWING)
