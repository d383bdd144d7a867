"""The charts of a clock: axis, lanes, strips, pills, the table of months, and the sparklines of cards."""

import re
from itertools import pairwise
from typing import Any

from playwright.async_api import Browser, Locator, expect

from tests.browser.console import JANUARY, NEVER_BELOW_ZERO, Console, open_console
from tests.support.program import Program

START = "2027-01-01T00:00:00Z"

# The left and right edges of the visible elements that match a selector, from left to right.
_EDGES = """(selector) => [...document.querySelectorAll(selector)]
  .filter((node) => node.getAttribute("visibility") !== "hidden" && node.getClientRects().length)
  .map((node) => node.getBoundingClientRect())
  .map(({ left, right }) => [left, right])
  .sort(([one], [other]) => one - other)"""


def item(at: str, amount: float, name: str = "Rent", **members: Any) -> dict[str, Any]:
    expense = {"name": name, "amount": amount, "currency": "EUR", "type": "EXPENSE", "at": f"{at}T08:00:00Z"}
    return {**expense, **members}


def clock(*transactions: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"frozenTime": START, "transactions": list(transactions), **members}


async def edges(console: Console, selector: str) -> list[list[float]]:
    found: list[list[float]] = await console.page.evaluate(_EDGES, selector)
    return found


def assert_apart(found: list[list[float]]) -> None:
    for (_, right), (left, _) in pairwise(found):
        assert right <= left, found


async def height_of(locator: Locator) -> float:
    height: float = await locator.evaluate("(node) => node.getBBox().height")
    return height


async def test_texts_of_the_axis_are_apart_at_every_zoom(console: Console) -> None:
    ten_years = clock(item("2027-01-03", 1), item("2036-12-30", 1))
    await console.open_clock(console.create(ten_years))
    shown = await console.plot_range()
    seen = {shown}
    for _ in range(12):
        texts = await edges(console, ".time-axis text")
        assert len(texts) >= 3, shown
        assert_apart(texts)
        await console.slider.press("+")
        await console.final_preview_summary()
        shown = await console.plot_range()
        if shown in seen:
            break
        seen.add(shown)
    assert len(seen) > 3


async def test_clock_with_only_goals_has_no_lanes_of_transactions(console: Console) -> None:
    lanes = console.page.locator("svg.plot .lane")
    await console.open_clock(console.create(clock(goals=JANUARY["goals"])))
    await expect(lanes).to_have_count(1)
    await expect(lanes).to_have_class("lane goal")
    await console.open_clock(console.create())
    await expect(lanes).to_have_count(3)


async def test_bars_of_income_and_expenses_have_one_scale(console: Console) -> None:
    income = item("2027-01-05", 1000, type="INCOME")
    await console.open_clock(console.create(clock(income, item("2027-03-05", 400))))
    tall, low = [await height_of(console.page.locator(f".lane.{kind} path")) for kind in ("income", "expense")]
    assert abs(low - 0.4 * tall) <= 2


async def test_pills_of_now_and_of_the_preview_are_apart(browser: Browser, program: Program) -> None:
    async with open_console(browser, program, viewport={"width": 360, "height": 740}) as console:
        await console.open_clock(console.create(clock(item("2027-01-11", 10), item("2027-06-11", 10))))
        for days in ("01-02", "01-20", "03-01", "06-10"):
            await console.open(f"{console.page.url.split('/', 3)[3].split('?')[0]}?t=2027-{days}T00:00:00Z")
            await expect(console.page.locator(".pill.preview")).to_have_attribute("visibility", "visible")
            pills = await edges(console, "svg.plot .pill rect")
            assert len(pills) == 2
            assert_apart(pills)


async def test_strip_is_pale_until_an_expectation_is_achieved(console: Console) -> None:
    id = console.create(clock(item("2027-01-11", 10), item("2027-01-21", 10)))
    achieved = {"posted": {"name": "Rent", "count": 2, "by": "2027-03-01T00:00:00Z"}}
    console.call("updateTestClock", id=id, expectations=[achieved])
    await console.open_clock(id)
    strip = console.page.locator("svg.plot .strip")
    for frozen_time, posted, is_dark in (
        (None, 0, False),
        ("2027-01-11T08:00:00Z", 1, False),
        ("2027-01-21T08:00:00Z", 2, True),
    ):
        if frozen_time:
            console.call("advanceTestClock", id=id, frozenTime=frozen_time)
            await console.poll()
        await expect(strip.locator(".post")).to_have_count(2)
        await expect(strip.locator(".post.past")).to_have_count(posted)
        await expect(strip.locator(".holds.past")).to_have_count(int(is_dark))


