"""The order and the columns of the list of clocks."""

from typing import Any

from playwright.async_api import expect

from tests.browser.console import Console

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


async def test_clocks_can_be_sorted(console: Console) -> None:
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


async def test_renamed_clock_moves_and_keeps_the_focus(console: Console) -> None:
    page, names = console.page, console.page.get_by_role("listitem").get_by_role("heading")
    for name in "FEDCBA":
        create(console, name)
    await console.open("#/clocks")
    await page.get_by_label("Sort", exact=True).select_option("Name, A to Z")
    await console.button("Rename “B”").click()
    await page.get_by_label("Clock name").fill("Z")
    await page.keyboard.press("Enter")
    await expect(names).to_have_text(["A", "C", "D", "E", "F", "Z"])
    await expect(console.button("Rename “Z”")).to_be_focused()


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
