"""Double clicks in the console: each button makes one call at a time."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Locator, expect

from tests.browser.console import HTTP_ERROR, Console
from tests.browser.held_requests import HeldRequests


async def press(button: Locator, held: HeldRequests) -> None:
    """Click twice at once, and again during the call."""
    await button.evaluate("(button) => { button.click(); button.click(); }")
    await held.arrived()
    if await button.count():
        await button.evaluate("(button) => button.click()")
    await held.release()


async def fork_here(console: Console) -> Locator:
    clock = console.create()
    console.call("advanceTestClock", id=clock, frozenTime="2027-01-31T00:00:00Z")
    await console.open_clock(clock, "?t=2027-01-10T00:00:00Z")
    return console.button("Fork here")


async def advance(console: Console) -> Locator:
    await console.open_clock(console.create(), "?t=2027-01-31T00:00:00Z")
    return console.advance


async def delete(console: Console) -> Locator:
    await console.open_clock(console.create())
    await console.choose("Delete…")
    return console.button("Delete clock")


async def sign_out(console: Console) -> Locator:
    await console.open("#/clocks/new")
    return console.button("Sign out")


BUTTONS: list[tuple[Callable[[Console], Awaitable[Locator]], str]] = [
    (fork_here, "forkTestClock"),
    (advance, "advanceTestClock"),
    (delete, "deleteTestClock"),
    (sign_out, "logout"),
]


async def test_double_click_makes_one_call(console: Console, subtests: pytest.Subtests) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    for prepare, method in BUTTONS:
        with subtests.test(prepare.__name__):
            button = await prepare(console)
            await expect(button).to_be_visible()
            calls = console.tab.methods.count(method)
            async with HeldRequests(console.page, method) as held:
                await press(button, held)
            # A second call would have started before the next page appears.
            await console.open("#/nowhere")
            await expect(console.heading("Page not found")).to_be_visible()
            assert console.tab.methods.count(method) - calls == 1
