"""Checks the accessibility of a page with axe."""

from typing import Any

from playwright.async_api import Frame

from tests.browser.tabs import Tab
from tests.support.npm_packages import tools

# All operations, fields, rows, goals, scenarios and lines of code have the same elements, so a few of each are enough.
_REPEATED = """
  .reference section:nth-of-type(n+3):not(:last-of-type), .reference section:last-of-type > div:nth-of-type(n+5),
  :is(.reference dl, .field-list) > div:nth-child(n+3), nav li:nth-child(n+4):not(:has([aria-current])),
  :is(.reference, tick-clock) tbody tr:nth-child(n+3):not(:last-child),
  ul.goals > li:nth-child(n+3), .scenario:nth-of-type(n+3), pre span:nth-of-type(n+20)"""

_AXE = """async ([options, repeated, parts]) => {
  // Contrast is undefined during a transition.
  document.getAnimations().forEach((animation) => animation.finish());
  // The tests hide pages with this style sheet, to draw nothing.
  const styles = [...document.adoptedStyleSheets];
  document.adoptedStyleSheets = [];
  const removed = [...document.querySelectorAll(repeated)].map((element) => [element, new Comment()]);
  removed.forEach(([element, mark]) => element.replaceWith(mark));
  // The page behind a modal dialog is another state.
  const modal = document.querySelector("dialog:modal");
  const include = modal ? [modal] : parts ? [...document.querySelectorAll(parts)] : [document];
  const { violations } = await axe.run({ include }, {
    resultTypes: ["violations"], iframes: false, preload: false, ...options,
  });
  removed.forEach(([element, mark]) => mark.replaceWith(element));
  document.adoptedStyleSheets = styles;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}"""


async def violations(shown: Tab | Frame, options: dict[str, Any], parts: str = "") -> Any:
    """Return the violations that axe finds on the page, or in its parts with this CSS selector."""
    page = shown.page if isinstance(shown, Tab) else shown
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate((tools() / "axe-core" / "axe.min.js").read_text("utf-8"))
    return await page.evaluate(_AXE, [options, _REPEATED, parts])
