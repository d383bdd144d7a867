"""All components of the console in all states, on one page."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser

import tickover
from tests.browser.axe import violations
from tests.browser.console import Console
from tests.browser.layout import overflowing_elements
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program

# All tests of a process share the browser and its event loop.

COMPONENTS = Path(__file__).with_name("components.js").read_text()
STYLES = Path(tickover.__file__).parent / "console" / "css"
SHARED_CLASSES = sorted(
    {
        name
        for file in ("elements.css", "components.css")
        for selector in re.findall(r"^[^{};]+(?=\{)", (STYLES / file).read_text(), re.MULTILINE)
        for name in re.findall(r"\.([a-z][a-z-]*)", selector)
    }
)
SCHEMES = ("light", "dark")

_MISSING = "(names) => names.filter((name) => !document.querySelector(`.${name}`))"
_BUTTON_STYLES = """() => [...document.querySelectorAll("[data-kind]")].map((button) => {
  const { backgroundColor, color, opacity, outlineStyle, cursor } = getComputedStyle(button);
  return [button.dataset.kind, `${backgroundColor} ${color} ${opacity} ${outlineStyle} ${cursor}`];
})"""


async def force_states(tab: Tab) -> None:
    """Let buttons look as if the pointer or the focus was on them."""
    devtools = await tab.page.context.new_cdp_session(tab.page)
    await devtools.send("DOM.enable")
    await devtools.send("CSS.enable")
    root = (await devtools.send("DOM.getDocument"))["root"]["nodeId"]
    for state in ("hover", "focus-visible"):
        query = {"nodeId": root, "selector": f"[data-force={state}]"}
        for node in (await devtools.send("DOM.querySelectorAll", query))["nodeIds"]:
            await devtools.send("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": [state]})


async def test_components_are_complete_distinct_and_accessible_in_every_state(
    browser: Browser, program: Program, subtests: pytest.Subtests
) -> None:
    # The policy of the console blocks the axe script, so this test bypasses it.
    async with open_tab(browser, bypass_csp=True, viewport={"width": 1280, "height": 900}) as tab:
        await Console(tab, program).open("#/mailbox")
        await tab.page.evaluate(COMPONENTS)
        assert await tab.page.evaluate(_MISSING, SHARED_CLASSES) == []
        await force_states(tab)
        with subtests.test("at 320 px"):
            assert await overflowing_elements(tab, 320) == []
        await tab.page.set_viewport_size({"width": 1280, "height": 900})
        for scheme in SCHEMES:
            await tab.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            with subtests.test(f"in {scheme} colours"):
                # Only the contrast depends on the colours.
                options = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
                assert await violations(tab, options) == []
            with subtests.test(f"states of buttons in {scheme} colours"):
                styles = [tuple(style) for style in await tab.evaluate(_BUTTON_STYLES)]
                assert [style for style in styles if styles.count(style) > 1] == []
