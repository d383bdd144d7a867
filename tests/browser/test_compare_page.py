"""The page that compares two clocks."""

import re

from playwright.async_api import expect

from tests.browser.console import HTTP_ERROR, JANUARY, Console
from tests.browser.held_requests import HeldRequests


async def test_difference_of_two_forks_is_shown_at_the_cursor(console: Console) -> None:
    page, clock = console.page, console.create()
    fork = console.call("forkTestClock", id=clock, name="Bigger flat")["clock"]
    rents = [item for item in fork["pendingTransactions"] if item["name"] == "Rent"]
    higher = [{name: rent[name] for name in ("name", "currency", "type", "at")} | {"amount": 1390} for rent in rents]
    console.call("amendTestClock", id=fork["id"], cancel=[rent["id"] for rent in rents], add={"transactions": higher})
    console.call("updateTestClock", id=fork["id"], expectations=[{"balance": {"currency": "EUR", "atLeast": 0}}])
    await console.open_clock(clock)
    await page.get_by_role("link", name="Compare…").click()
    await expect(console.heading("Compare")).to_be_visible()
    await expect(page.get_by_role("list", name="Legend")).to_contain_text("not allowed in Bigger flat")
    # Only the balance of the clock with the expectation is red.
    await expect(page.locator("svg .forbidden")).to_have_count(1)
    await expect(page.locator("svg .violated")).to_have_count(1)
    figures = page.locator(".figure")
    await expect(figures).to_contain_text(
        ["Largest difference, on 3 Feb 2027, 08:00 UTC−€480.00“Bigger flat” has less", "", ""]
    )
    largest = page.get_by_role("group", name="Go to").get_by_role("button", name="Largest")
    await expect(largest).to_have_attribute("aria-pressed", "true")
    slider = page.get_by_role("slider", name="Date to compare")
    await slider.press("Home")
    await expect(figures.first).to_contain_text("€0.00The balances are equal")
    await expect(largest).to_have_attribute("aria-pressed", "false")
    await console.button("First difference").click()
    await expect(figures.first).to_contain_text("Difference on 3 Jan 2027, 08:00 UTC−€240.00")
    await slider.press("Home")
    for _ in range(3):
        await slider.press("ArrowRight")
    await expect(slider).to_have_attribute("aria-valuetext", "4 January 2027, difference -240 euros")
    await expect(figures).to_contain_text(["−€240.00", "−€1,150.00", "−€1,390.00"])
    differences = page.get_by_role("region", name="What differs").get_by_role("listitem")
    await expect(differences).to_have_text(["Rent−€480.002 times, from 3 Jan 2027−€1,150.00 → −€1,390.00"])
    await expect(page.get_by_role("list", name="Changed")).to_contain_text("Rent")
    row = page.get_by_role("region", name="Side by side").get_by_role("row", name="Expenses")
    await expect(row).to_contain_text("−€2,300.00−€2,780.00−€480.00")
    await expect(page.locator(".line.shared")).to_have_count(1)
    await expect(page.locator(".lowest.second")).to_have_text(re.compile("^Lowest of Bigger flat, 3 Jan 2027−"))
    await slider.press("End")
    await expect(page.locator(".pill.both")).to_have_text("Both, now 1 Jan")
    await console.button("Swap").click()
    await expect(figures.first).to_contain_text("+€480.00")


async def test_changes_elsewhere_are_shown_and_the_cursor_stays(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    page, clock = console.page, console.create({**JANUARY, "frozenTime": "2027-01-01T07:30:00Z"})
    fork = console.call("forkTestClock", id=clock, name="Plan B")["clock"]["id"]
    await console.open(f"#/compare/{clock}?with={fork}")
    slider = page.get_by_role("slider", name="Date to compare")
    await slider.press("Home")
    figures = page.locator(".figure")
    await expect(figures.first).to_have_text("Difference on 1 Jan 2027, 07:30 UTC€0.00The balances are equal")
    for _ in range(3):
        await slider.press("ArrowRight")
    raise_ = {"name": "Raise", "amount": 100, "currency": "EUR", "type": "INCOME", "at": "2027-01-02T00:00:00Z"}
    console.call("amendTestClock", id=fork, add={"transactions": [raise_]})
    console.call("updateTestClock", id=fork, name="Plan C")
    console.call("advanceTestClock", id=fork, frozenTime="2027-01-05T00:00:00Z")
    await console.poll()
    await expect(figures).to_contain_text(["+€100.00“Plan C” has more", "", "Plan C−€1,050.00posted, now 5 Jan"])
    await expect(slider).to_be_focused()
    await expect(slider).to_have_attribute("aria-valuetext", "4 January 2027, difference 100 euros")
    await expect(page.get_by_label("Second clock").locator("option:checked")).to_have_text("Plan C")
    console.call("deleteTestClock", id=fork)
    await console.poll()
    await expect(console.alert).to_have_text("“Plan C” was deleted or has expired. You see the last known state.")
    await expect(figures.last).to_contain_text("−€1,050.00")
    await page.reload()
    await expect(console.alert).to_have_text(
        "Clock not found It was deleted, it expired after seven days, or it belongs to another account."
    )
    await page.get_by_role("link", name="Back to your clocks").click()
    await expect(console.heading("Clocks")).to_be_visible()


async def test_late_response_does_not_replace_a_newer_choice(console: Console) -> None:
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    first, second, third = (console.create() for _ in range(3))
    async with HeldRequests(console.page, "getTestClock", first_response=True) as held:
        await console.open(f"#/compare/{first}?with={second}")
        await held.arrived()
        await console.open(f"#/compare/{first}?with={third}")
        choice = console.page.get_by_label("Second clock")
        await expect(choice).to_have_value(third)
        await held.release()
    await expect(choice).to_have_value(third)
