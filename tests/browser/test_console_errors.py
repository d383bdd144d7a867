"""Errors in the console: each has a message and a way to recover."""

import re

import pytest
from playwright.async_api import Browser, Route, expect

from tests.browser.console import HTTP_ERROR, NETWORK_ERROR, Console, new_address
from tests.browser.held_requests import HeldRequests
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program

EXPIRED_ID = "clock_0190a1b2-c3d4-7abc-8def-0123456789ab"
UNKNOWN_ID = "clock_ff90a1b2-c3d4-7abc-8def-0123456789ab"
SESSION_ENDED = "Your session has ended. Sign in again."


async def drop_response(route: Route) -> None:
    """Execute the request and drop its response."""
    await route.fetch()
    await route.abort()


# Lost responses


async def test_sign_out_without_a_server_says_the_token_stays_valid(console: Console) -> None:
    console.tab.ignored_prefixes = (NETWORK_ERROR,)
    await console.open("#/clocks/new")
    await console.page.route("**/rpc", lambda route: route.abort())
    await console.button("Sign out").click()
    await expect(console.notification).to_have_text(
        "You are signed out here. Can't reach the server, so your token was not revoked."
    )
    await expect(console.heading("Sign in")).to_be_visible()
    assert await console.session() is None


# Session ended


