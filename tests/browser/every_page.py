"""Visits every page and state of the console."""

import re
from collections.abc import AsyncIterator

from playwright.async_api import expect

from tests.browser.console import HOSTILE_CLOCK, HOSTILE_TEXTS, HTTP_ERROR, WITH_ACCOUNTS, Console, new_address
from tests.support.program import link_params

LONG_ADDRESS = f"{'a-very-long-name-' * 3}@{'a-long-part-of-a-domain.' * 4}test"


async def first_session_pages(console: Console) -> AsyncIterator[str]:
    """Sign in as a new user and visit the pages for a new clock. Yield the name of each state."""
    page, email = console.page, f"{'very.' * 9}long.{new_address()}"
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    yield "sign-in"
    await console.request_code(email)
    await page.get_by_label("Six-digit code").fill("12")
    await console.button("Sign in").click()
    await expect(console.alert).to_be_visible()
    yield "code sent"
    await page.get_by_label("Six-digit code").fill(console.code(email))
    await expect(console.button("Create Salary and rent")).to_be_visible()
    yield "scenario gallery"
    await page.get_by_role("button", name=re.compile("^Edit Saving for a trip")).click()
    await page.get_by_label("Scenario in TOML").fill("evry = 1")
    await expect(console.alert).to_contain_text('unknown key "evry"')
    yield "TOML with a fault"
    await page.get_by_role("tab", name="Form").click()
    await page.get_by_role("group", name="Transactions").get_by_label("Amount").first.fill("-1")
    await console.button("Create clock").click()
    await expect(console.alert).to_be_visible()
    yield "form with faults"


async def _open_clock_of_a_bank(console: Console) -> None:
    """Open a clock with accounts, transfers and connections, one of which was just made."""
    transfer = {"name": HOSTILE_TEXTS[0], "from": "checking", "to": "card", "amount": 5, "at": "2027-01-05T00:00:00Z"}
    fault = {"kind": "INSTITUTION_DOWN", "from": "2027-01-02T00:00:00Z"}
    rich = console.create({**WITH_ACCOUNTS, "transfers": [transfer]})
    console.call("connectTestClock", id=rich, protocol="PLAID", institution=HOSTILE_TEXTS[1], faults=[fault])
    await console.open_clock(rich, "?t=2027-01-09T00:00:00Z")
    await console.button("Connect").click()
    await console.button("Connect app").click()
    await expect(console.button("Copy token")).to_be_visible()


async def clock_pages(console: Console) -> AsyncIterator[str]:
    page = console.page
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await console.store_session()
    clock, other = console.create(HOSTILE_CLOCK), console.create()
    await console.open_clock(clock, "?t=2027-01-09T00:00:00Z")
    await console.goals.first.get_by_text("1 contribution").click()
    yield "clock"
    await console.button("View as table").click()
    await console.button("Requests").click()
    await page.get_by_role("tab", name="JSON").click()
    await expect(page.get_by_role("group", name="Request")).to_be_visible()
    yield "timeline table and request as JSON"
    await page.get_by_role("tab", name="curl").click()
    await _open_clock_of_a_bank(console)
    yield "accounts and connections"
    await console.open_clock(other)
    await console.choose("Export…")
    yield "export dialog"
    await console.button("Cancel").click()
    await console.button("Add event").click()
    await page.get_by_role("dialog").get_by_role("button", name="Add event").click()
    await expect(page.locator("dialog .fault").filter(has_text="required").first).to_be_visible()
    yield "dialog to add an item, with faults"
    await console.button("Cancel").click()
    await console.open("#/clocks")
    await page.get_by_role("button", name=re.compile("^Rename")).first.click()
    await expect(page.locator(".posted")).to_have_count(3)
    await expect(page.get_by_role("group", name="Request as curl")).to_be_visible()
    yield "clocks and request as curl"
    await console.button("Requests").click()
    console.call("createAccessToken", name=HOSTILE_TEXTS[1], readOnly=True)
    await console.open("#/account")
    await page.get_by_label("Name", exact=True).fill("W" * 100)
    await console.button("Create token").click()
    await expect(page.get_by_role("region", name="Access tokens").get_by_role("listitem")).to_have_count(2)
    yield "account"
    await console.open(f"#/compare/{clock}")
    await expect(page.get_by_role("slider", name="Date to compare")).to_be_visible()
    yield "two clocks"


async def public_pages(console: Console) -> AsyncIterator[str]:
    page, program = console.page, console.program
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    # Another test may have sent this email already.
    program.call("sendLoginCodeEmail", link_params(LONG_ADDRESS))
    await console.open(f"#/mailbox?to={LONG_ADDRESS}")
    email = page.get_by_role("region", name="Emails").get_by_role("link").first
    await expect(email).to_be_visible()
    yield "mailbox"
    await email.click()
    await expect(page.get_by_role("article", name="Email").get_by_role("heading")).to_be_visible()
    yield "email"
    await console.open("#/nowhere")
    await expect(console.heading("Page not found")).to_be_visible()
    yield "page not found"
    await page.goto(f"{program.url}/login#token=old")
    await console.button("Sign in").click()
    await expect(page.get_by_role("link", name="Request a new link")).to_be_visible()
    yield "rejected login link"
    await page.goto(f"{program.url}/docs")
    yield "docs"
