"""Cleanup at the end of a session or a page: call history, responses and polling."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.browser.console import HTTP_ERROR, Console, new_address, open_console
from tests.browser.held_requests import HeldRequests
from tests.support.program import Program

# A page that sends no requests.
OTHER_PAGE = "#/nowhere"


# Sessions


async def sign_in_as_another(console: Console) -> str:
    """Sign in as a new user and return the email address."""
    email = new_address()
    await console.page.get_by_role("link", name="Clocks", exact=True).click()
    await console.sign_in(email)
    await expect(console.heading("Start with a scenario")).to_be_visible()
    return email


async def revoke_on_the_server(console: Console) -> None:
    console.call("logout")
    await console.poll()
    await expect(console.notification).to_have_text("Your session has ended. Sign in again.")


async def methods_in_history(console: Console) -> list[str]:
    await console.button("Requests").click()
    calls = console.page.get_by_role("list", name="Latest requests")
    await expect(calls).to_be_visible()
    return [str(method) for method in await calls.locator(".method").all_inner_texts()]


async def test_call_history_ends_with_the_session(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await console.open_clock(console.create())
    await revoke_on_the_server(console)
    await sign_in_as_another(console)
    expected = ["listTestClocks", "loginByEmailVerification", "sendLoginCodeEmail"]
    assert await methods_in_history(console) == expected


async def test_late_sign_out_does_not_end_the_next_session(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await console.open_clock(console.create())
    async with HeldRequests(console.page, "logout") as held:
        await console.button("Sign out").click()
        await held.arrived()
        await revoke_on_the_server(console)
        email = await sign_in_as_another(console)
        await held.release()
    assert (await console.session())["token"] == console.token
    await expect(console.notification).to_have_text(f"You are signed in as {email}.")
    assert "logout" not in await methods_in_history(console)


# Pages


_SET_VISIBILITY = """(value) => {
  Object.defineProperty(document, "visibilityState", { value, configurable: true });
  Object.defineProperty(document, "hidden", { value: value === "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


async def test_polling_ends_with_its_page(browser: Browser, program: Program, subtests: pytest.Subtests) -> None:
    async with open_console(browser, program, new_profile=True) as console:
        await console.page.clock.install()
        for path, polled in ((f"#/clock/{console.create()}", "getTestClock"), ("#/mailbox", "/mailbox/emails.json")):
            with subtests.test(path):
                await check_polling(console, path, polled)


async def check_polling(console: Console, path: str, polled: str) -> None:
    page, polls = console.page, re.compile(r"/mailbox/emails\.json$" if polled.startswith("/") else "/rpc$")
    await console.open(path)
    await expect(console.title).to_be_visible()
    for _ in range(2):
        async with page.expect_response(polls):
            await page.clock.run_for(2_500)

    # A hidden tab doesn't poll.
    await page.evaluate(_SET_VISIBILITY, "hidden")
    before = len(console.tab.requests)
    await page.clock.run_for(10_000)
    assert await console.tab.requests_since(before) == []
    async with page.expect_response(polls):
        await page.evaluate(_SET_VISIBILITY, "visible")

    await open_other_page(console)
    await assert_no_requests(console)

    # The same if a response is late.
    async with page.expect_response(polls):
        await console.open(path)
    await expect(console.title).to_be_visible()
    async with HeldRequests(page, polled) as held:
        await page.clock.run_for(2_500)
        await held.arrived()
        await open_other_page(console)
        held.drop()
    await assert_no_requests(console)


async def open_other_page(console: Console) -> None:
    await console.open(OTHER_PAGE)
    await expect(console.heading("Page not found")).to_be_visible()


async def assert_no_requests(console: Console) -> None:
    """Assert that the page sends no requests and shows no notification for a simulated minute."""
    before = len(console.tab.requests)
    await console.poll()
    await console.tab.evaluate("() => dispatchEvent(new Event('online'))")
    await console.page.clock.run_for(60_000)
    assert await console.tab.requests_since(before) == []
    await expect(console.notification).to_be_empty()
