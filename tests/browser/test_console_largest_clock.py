"""The console with the largest allowed clock."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import expect

from tests.browser.console import Console
from tickover.api.limits import MAX_AMOUNT, MAX_CATEGORY, MAX_CONTRIBUTIONS, MAX_GOALS, MAX_NAME, MAX_TRANSACTIONS

START = datetime(2027, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=3650)
ALL = MAX_TRANSACTIONS + MAX_GOALS * MAX_CONTRIBUTIONS


def at(fraction: float) -> str:
    return f"{START + SPAN * fraction:%Y-%m-%dT%H:%M:%SZ}"


def largest_clock() -> dict[str, Any]:
    """Return the params of a clock that reaches every limit of one call."""
    return {
        "frozenTime": at(0),
        "transactions": [
            {
                "name": f"{number} ".ljust(MAX_NAME, "n"),
                "category": "c" * MAX_CATEGORY,
                "amount": MAX_AMOUNT - number / 100,
                "currency": "EUR",
                "type": "INCOME" if number % 3 else "EXPENSE",
                "at": at((number + 1) / MAX_TRANSACTIONS),
            }
            for number in range(MAX_TRANSACTIONS)
        ],
        "goals": [
            {
                "name": f"{goal} ".ljust(MAX_NAME, "g"),
                "targetAmount": MAX_AMOUNT,
                "contributions": [
                    {"amount": 12345.67, "at": at((number + goal / MAX_GOALS + 0.01) / MAX_CONTRIBUTIONS)}
                    for number in range(MAX_CONTRIBUTIONS)
                ],
            }
            for goal in range(MAX_GOALS)
        ],
    }


async def test_largest_clock_is_shown_completely(console: Console) -> None:
    page, clock = console.page, console.create(largest_clock())
    await console.open_clock(clock)
    plot = page.get_by_role("img", name=re.compile("^Timeline from"))
    await expect(plot).to_have_accessible_name(re.compile(f"0 of {ALL:,} events posted"))
    await expect(console.rows).to_have_count(50)
    await console.button(f"Show {MAX_TRANSACTIONS - 50} later").click()
    await expect(console.rows).to_have_count(MAX_TRANSACTIONS)
    await expect(console.goals).to_have_count(MAX_GOALS)
    await console.goals.first.get_by_text("100 contributions").click()
    await expect(
        page.get_by_role("list", name=re.compile("^Contributions to 0")).get_by_role("listitem")
    ).to_have_count(100)
    # Preview the whole range, then advance.
    field = page.get_by_label("Preview time (UTC)")
    await field.fill("2036-12-28 23:59")
    await field.press("Enter")
    await expect(console.preview_summary).to_contain_text("events would post")
    await console.advance.click()
    await expect(console.notification).to_contain_text("2,599 events posted.")
    assert (await console.states()).count("just posted") == len(console.clock(clock)["transactions"])
