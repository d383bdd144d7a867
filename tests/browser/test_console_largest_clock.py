"""The console with the largest allowed clock."""

import re

from playwright.async_api import expect

from lab.bench.bodies import largest
from tests.browser.console import Console
from tickover.api.limits import MAX_CONTRIBUTIONS, MAX_GOALS, MAX_TRANSACTIONS

ALL = MAX_TRANSACTIONS + MAX_GOALS * MAX_CONTRIBUTIONS


async def test_largest_clock_is_shown_completely(console: Console) -> None:
    page, clock = console.page, console.create(largest())
    await console.open_clock(clock)
    await expect(console.plot).to_have_accessible_name(re.compile(f"0 of {ALL:,} events posted"))
    await expect(console.rows).to_have_count(50)
    await console.button(f"Show {MAX_TRANSACTIONS - 50} later").click()
    await expect(console.rows).to_have_count(MAX_TRANSACTIONS)
    await expect(console.goals).to_have_count(MAX_GOALS)
    await console.goals.first.get_by_text(f"{MAX_CONTRIBUTIONS} contributions").click()
    contributions = page.get_by_role("list", name=re.compile("^Contributions to")).first
    await expect(contributions.get_by_role("listitem")).to_have_count(MAX_CONTRIBUTIONS)
    await console.slider.press("End")
    await expect(console.preview_summary).to_contain_text("events would post")
    await console.advance.click()
    await expect(console.notification).to_have_text(re.compile("^More than [0-9]+ events posted[.]"))
    assert (await console.states()).count("just posted") == MAX_TRANSACTIONS
