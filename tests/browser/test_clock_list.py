"""The order and the columns of the list of clocks."""

import re
import time
from typing import Any

from playwright.async_api import expect

from tests.browser.console import JANUARY, NEVER_BELOW_ZERO, Console

START = "2027-01-01T00:00:00Z"
PAGE_SIZE = 20
# Clocks that the first page doesn't contain.
OLD_CLOCKS = 2


def create(console: Console, name: str, *amounts: tuple[int, str, int]) -> None:
    """Create a clock, possibly without a name, with expenses `(amount, currency, day)`."""
    transactions: list[dict[str, Any]] = [
        {"name": "Rent", "type": "EXPENSE", "amount": amount, "currency": currency, "at": f"2027-01-{day:02}T00:00:00Z"}
        for amount, currency, day in amounts
    ]
    params = {"name": name} if name else {}
    console.call("createTestClock", frozenTime=START, transactions=transactions, **params)
    time.sleep(0.002)  # clocks of one millisecond have no order


async def test_clocks_can_be_sorted_and_renamed(console: Console) -> None:
    page, names = console.page, console.page.get_by_role("listitem").get_by_role("heading")
    order = page.get_by_label("Sort", exact=True)
    create(console, "Plan 10", (50, "EUR", 4))
    create(console, "")
    create(console, "plan 9", (900, "CHF", 5), (60, "EUR", 9))
    create(console, "Equal", (50, "EUR", 4))
    create(console, "Empty")
    create(console, "Budget", (70, "EUR", 2))
    unnamed = "Untitled clock"
    newest = ["Budget", "Empty", "Equal", "plan 9", unnamed, "Plan 10"]
    await console.open("#/clocks")
    await expect(names).to_have_text(newest)
    await order.select_option("Name, A to Z")
    await expect(names).to_have_text(["Budget", "Empty", "Equal", "plan 9", "Plan 10", unnamed])
    # Clocks without a value are last. Equal clocks stay in the order of their creation.
    await order.select_option("Lowest ahead first")
    await expect(names).to_have_text(["plan 9", "Budget", "Equal", "Plan 10", "Empty", unnamed])
    await order.select_option("Expires first")
    await expect(names).to_have_text(newest[::-1])
    await order.select_option("Next event first")
    await expect(names).to_have_text(["Budget", "Equal", "Plan 10", "plan 9", "Empty", unnamed])
    # The order stays when the page opens again.
    await page.get_by_role("link", name="New clock").click()
    await page.get_by_role("link", name="Back to your clocks").click()
    await expect(names.first).to_have_text("Budget")
    await expect(order).to_have_value("Next event first")
    await order.select_option("Newest first")
    await expect(names).to_have_text(newest)
    await order.select_option("Name, A to Z")
    await console.button("Rename “Budget”").click()
    await page.get_by_label("Clock name").fill("Z")
    await page.keyboard.press("Enter")
    await expect(names).to_have_text(["Empty", "Equal", "plan 9", "Plan 10", "Z", unnamed])
    await expect(console.button("Rename “Z”")).to_be_focused()


async def test_list_shows_which_clocks_need_attention(console: Console) -> None:
    page, rows = console.page, console.page.get_by_role("listitem")
    clocks = [console.create(JANUARY | {"name": name}) for name in ("Plan", "Rich", "Two", "Three", "Four")]
    console.call("createTestClock", name="Empty", frozenTime="2027-01-01T00:00:00Z")
    for clock in clocks[:2]:
        console.call("updateTestClock", id=clock, expectations=[NEVER_BELOW_ZERO])
    console.call("updateTestClock", id=clocks[1], openingBalances={"EUR": 5000})
    await console.open("#/clocks")
    plan, rich = (rows.filter(has=page.get_by_role("link", name=name, exact=True)) for name in ("Plan", "Rich"))
    await expect(plan).to_contain_text("Violation 3 Jan")
    await expect(plan.locator(".balance")).to_have_text("Balance€0.00")
    await expect(plan.locator(".lowest")).to_have_text("Lowest ahead−€1,150.003 Jan")
    await expect(plan.locator(".next")).to_have_text("Rent −€1,150.00 · 3 Jan")
    await expect(plan.locator("p.now")).to_have_text(re.compile("^1 Jan 2027 0 of [0-9]+ posted$"))
    await expect(rich).to_contain_text("All will hold")
    await expect(rows.filter(has_text="Empty")).to_contain_text("Add the first event")
    await console.button("Violations 1").click()
    await expect(rows).to_have_count(1)
    await console.button("All 6").click()
    await page.get_by_label("Search clocks").fill("ric")
    await expect(rows).to_have_count(1)
    await page.get_by_label("Search clocks").fill("nothing like this")
    await expect(page.get_by_text("No clock matches.")).to_be_visible()
    console.call("advanceTestClock", id=clocks[0], frozenTime="2027-01-10T00:00:00Z")
    await console.open("#/clocks/new")
    await console.open("#/clocks")
    await expect(plan).to_contain_text("Violation 3 Jan")


async def test_more_clocks_keep_the_order(console: Console) -> None:
    page, names = console.page, console.page.get_by_role("listitem").get_by_role("heading")
    amounts = [500, 10, *range(100, 100 + PAGE_SIZE)]
    for amount in amounts:
        create(console, str(amount), (amount, "EUR", 2))
    await console.open("#/clocks")
    await page.get_by_label("Sort", exact=True).select_option("Lowest ahead first")
    ordered = sorted(amounts, reverse=True)
    await expect(names).to_have_text([str(amount) for amount in ordered if amount not in amounts[:OLD_CLOCKS]])
    await console.button("Load more").click()
    await expect(names).to_have_text([str(amount) for amount in ordered])
    await expect(console.notification).to_have_text("Loaded 2 more clocks.")
    await expect(console.button("Load more")).to_be_hidden()
    # The focus is on the first clock of the second page.
    await expect(page.get_by_role("link", name="10", exact=True)).to_be_focused()