async def test_session_ended_elsewhere_leads_to_sign_in(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    clock = console.create()
    await console.open_clock(clock)
    console.call("logout")
    await console.poll()
    await expect(console.notification).to_have_text(SESSION_ENDED)
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(console.page.get_by_label("Email")).to_be_focused()
    assert await console.session() is None
    assert console.page.url.endswith(f"#/clock/{clock}"), "the URL stays for the next sign-in"
    # A page that doesn't poll shows the error after the next action.
    await console.sign_in(new_address())
    await expect(console.heading("Clock not found")).to_be_visible()
    await console.open("#/clocks/new")
    await expect(console.heading("New clock")).to_be_visible()
    console.call("logout")
    await console.button("Create Salary and rent").click()
    await expect(console.notification).to_have_text(SESSION_ENDED)
    await expect(console.heading("Sign in")).to_be_visible()


# Clock deleted or expired


async def test_clock_deleted_elsewhere_shows_its_last_state(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    clock = console.create()
    await console.open_clock(clock, "?t=2027-01-31T00:00:00Z")
    console.call("deleteTestClock", id=clock)
    await console.poll()
    await expect(console.alert).to_contain_text("This clock was deleted elsewhere. You see its last state.")
    await expect(console.page.get_by_text("DELETED", exact=True)).to_be_visible()
    await expect(console.advance).to_have_attribute("aria-disabled", "true")
    await expect(console.page.get_by_role("link", name="Back to your clocks")).to_be_visible()
    assert len(await console.states()) == 3


NOT_FOUND = "It was deleted, it expired after seven days, or it belongs to another account."
MISSING_CLOCKS = {
    EXPIRED_ID: ("This clock has expired", f"Clocks expire after seven days. {EXPIRED_ID}"),
    UNKNOWN_ID: ("Clock not found", f"{NOT_FOUND} {UNKNOWN_ID}"),
    "%E0%A4%A<b>": ("Clock not found", f"{NOT_FOUND} %E0%A4%A"),
}


async def test_missing_page_shows_a_message_and_a_dialog_closes_with_its_page(
    console: Console, subtests: pytest.Subtests
) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    for id, (title, message) in MISSING_CLOCKS.items():
        with subtests.test(id):
            await console.open(f"#/clock/{id}?t=nonsense")
            await expect(console.heading(title)).to_be_visible()
            await expect(console.alert).to_contain_text(message)
            await console.page.get_by_role("link", name="Back to your clocks").click()
            await expect(console.heading("Start with a scenario")).to_be_visible()
    await console.open("#/nowhere/at-all")
    await expect(console.heading("Page not found")).to_be_visible()
    await console.page.get_by_role("link", name="Back to your clocks").click()
    await expect(console.heading("Start with a scenario")).to_be_visible()
    # Back at the list, no dialog of the clock stays.
    await console.open("#/clocks")
    await console.open_clock(console.create())
    dialog = console.page.get_by_role("dialog")
    await console.choose("Delete…")
    await expect(dialog).to_be_visible()
    await console.page.go_back()
    await expect(console.heading("Clocks")).to_be_visible()
    await expect(dialog).to_have_count(0)


async def test_lost_fork_response_says_the_fork_may_exist(console: Console) -> None:
    console.tab.ignored_prefixes = (NETWORK_ERROR,)
    await console.open_clock(console.create())
    await console.button("Fork…").click()
    await console.page.route("**/rpc", drop_response)
    await console.button("Fork").click()
    warning = "The fork may exist. Check your clocks."
    await expect(console.alert).to_contain_text(warning)
    # The focused button disappears when the server is available, so the focus moves to the slider.
    await console.button("Try again now").focus()
    await console.page.unroute_all(behavior="wait")
    await console.poll()
    await expect(console.notification).to_have_text(f"The server is back. The clock is at 1 Jan 2027. {warning}")
    await expect(console.slider).to_be_focused()


async def test_lost_response_to_a_new_event_and_a_retry_add_one_event(console: Console) -> None:
    console.tab.ignored_prefixes = (NETWORK_ERROR,)
    clock = console.create()
    await console.open_clock(clock)
    await console.button("Add event").click()
    dialog = console.page.get_by_role("dialog", name="Add event")
    await dialog.get_by_label("Name").fill("Bike")
    await dialog.get_by_label("Amount").fill("40")
    await console.page.route("**/rpc", drop_response)
    await dialog.get_by_role("button", name="Add event").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("A retry doesn't add a second event.")
    await console.page.unroute_all(behavior="wait")
    await dialog.get_by_role("button", name="Add event").click()
    await expect(dialog).to_have_count(0)
    shown = console.page.get_by_role("region", name="Transactions").get_by_role("rowheader")
    await expect(shown.filter(has_text="Bike")).to_have_count(1)
    clock_now = console.clock(clock)
    items = clock_now["transactions"] + clock_now["pendingTransactions"]
    assert [item["name"] for item in items].count("Bike") == 1


# Navigation during a call


async def test_late_response_does_not_change_the_next_page(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    clock = console.create()
    await console.open_clock(clock, "?t=2027-01-31T00:00:00Z")
    async with HeldRequests(console.page, "advanceTestClock") as held:
        await console.advance.click()
        await held.arrived()
        await console.page.get_by_role("link", name="Clocks", exact=True).click()
        await expect(console.heading("Clocks")).to_be_visible()
        await held.release()
    # The clock page updates its URL with a delay. Timers of a page run in order.
    await console.tab.evaluate("() => new Promise((resolve) => setTimeout(resolve, 301))")
    assert console.page.url.endswith("#/clocks")
    await expect(console.notification).to_be_empty()
    assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


# Sign-in


async def test_second_code_request_is_limited_and_the_first_code_still_works(program: Program, tab: Tab) -> None:
    tab.ignored_prefixes = (HTTP_ERROR,)
    console, email = Console(tab, program), new_address()
    await console.open()
    await console.page.get_by_label("Email").fill("nobody")
    await console.button("Send me a code").click()
    await expect(console.alert).to_contain_text("The email address ")
    await expect(console.page.get_by_label("Email")).to_be_focused()
    await console.request_code(email)
    resend = console.page.get_by_role("button", name=re.compile("^Send again in [0-9]+ s$"))
    await expect(resend).to_be_disabled()
    await console.button("Use another address").click()
    await console.page.get_by_label("Email").fill(email)
    await console.button("Send me a code").click()
    await expect(console.alert).to_have_text(
        re.compile("^We already sent an email to this address. Use it, or request another in [0-9]+ s.$")
    )
    await expect(resend).to_be_disabled()
    # A wrong code doesn't invalidate the right one.
    code = console.page.get_by_label("Six-digit code")
    right = console.code(email)
    await code.fill("12")
    await console.button("Sign in").click()
    await expect(console.alert).to_have_text("Enter six digits.")
    wrong = "000000" if right != "000000" else "111111"
    await code.fill(wrong)
    await expect(console.alert).to_have_text("This code is wrong, expired or used. Try again.")
    await expect(code).to_be_focused()
    # The wrong code stays selected, and Enter doesn't send it again.
    assert await tab.evaluate("() => getSelection().toString()") == wrong
    await console.page.keyboard.press("Enter")
    await code.fill(right)
    await expect(console.button("Sign out")).to_be_visible()
    assert tab.methods.count("loginByEmailVerification") == 2


async def test_resend_wait_comes_from_the_server(program: Program, browser: Browser) -> None:
    async with open_tab(browser, new_profile=True) as tab:
        tab.ignored_prefixes = (HTTP_ERROR,)
        console, email = Console(tab, program), new_address()
        program.send_code(email)
        await tab.page.clock.install()
        await console.open()
        await console.page.get_by_label("Email").fill(email)
        await console.button("Send me a code").click()
        await expect(console.alert).to_contain_text("We already sent an email to this address.")
        await tab.page.clock.run_for(61_000)
        await expect(console.button("Send again")).to_be_enabled()
        # The real minute has not passed, so the server rejects the request.
        await console.button("Send again").click()
        await expect(console.page.get_by_role("button", name=re.compile("^Send again in [0-9]+ s$"))).to_be_disabled()
