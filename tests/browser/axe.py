"""Checks the accessibility of a page with axe."""

from typing import Any

from tests.support.npm_packages import read_package_file
from tests.support.tabs import Tab

_AXE = """async (options) => {
  // Contrast is undefined during a transition.
  document.getAnimations().forEach((animation) => animation.finish());
  // The page behind a modal dialog is another state.
  const include = [document.querySelector("dialog:modal") ?? document];
  // All operations of the reference have the same elements.
  const exclude = [".reference section:nth-of-type(n+4):not(:last-of-type)"];
  const { violations } = await axe.run({ include, exclude }, {
    resultTypes: ["violations"], iframes: false, preload: false, ...options,
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}"""


async def violations(tab: Tab, options: dict[str, Any]) -> Any:
    """Return the violations that axe finds."""
    if not await tab.evaluate("() => 'axe' in window"):
        await tab.page.evaluate(read_package_file("axe-core", "axe.min.js"))
    return await tab.page.evaluate(_AXE, options)