async def test_long_label_of_an_expectation_keeps_its_amount(console: Console) -> None:
    id = console.create(clock(item("2027-01-11", 10, category="Travel and accommodation")))
    rule = {"type": "EXPENSE", "currency": "EUR", "category": "Travel and accommodation", "per": "MONTH"}
    console.call("updateTestClock", id=id, expectations=[{"total": {**rule, "atMost": 2780}}])
    await console.open_clock(id)
    label = console.page.locator("svg.plot g > text").filter(has_text="…")
    await expect(label).to_have_text(re.compile("^T[a-z ]*… ≤ €2,780.00$"))
    plot = await console.page.locator("svg.plot").bounding_box()
    box = await label.bounding_box()
    assert plot
    assert box
    assert box["x"] >= plot["x"]


async def test_label_of_the_lowest_point_fits_a_phone(browser: Browser, program: Program) -> None:
    async with open_console(browser, program, viewport={"width": 360, "height": 740}) as console:
        large = [item("2027-01-05", 999_999_999.12, currency="BMM") for _ in range(7)]
        await console.open_clock(console.create(clock(*large)))
        await expect(console.page.locator("svg.plot .lowest")).to_have_text(
            re.compile("^(Lowest ahead, )?5 Jan−BMM.6,999,999,993.84$")
        )
        assert_apart(await edges(console, "svg.plot .lowest text"))
        [plot], [label] = await edges(console, "svg.plot"), await edges(console, "svg.plot .lowest rect")
        assert plot[0] <= label[0] < label[1] <= plot[1]


async def test_table_has_the_months_of_each_currency(console: Console) -> None:
    dollars = {"currency": "USD"}
    id = console.create(
        clock(
            item("2027-01-02", 10, **dollars),
            item("2027-01-03", 10),
            item("2027-01-04", 30, type="INCOME"),
            item("2027-02-03", 10, **dollars),
            openingBalances={"USD": 10},
        )
    )
    await console.open_clock(id)
    await console.button("View as table").click()
    rows = console.page.get_by_role("region", name="Timeline as a table").locator("tbody tr")
    await expect(rows).to_have_text(
        [
            "USD",
            "Jan 2027 in progress1$10.00$0.00 2 Jan$0.00",
            "Feb 20271$10.00−$10.00 3 Feb−$10.00",
            "EUR",
            "Jan 2027 in progress2€30.00€10.00−€10.00 3 Jan€20.00",
        ]
    )
    red = rows.locator(".below-zero")
    await expect(red).to_have_text(["−$10.00 3 Feb", "−$10.00", "−€10.00 3 Jan"])
    # An expectation says which balances are too low.
    limits = [("EUR", -15), ("USD", 5)]
    expected = [{"balance": {"currency": currency, "atLeast": limit}} for currency, limit in limits]
    console.call("updateTestClock", id=id, expectations=expected)
    await console.poll()
    await expect(red).to_have_text(["$0.00 2 Jan", "$0.00", "−$10.00 3 Feb", "−$10.00"])


async def test_sparkline_is_red_where_an_expectation_is_violated(console: Console) -> None:
    rent = clock(item("2027-01-02", 100))
    ids = {name: console.create({**rent, "name": name}) for name in ("No rule", "Violated", "Allowed", "Later")}
    allowed = {"balance": {"currency": "EUR", "atLeast": -200}}
    later = {"balance": {"currency": "EUR", "atLeast": 0, "from": "2027-01-10T00:00:00Z"}}
    for name, rule in (("Violated", NEVER_BELOW_ZERO), ("Allowed", allowed), ("Later", later)):
        console.call("updateTestClock", id=ids[name], expectations=[rule])
    for id in ids.values():
        console.call("advanceTestClock", id=id, frozenTime="2027-01-04T00:00:00Z")
    await console.open("#/clocks")
    for name, is_red in (("No rule", 1), ("Violated", 1), ("Allowed", 0), ("Later", 0)):
        card = console.page.get_by_role("listitem").filter(has=console.page.get_by_role("link", name=name, exact=True))
        await expect(card.locator(".sparkline .dot")).to_have_count(1)
        await expect(card.locator(".sparkline .dot.below-zero")).to_have_count(is_red)
