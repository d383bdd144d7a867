"""The clock page: balances, expectations, advancing with one click, amendments, zoom, and the transaction table."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, expect

from tests.browser.console import HTTP_ERROR, NEVER_BELOW_ZERO, WITH_ACCOUNTS, Console
from tests.browser.held_requests import HeldRequests, calls
from tests.support.program import Program

SWISS_RENT = {"name": "Rent", "type": "EXPENSE", "amount": 900, "currency": "CHF", "at": "2027-01-03T08:00:00Z"}


_DROPPED_FILE = """(text) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], "books.csv"));
  return transfer;
}"""


async def open_with_checks(console: Console, clock: str, **checks: Any) -> None:
    """Open a clock after storing opening balances and expectations with it."""
    console.call("updateTestClock", id=clock, **checks)
    await console.open_clock(clock)


def figure(console: Console, label: str) -> Locator:
    """Return a figure at the top of the page."""
    return console.page.locator(".figure").filter(has_text=label)


def expectations(console: Console) -> Locator:
    return console.page.get_by_role("list", name="Expectations").get_by_role("listitem")


# Balances and expectations


def read_text(path: Path) -> str:
    return path.read_text()


async def test_balances_include_the_opening_balance(console: Console) -> None:
    clock = console.create()
    await open_with_checks(console, clock, openingBalances={"EUR": 1200, "CHF": 5})
    balances = figure(console, "Balances")
    await expect(balances).to_have_text("Balances€1,200.00€1,700.50 by 3 FebCHF\xa05.00 ")
    lowest = figure(console, "Lowest ahead")
    await expect(lowest).to_have_text("Lowest ahead€50.003 JanCHF\xa05.00 now")
    await expect(console.rows.locator(".balance")).to_have_text(["€50.00", "€2,850.50", "€1,700.50"])
    await console.page.get_by_text("Opening balance: ").click()
    await console.page.get_by_label("EUR", exact=True).fill("1,000")
    await console.page.locator(".opening").get_by_role("button", name="Save").click()
    await expect(lowest).to_have_text("Lowest ahead−€150.003 JanCHF\xa05.00 now")
    await expect(balances).to_contain_text("€1,000.00")
    await expect(console.page.locator(".lowest").first).to_have_text("Lowest ahead, 3 Jan−€150.00")
    await expect(console.rows.locator(".balance")).to_have_text(["−€150.00", "€2,650.50", "€1,500.50"])
    # A balance of zero is none.
    await console.page.get_by_label("CHF", exact=True).fill("0")
    await console.page.locator(".opening").get_by_role("button", name="Save").click()
    await expect(lowest).not_to_contain_text("CHF")
    assert console.clock(clock)["openingBalances"] == {"EUR": 1000}
    await console.open("#/clocks")
    await expect(console.page.get_by_role("listitem")).to_contain_text("€1,000.00")


async def test_violated_expectation_is_marked_and_explained(console: Console) -> None:
    clock = console.create()
    await open_with_checks(console, clock, expectations=[NEVER_BELOW_ZERO])
    await expect(figure(console, "Expectations")).to_contain_text("1 violation3 Jan: balance below €0.00")
    legend = console.page.get_by_role("list", name="Legend").get_by_role("listitem")
    await expect(legend).to_have_text(["posted", "scheduled", "not allowed", "violation"])
    await expect(console.page.locator(".strip title")).to_have_text("EUR balance never below €0.00")
    await expect(expectations(console)).to_contain_text("EUR balance never below €0.00: will be violated")
    await expect(expectations(console)).to_contain_text(
        ". Below 0.00 EUR from 3 Jan until 25 Jan 2027, because of Rent (-1150.00): 0.00 -> -1150.00."
    )
    await expect(console.page.locator(".strip.violated .violation")).to_have_count(1)
    await expect(console.page.locator(".violated .line")).to_have_count(1)
    await console.page.get_by_role("button", name="Violation on 3 Jan 2027, 08:00 UTC").click()
    await expect(console.page).to_have_url(re.compile(r"\?t=2027-01-03T08:00:00Z$"))
    await console.advance.click()
    await expect(figure(console, "Expectations")).to_contain_text("1 violation3 Jan")
    await expect(expectations(console)).to_contain_text("Violation on 3 Jan 2027, 08:00 UTC")
    # A fork has the same expectations. An opening balance keeps this one.
    await console.button("Fork…").click()
    await console.button("Fork").click()
    await expect(console.heading(re.compile("^Fork of"))).to_be_visible()
    await console.page.get_by_text("Set an opening balance").click()
    await console.page.get_by_label("EUR", exact=True).fill("1150")
    await console.page.locator(".opening").get_by_role("button", name="Save").click()
    await expect(figure(console, "Expectations")).to_contain_text("All will hold")
    await expect(console.page.locator(".strip .violation")).to_have_count(0)


async def test_expectations_can_be_added_and_removed(console: Console) -> None:
    page = console.page
    await console.open_clock(console.create())
    await expect(figure(console, "Expectations")).to_contain_text("None")
    await console.button("Add").click()
    await page.get_by_label("Expectation", exact=True).select_option("Goal reached")
    await page.get_by_label("By (UTC)").fill("2027-02-01")
    await console.button("Add expectation").click()
    await expect(expectations(console)).to_contain_text("Goal “Trip” reached by 1 Feb 2027: will be violated")
    await console.button("Add").click()
    await page.get_by_label("Expectation", exact=True).select_option("Transaction posted")
    await page.get_by_label("Name", exact=True).fill("Salary")
    # The server rejects times after the end of the clock.
    await page.get_by_label("By (UTC)").fill("2099-02-01")
    await console.button("Add expectation").click()
    await expect(console.alert).to_contain_text("expectations[1].posted.by")
    await page.get_by_label("By (UTC)").fill("2027-02-01")
    await console.button("Add expectation").click()
    await expect(expectations(console).nth(1)).to_contain_text("“Salary” posted by 1 Feb 2027: will hold")
    await expect(expectations(console).nth(1)).to_contain_text("Not posted yet")
    await page.reload()
    await expect(figure(console, "Expectations")).to_contain_text("1 violation")
    await page.get_by_role("button", name=re.compile("^Remove Goal “Trip”")).click()
    await expect(figure(console, "Expectations")).to_contain_text("All will hold")
    for _ in range(2):
        await console.advance.click()
        await expect(page.locator("[aria-busy=true]")).to_have_count(0)
    await expect(figure(console, "Expectations")).to_contain_text("All held")
    await expect(expectations(console)).to_contain_text("“Salary” posted by 1 Feb 2027: held")
    await expect(expectations(console)).not_to_contain_text("Not posted yet")


async def test_late_results_do_not_discard_a_new_expectation(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    page, clock = console.page, console.create()
    async with HeldRequests(page, "checkTestClock", first_response=True) as held:
        await open_with_checks(console, clock, expectations=[NEVER_BELOW_ZERO])
        await held.arrived()
        await console.button("Add").click()
        await page.get_by_label("Expectation", exact=True).select_option("Transaction posted")
        await page.get_by_label("Name", exact=True).fill("Salary")
        await page.get_by_label("By (UTC)").fill("2027-02-01")
        await console.button("Add expectation").click()
        await expect(expectations(console).nth(1)).to_contain_text("will hold")
        await held.release()
    await expect(expectations(console).nth(1)).to_contain_text("will hold")
    await console.open("#/nowhere")
    await console.open_clock(clock)
    await expect(expectations(console)).to_have_count(2)


async def test_results_of_replaced_expectations_are_not_shown(console: Console) -> None:
    clock = console.create()
    await open_with_checks(console, clock, expectations=[NEVER_BELOW_ZERO])
    await expect(figure(console, "Expectations")).to_contain_text("1 violation")
    async with HeldRequests(console.page, "checkTestClock") as held:
        rule = {"balance": {"currency": "EUR", "atLeast": -5000}}
        console.call("updateTestClock", id=clock, expectations=[rule])
        await console.poll()
        await held.arrived()
        await expect(expectations(console)).to_contain_text("never below −€5,000.00")
        await expect(expectations(console)).not_to_contain_text("violated")
        await held.release()
    await expect(figure(console, "Expectations")).to_contain_text("All will hold")


async def test_accounts_have_their_own_balances_transfers_and_expectations(console: Console) -> None:
    page = console.page
    await console.open_clock(console.create(WITH_ACCOUNTS))
    await expect(figure(console, "EUR total")).to_contain_text("€900.00")
    await expect(page.locator("svg.plot .title")).to_have_text(["Checking", "Card"])
    await page.set_viewport_size({"width": 1280, "height": 600})
    for element in (page.locator(".time-axis"), console.advance):
        await expect(element).to_be_in_viewport(ratio=1)
    await page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Add event")
    await dialog.get_by_label("Type").select_option("Transfer")
    await dialog.get_by_label("Name").fill("Pay the card")
    await dialog.get_by_label("Amount").fill("20")
    await dialog.get_by_label("Time").fill("2027-01-05")
    await dialog.get_by_role("button", name="Add event").click()
    await expect(console.rows.locator(".balance")).to_have_text(["−€250.00", "−€30.00", "−€270.00"])
    await console.button("Add").click()
    await page.get_by_label("Expectation", exact=True).select_option("Balance never above")
    await page.get_by_label("Account", exact=True).select_option("Card")
    await console.button("Add expectation").click()
    await expect(expectations(console)).to_have_text(re.compile("^Card balance never above €0.00: will hold"))
    # The legend has what the chart draws.
    legend = page.get_by_role("list", name="Legend").get_by_role("listitem")
    await expect(legend).to_have_text(["posted", "scheduled", "not allowed"])
    await page.get_by_role("region", name="Accounts").get_by_role("button", name="Checking").click()
    await expect(legend).to_have_text(["posted", "scheduled"])
    # An account alone: its plot, its side of transfers, and its balances.
    await page.get_by_role("region", name="Accounts").get_by_role("button", name="Card").click()
    await expect(page.locator("svg.plot .title")).to_have_count(0)
    await expect(console.rows.locator(".amount")).to_have_text(["−€30.00", "+€20.00"])
    await expect(console.rows.locator(".balance")).to_have_text(["−€30.00", "−€10.00"])


async def test_app_is_connected_and_disconnected(console: Console, program: Program) -> None:
    page, clock = console.page, console.create(WITH_ACCOUNTS)
    bank = page.get_by_role("region", name="Bank")
    await console.open_clock(clock, "?t=2027-01-05T00:00:00Z")
    await bank.get_by_role("button", name="Connect").click()
    await bank.get_by_label("Habit").select_option("Everything is told two days late")
    await bank.get_by_label("Failure").select_option("Bank is down")
    await bank.get_by_label("From (UTC)").fill("2027-01-04")
    await console.button("Connect app").click()
    await expect(bank.get_by_role("listitem")).to_contain_text("Everything is told two days late")
    token = await bank.locator(".token-secret code").inner_text()
    await expect(bank).to_contain_text("no app has used it yet")
    assert program.exchange_public_token(token)["access_token"]
    # What a sync at the preview brings, and that it fails.
    await expect(bank).to_contain_text("If your app syncs now, its next sync at this time adds 2 transactions.")
    await expect(bank).to_contain_text("Tickover Bank fails: bank is down.")
    await expect(bank.get_by_role("row")).to_have_text(["Checking−€250.00", "Card−€30.00"])
    await expect(page.locator("svg.plot .strip .violation")).to_have_count(1)
    console.call("connectTestClock", id=clock, protocol="SIMPLEFIN", institution="Other Bank")
    await page.reload()
    await expect(bank.locator(".token-secret")).to_have_count(0)
    await expect(bank).to_contain_text("used by an app")
    await expect(bank).to_contain_text("Tickover Bank fails: bank is down.")
    await bank.get_by_role("button", name="Disconnect “Tickover Bank”").click()
    await console.button("Disconnect").click()
    await expect(bank).not_to_contain_text("fails")
    await expect(bank).to_contain_text("adds 2 transactions.")
    await bank.get_by_role("button", name="Disconnect “Other Bank”").click()
    await console.button("Disconnect").click()
    await expect(bank).to_contain_text("Your app can read this clock as if it were a bank")
    await expect(page.locator("svg.plot .strip .violation")).to_have_count(0)
    assert console.call("listTestClockConnections", id=clock)["connections"] == []


async def test_books_are_compared_until_they_are_complete(console: Console) -> None:
    page, clock = console.page, console.create()
    console.call("advanceTestClock", id=clock, frozenTime="2027-01-26T00:00:00Z")
    await console.open_clock(clock)
    books = "date,amount,name\n2027-01-03,-1150,Rent\n2027-01-03,-1150,Rent\n2027-01-09,-3,Tea\n"
    dropped = await page.evaluate_handle(_DROPPED_FILE, books)
    await page.dispatch_event("tick-clock", "drop", {"dataTransfer": dropped})
    section = page.get_by_role("region", name="Books in “books.csv”")
    await expect(section).to_contain_text("3 differences on 26 Jan 2027. 3 rows compared.")
    await expect(section.get_by_role("row")).to_contain_text(
        ["Difference", "Duplicated Rent", "Unexpected Tea", "Missing Salary"]
    )
    await expect(page.locator("svg.plot .strip .violation")).to_have_count(3)
    await section.get_by_role("button", name="25 Jan 2027").click()
    await expect(page).to_have_url(re.compile("t=2027-01-25T08"))
    async with page.expect_file_chooser() as chooser:
        await console.choose("Reconcile…")
    complete = b"date,amount\n2027-01-03,-1150\n2027-01-25,2800.50\n"
    await (await chooser.value).set_files({"name": "all.csv", "mimeType": "text/csv", "buffer": complete})
    await expect(page.get_by_role("region", name="Books in “all.csv”")).to_contain_text("2 rows compared.")
    # The books miss what happens next.
    console.call("advanceTestClock", id=clock, frozenTime="2027-02-04T00:00:00Z")
    await console.poll()
    await expect(page.get_by_role("region", name="Books in “all.csv”")).to_contain_text("Missing Rent")


# Advancing


async def test_advance_without_a_preview_goes_to_the_next_event(console: Console) -> None:
    clock = console.create()
    await console.open_clock(clock)
    await expect(console.advance).to_have_accessible_name("Advance to next event")
    await console.advance.click()
    await expect(console.notification).to_have_text("Rent −€1,150.00. Balance −€1,150.00.")
    assert console.clock(clock)["frozenTime"] == "2027-01-03T08:00:00Z"
    await expect(console.page.locator(".counts")).to_have_text("3 transactions, 1 contribution")
    await expect(console.page.locator("tick-transactions")).to_contain_text("3: 1 posted, 2 scheduled")
    assert await console.states() == ["just posted", "scheduled", "scheduled"]
    await expect(console.page.locator("tick-goals")).to_contain_text("1 contribution: 0 posted, 1 scheduled")
    await expect(figure(console, "EUR balance")).to_contain_text("€500.50 by 3 Feb")
    await console.slider.press("Enter")
    await expect(console.notification).to_have_text("Salary +€2,800.50. Balance €1,650.50.")
    # A preview shows the present time of day beside the previewed date.
    await console.button("+1 day").click()
    await expect(console.page.get_by_text("Now, 08:00 UTC")).to_be_visible()
    await expect(console.page.get_by_text("→ 26 Jan 2027")).to_be_visible()
    await expect(console.rows.locator(".state")).to_have_text(["posted", "posted", "scheduled"])
    goals = console.page.locator("tick-goals")
    await expect(goals).to_contain_text("1 contribution: 0 posted, 1 would post, 0 scheduled")
    await expect(goals).to_contain_text("17% → 27%")
    await expect(goals).to_contain_text("500.00 of 3,000.00 → 810.00")
    await expect(goals).to_contain_text("2,500.00 to go → 2,190.00")
    await expect(goals).to_contain_text("no more contributions, 2,190.00 short at the end")
    await expect(goals.locator("summary")).to_have_text("1 contribution, and 500.00 from the start")
    await console.button("+1 month").click(modifiers=["Shift"])
    await expect(console.notification).to_have_text("2 events posted. Balance €500.50.")
    await expect(console.advance).to_have_accessible_name("Advance 1 month")
    await console.button("More ways to advance").click()
    await console.page.get_by_role("menuitem", name="Advance 1 week").click()
    await expect(console.notification).to_have_text("Advanced to 4 Mar 2027, 08:00 UTC. Nothing posted.")
    await expect(console.button("More ways to advance")).to_be_focused()


async def test_no_button_goes_past_the_end_of_the_clock(console: Console) -> None:
    clock = console.create()
    end = console.call("advanceTestClock", id=clock, frozenTime="2036-12-31T12:00:00Z")["clock"]["maxTime"]
    for name in ("+1 day", "+1 week", "+1 month"):
        await console.open_clock(clock)
        await console.button(name).click()
        await expect(console.page).to_have_url(re.compile(re.escape(f"?t={end}")))
        await console.open("#/nowhere")
    await console.open_clock(clock)
    await console.button("More ways to advance").click()
    await console.page.get_by_role("menuitem", name="Advance 1 week").click()
    await expect(console.notification).to_have_text("Advanced to 1 Jan 2037. Nothing posted.")
    assert console.clock(clock)["frozenTime"] == end
    await expect(console.advance).to_have_attribute("aria-disabled", "true")


# Amendments


async def test_item_is_added_at_the_clicked_date_and_cancelled(console: Console) -> None:
    page, clock = console.page, console.create()
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    await open_with_checks(console, clock, openingBalances={"EUR": 2000}, expectations=[NEVER_BELOW_ZERO])
    await expect(figure(console, "Expectations")).to_contain_text("All will hold")
    await page.locator("svg.plot").click(position={"x": 500, "y": 100})
    await page.get_by_role("button", name=re.compile(r"^Add event on \d+ Jan")).click()
    dialog = page.get_by_role("dialog", name="Add event")
    await expect(dialog.get_by_label("Time (UTC)")).to_have_value(re.compile("^2027-01-1"))
    await dialog.get_by_label("Time (UTC)").fill("2027-02-30 12:00")
    await dialog.get_by_role("button", name="Add event").click()
    await expect(dialog.get_by_label("Time (UTC)")).to_have_accessible_description(
        "Time (UTC) must be a time, for example 2027-01-31 09:00."
    )
    await dialog.get_by_label("Time (UTC)").fill("2027-01-10 12:00")
    await dialog.get_by_label("Amount").fill("1,000.50")
    await dialog.get_by_role("button", name="Add event").click()
    await expect(dialog.get_by_label("Name")).to_have_accessible_description("Name is required.")
    await dialog.get_by_label("Name").fill("Bike")
    await dialog.get_by_role("button", name="Add event").click()
    await expect(console.notification).to_have_text("Added “Bike”, −€1,000.50, on 10 Jan 2027, 12:00 UTC.")
    await expect(console.rows.get_by_role("rowheader")).to_have_text(["Rent", "Bike", "Salary", "Rent"])
    await expect(figure(console, "Expectations")).to_contain_text("1 violation")
    # Contributions have no name.
    await console.button("Add event").click()
    await dialog.get_by_label("Type").select_option("Contribution to “Trip”")
    await expect(dialog.get_by_label("Name")).to_be_hidden()
    await dialog.get_by_label("Amount").fill("40")
    await dialog.get_by_label("Amount").press("Enter")
    await expect(console.notification).to_contain_text(re.compile(r"Added “Trip”, \+40.00, on \d+ Jan"))
    # The buttons of the rows are one tab stop.
    await page.locator(".opening summary").press("Tab")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    bike = console.clock(clock)["pendingTransactions"][1]["id"]
    await expect(page.get_by_role("dialog", name="Event")).to_contain_text(bike)
    await page.keyboard.press("Escape")
    await expect(console.button("Bike")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("End")
    await expect(page.get_by_role("button", name=re.compile("^Cancel Rent, −€1,150.00, 3 Feb"))).to_be_focused()
    await page.keyboard.press("Enter")
    await page.get_by_label("All 2 scheduled events with this name").check()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel event").click()
    await expect(console.notification).to_have_text("Cancelled 2 events.")
    await expect(console.button("Add event")).to_be_focused()
    assert [entry["name"] for entry in console.clock(clock)["pendingTransactions"]] == ["Bike", "Salary"]
    assert len(console.clock(clock)["goals"][0]["upcomingContributions"]) == 2


async def test_amendment_made_elsewhere_is_shown(console: Console) -> None:
    clock = console.create()
    # Enough for the rent, but not for a coffee before it.
    await open_with_checks(console, clock, openingBalances={"EUR": 1152}, expectations=[NEVER_BELOW_ZERO])
    await expect(figure(console, "Expectations")).to_contain_text("All will hold")
    await console.page.get_by_label("Filter by name or category").fill("coffee")
    coffee = {"name": "Coffee", "amount": 3.5, "currency": "EUR", "type": "EXPENSE", "at": "2027-01-01T09:30:00Z"}
    console.call("updateTestClock", id=clock, name="Late salary")
    console.call("amendTestClock", id=clock, add={"transactions": [coffee]})
    await console.poll()
    await expect(console.heading("Late salary")).to_be_visible()
    await expect(console.notification).to_have_text(
        "The clock was amended elsewhere. Added “Coffee”, −€3.50, on 1 Jan 2027, 09:30 UTC."
    )
    shown = console.page.get_by_role("region", name="Transactions").get_by_role("rowheader")
    await expect(shown).to_have_text(["Coffee"])
    await expect(figure(console, "Next event")).to_contain_text("1 Jan, 09:30−€3.50 Coffee")
    await expect(figure(console, "Expectations")).to_contain_text("1 violation")


# The plot


async def test_plot_is_zoomed_panned_and_previewed(console: Console) -> None:
    await console.open_clock(console.create())
    whole = await console.plot_range()
    await console.slider.press("+")
    zoomed = await console.plot_range(before=whole)
    await console.slider.press("Shift+ArrowRight")
    panned = await console.plot_range(before=zoomed)
    assert panned != whole
    await console.page.locator("svg.plot").hover(position={"x": 500, "y": 100})
    await expect(console.page.locator(".tooltip")).to_contain_text("EUR")
    await expect(console.page.locator(".dot.hover")).to_be_visible()
    await console.page.keyboard.down("Control")
    await console.page.mouse.wheel(0, 2000)
    await console.page.keyboard.up("Control")
    zoomed_out = await console.plot_range(before=panned)
    await console.button("All").click()
    assert await console.plot_range(before=zoomed_out) == whole
    salary = await console.tab.evaluate(
        "() => document.querySelector('.lane.income path[d^=M]').getBoundingClientRect().toJSON()"
    )
    await console.page.mouse.move(salary["x"] + salary["width"] / 2, salary["y"] - 100)
    await expect(console.page.locator(".tooltip")).to_have_text(
        "25 Jan 2027, 08:00 UTC1 event, scheduledSalary+€2,800.50EUR balance€1,650.50"
    )
    field = console.page.get_by_label("Preview time (UTC)")
    await field.fill("tomorrow")
    await field.press("Enter")
    fault = console.page.locator("tick-timeline").get_by_role("alert")
    await expect(fault).to_have_text("“tomorrow” isn't a time. Example: 2027-01-31 09:00")
    await expect(field).to_have_value("tomorrow")
    await field.fill("2027-02-30")
    await field.press("Enter")
    await expect(fault).to_have_text("“2027-02-30” doesn't exist. Example: 2027-01-31 09:00")
    await field.fill("2027-01-09")
    await field.press("Enter")
    await expect(console.advance).to_contain_text("Advance to 9 Jan")
    await expect(field).to_have_attribute("aria-invalid", "false")
    await expect(fault).to_be_hidden()


# Transactions


async def test_transactions_can_be_selected(console: Console) -> None:
    page = console.page
    item = {"type": "EXPENSE", "at": "2027-01-02T08:00:00Z"}
    values = [("Rent", 900, "EUR", "Home"), ("Fee", 20, "CHF", None), ("Food", 80, "EUR", "Home")]
    others = [
        {**item, "name": name, "amount": amount, "currency": currency} | ({"category": category} if category else {})
        for name, amount, currency, category in values
    ]
    pay = {**item, "type": "INCOME", "name": "Pay", "amount": 1000, "currency": "EUR", "at": "2027-01-03T08:00:00Z"}
    await console.open_clock(console.create({"frozenTime": "2027-01-01T00:00:00Z", "transactions": [*others, pay]}))
    choice = page.get_by_label("Show only")
    await expect(choice.locator("optgroup")).to_have_count(3)
    for value, text, sums in (
        ("Category:Home", "Home (2)", "2 of 4 match, sum −€980.00"),
        ("Currency:CHF", "CHF (1)", "1 of 4 match, sum −CHF 20.00"),
        ("Type:Expenses", "Expenses (3)", "3 of 4 match, sum −€980.00, −CHF 20.00"),
    ):
        await expect(choice.locator(f'[value="{value}"]')).to_have_text(text)
        await choice.select_option(value)
        await expect(page.locator("tick-transactions")).to_contain_text(sums)


async def test_transaction_has_details_and_the_clock_is_exported(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    clock, dialog = console.create(), console.page.get_by_role("dialog", name="Export clock")

    async def export(format: str) -> tuple[str, Any]:
        await console.choose("Export…")
        await dialog.get_by_label("Format").select_option(format)
        async with console.page.expect_download() as download:
            await console.button("Export").click()
        file = await download.value
        assert file.url.startswith("blob:")
        return file.suggested_filename, read_text(await file.path())

    await console.open(f"#/clock/{clock}?t=2027-02-01T00:00:00Z")
    await console.button("Salary").click()
    item = console.clock(clock)["pendingTransactions"][1]["id"]
    facts = console.page.get_by_role("dialog", name="Event").locator("dd")
    before_and_after = "−€1,150.00 → €1,650.50"
    await expect(facts).to_have_text(["+€2,800.50", before_and_after, "25 Jan 2027, 08:00 UTC", "would post", item])
    await console.button("Copy ID").click()
    await expect(console.notification).to_have_text("Copied the ID of the event.")
    assert await console.tab.evaluate("() => navigator.clipboard.readText()") == item
    await console.button("Salary").click()
    # A closed dialog is hidden at once, not when the browser dispatches its event.
    closed = "() => { const it = document.querySelector('dialog'); it.close(); return it.checkVisibility(); }"
    assert not await console.tab.evaluate(closed)

    exported = console.call("exportTestClock", id=clock, format="hledger", pending=False)
    assert await export("hledger") == (exported["fileName"], exported["text"])
    await expect(console.notification).to_have_text(f"Exported “{exported['fileName']}”.")
    name, text = await export("params")
    assert (name, json.loads(text)["transactions"][0]["name"]) == (f"{clock}.json", "Rent")
    await console.choose("Export…")
    await dialog.get_by_label("Include 3 scheduled transactions").check()
    async with console.page.expect_request(calls("exportTestClock")) as sent:
        await console.button("Export").click()
    request = (await sent.value).post_data_json or {}
    assert request["params"] == {"id": clock, "format": "csv", "pending": True}
