"""The console in a real browser before the real program: sign in, pick a scenario, drag through time."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, expect

from tests.browser.consoles import JANUARY, NAUGHTY, NAUGHTY_CLOCK, Console, new_address, open_console
from tests.browser.tabs import Tab
from tests.support.debian_packages import need
from tests.support.program import Program

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

COPYING = ["clipboard-read", "clipboard-write"]


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("console")) as started:
        yield started


def id_in(console: Console) -> str:
    """The clock that is shown, by the page's address."""
    found = re.search(r"#/clock/(clock_[0-9a-f-]+)", console.page.url)
    assert found, console.page.url
    return found[1]


def deeds(tab: Tab) -> list[str]:
    """What was done, without the looks at a clock that the page takes by itself."""
    return [method for method in tab.methods if method != "getTestClock"]


# The first minute


async def test_the_first_minute(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await sign_in_with_what_is_on_the_page(console)
    await create_from_the_gallery(console)
    clock = id_in(console)
    before = console.clock(clock)
    await look_around(console)
    assert console.clock(clock) == before
    await commit(console, clock)
    await fork(console, clock, len(before["transactions"]))
    await rename_and_delete(console, clock)
    await sign_out(console)


async def sign_in_with_what_is_on_the_page(console: Console) -> None:
    page, email = console.page, new_address()
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(page.get_by_label("E-mail")).to_be_focused()
    await console.ask_for_code(email)
    code = page.get_by_label("Six-digit code")
    await expect(code).to_be_focused()
    assert [await code.get_attribute(name) for name in ("inputmode", "autocomplete")] == ["numeric", "one-time-code"]
    await expect(page.get_by_text("Your code is in the mailbox.")).to_be_visible()
    await console.button("Fill in").click()
    await expect(console.said).to_have_text(f"You are signed in as {email}.")
    session = await console.session("sessionStorage")
    console.token = session["token"]
    assert session["email"] == email
    assert await console.session("localStorage") is None


async def create_from_the_gallery(console: Console) -> None:
    """Who has no clock yet sees what there could be, each with its curve."""
    page = console.page
    await expect(console.heading("Start with a scenario")).to_be_visible()
    cards = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=re.compile("^Create ")))
    await expect(cards.first).to_contain_text("Salary and rent")
    assert await cards.count() == await cards.locator("svg").count() >= 5
    await console.button("Create Salary and rent").click()
    await expect(console.heading("Salary and rent")).to_be_visible()


async def look_around(console: Console) -> None:
    """Whatever is looked at, nothing is sent."""
    page, done = console.page, deeds(console.tab)
    assert done == ["sendLoginCodeEmail", "loginByEmailVerification", "listTestClocks", "createTestClock"]
    states = await console.states()
    await console.button("Next event").click()
    await expect(console.outlook).to_have_text(re.compile(r"^[0-9]+ items? would post; EUR"))
    await console.button("+1 day").click()
    await console.button("+1 week").click()
    await console.slider.press("ArrowRight")
    await console.button("+1 month").click()
    box = await page.get_by_role("img", name=re.compile("^Timeline from")).bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=8)
    await page.mouse.up()
    await expect(page).to_have_url(re.compile(r"\?t=[0-9T:-]+Z$"))
    assert "→" in await console.goals.inner_text(), "a ghost of what the preview adds"
    assert (await console.states()).count("posted") == states.count("posted")
    assert deeds(console.tab) == done


async def commit(console: Console, clock: str) -> None:
    """One call does it, and everything shown is what the server says."""
    done, previewed = deeds(console.tab), await console.states()
    told = re.match(r"([0-9]+) items would post; EUR\s[0-9.,]+ → [0-9.,]+\.$", await console.outlook.inner_text())
    assert told
    await console.advance.click()
    await expect(console.said).to_have_text(re.compile(rf"^Advanced to .*; {told[1]} items posted\.$"))
    assert deeds(console.tab) == [*done, "advanceTestClock"]
    after, states = console.clock(clock), await console.states()
    assert states.count("posted") == len(after["transactions"]) == previewed.count("posted") + previewed.count("next")
    assert "next" not in states
    [goal] = after["goals"]
    await expect(console.goals).to_contain_text(f"{goal['currentAmount']:,.2f} of 3,000.00")
    await expect(console.goals).to_contain_text(f"{goal['progressPercent']:g}%")


async def fork(console: Console, clock: str, posted_at_start: int) -> None:
    """A fork is another clock, and this one stays."""
    await console.button("Fork …").click()
    await console.page.get_by_role("dialog", name="Fork the clock").get_by_label("at its start").check()
    await console.button("Fork").click()
    await expect(console.heading("Fork of Salary and rent")).to_be_visible()
    await expect(console.said).to_contain_text("This is the fork.")
    assert id_in(console) != clock
    assert (await console.states()).count("posted") == posted_at_start


async def rename_and_delete(console: Console, other: str) -> None:
    page, clock = console.page, id_in(console)
    await console.button("Rename").click()
    await page.get_by_label("Name of the clock").fill("What if")
    await console.button("Save").click()
    await expect(console.heading("What if")).to_be_visible()
    await expect(page).to_have_title("What if · Tickover")
    await console.button("Delete …").click()
    await console.button("Delete the clock").click()
    await expect(console.heading("Clocks")).to_be_visible()
    await expect(console.said).to_have_text("The clock is deleted.")
    assert (
        console.program.call("getTestClock", {"id": clock}, console.token)["error"]["data"]["reason"]
        == "CLOCK_NOT_FOUND"
    )
    # What is left is the other, with all that it is.
    await expect(page.get_by_role("link", name="What if")).to_be_hidden()
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Salary and rent"))
    left = console.clock(other)
    contributions = round((left["goals"][0]["currentAmount"] - 600) / 350)
    await expect(card).to_contain_text(f"{len(left['transactions']) + contributions} posted")
    await expect(card).to_contain_text("Expires in 6 d 23 h")
    await expect(card.locator("svg")).to_be_visible()


async def sign_out(console: Console) -> None:
    """Whoever has signed out has left nothing behind."""
    await console.button("Sign out").click()
    await expect(console.said).to_have_text("You are signed out.")
    await expect(console.heading("Sign in")).to_be_visible()
    assert console.program.call("listTestClocks", {}, console.token)["error"]["data"]["reason"] == "UNAUTHENTICATED"
    assert await console.tab.measure("() => [document.cookie, sessionStorage.length]") == ["", 0]
    assert await console.page.context.cookies() == []
    assert await console.tab.measure("() => localStorage.length") == 0
    assert not [request.url for request in console.tab.requests if console.token in request.url]


async def test_who_stays_signed_in_is_known_in_every_tab_until_they_sign_out(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open()
    await console.ask_for_code(email := new_address())
    await console.page.get_by_label("Stay signed in").check()
    latest = program.request("GET", f"/mailbox/latest?to={email}").json
    # A code comes with blanks around it, or in it, from wherever it is copied.
    await console.page.get_by_label("Six-digit code").evaluate(
        """(field, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", text);
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        f" Your code: {latest['code'][:3]} {latest['code'][3:]}\n",
    )
    await expect(console.button("Sign out")).to_be_visible()
    assert (await console.session("localStorage"))["email"] == email
    assert await console.session("sessionStorage") is None
    other = await tab.page.context.new_page()
    await other.goto(program.url)
    await expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    await console.button("Sign out").click()
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(other.get_by_role("status")).to_have_text("Your session was ended in another tab.")
    assert await tab.measure("() => localStorage.getItem('tickover')") is None


async def test_a_link_signs_in_as_well(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open()
    await console.page.get_by_label("E-mail").fill(new_address())
    await console.button("Send me a link instead").click()
    await expect(console.heading("Open your link")).to_be_visible()
    await console.page.get_by_role("link", name="Open the link").click()
    await tab.sign_in.click()
    await expect(console.button("Sign out")).to_be_visible()
    await expect(console.heading("Start with a scenario")).to_be_visible()


# Other ways to make a clock


async def test_a_clock_is_made_from_a_form_which_shows_its_faults(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        page = console.page
        await console.open("#/clocks/new")
        await page.get_by_role("tab", name="Form").click()
        await page.get_by_label("Name of the clock").fill("Mine")
        await console.button("Add a transaction").click()
        await page.get_by_label("Amount").fill("-3")
        await console.button("Create clock").click()
        await expect(console.trouble).to_contain_text("The server refused 2 fields. Look at the marked fields.")
        name = page.get_by_role("group", name="Transactions").get_by_label("Name")
        await expect(name).to_be_focused()
        await expect(name).to_have_attribute("aria-invalid", "true")
        console.tab.excused = list(console.tab.said)
        await name.fill("Coffee")
        await page.get_by_label("Amount").fill("3.5")
        await console.button("Create clock").click()
        await expect(console.heading("Mine")).to_be_visible()
        await expect(console.rows).to_have_count(1)
        await expect(console.rows).to_contain_text("-EUR 3.50")


async def test_pressing_twice_makes_one_clock(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        await console.open("#/clocks/new")
        await console.button("Create Salary and rent").dblclick()
        await expect(console.heading("Salary and rent")).to_be_visible()
        assert len(console.call("listTestClocks")["clocks"]) == 1


# Time


async def test_looking_back_is_read_only_and_the_way_on_is_a_fork(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        clock = console.create()
        console.call("advanceTestClock", id=clock, frozenTime="2027-01-31T00:00:00Z")
        # Somebody has sent this address to somebody.
        await console.open_clock(clock, "?t=2027-01-10T00:00:00Z")
        await expect(console.outlook).to_have_text(
            "Looking back: 2 items posted since; -EUR 1,150.00 → 1,650.50; read-only, because time only moves forward."
        )
        assert await console.states() == ["posted", "posted later", "pending"]
        await expect(console.goals).to_contain_text("16.67% then, 27% now")
        await expect(console.advance).to_have_attribute("aria-disabled", "true")
        # It can be focused, so that it can say why it does nothing.
        await console.advance.dispatch_event("click")
        await expect(console.said).to_have_text("Time only moves forward. Fork the clock to begin again from here.")
        assert deeds(console.tab) == []
        await console.button("Back to now").click()
        await expect(console.outlook).to_have_text("Next: Rent, -EUR 1,150.00, on Feb 03, 2027, 08:00 AM UTC.")
        await expect(console.page).to_have_url(re.compile(r"#/clock/[^?]+$"))
        await expect(console.slider).to_be_focused()
        # The same page follows when the address is changed by hand, or the browser goes back.
        await console.open(f"#/clock/{clock}?t=2027-01-10T00:00:00Z")
        await console.button("Fork here").click()
        await expect(console.said).to_have_text("This is the fork. It stands at Jan 10, 2027.")
        assert console.clock(id_in(console))["frozenTime"] == "2027-01-10T00:00:00Z"
        assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


async def test_a_clock_that_began_on_29_february_can_be_forked_from_its_start(
    browser: Browser, program: Program
) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = ("Failed to load resource",)
        clock = console.create({"frozenTime": "2028-02-29T00:00:00Z"})
        console.call("advanceTestClock", id=clock, frozenTime="2028-03-31T00:00:00Z")
        await console.open_clock(clock, "?t=2028-02-28T12:00:00Z")
        await console.button("Fork here").click()
        await expect(console.said).to_have_text("This is the fork. It stands at Feb 29, 2028.")


async def test_months_are_counted_from_where_they_began(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        await console.open_clock(console.create({"frozenTime": "2027-01-31T00:00:00Z"}))
        for day in ("Feb 28", "Mar 31", "Apr 30"):
            await console.button("+1 month").click()
            await expect(console.advance).to_have_text(f"Advance to {day}, 2027")
        await console.button("+1 day").click()
        await console.button("+1 month").click()
        await expect(console.advance).to_have_text("Advance to Jun 01, 2027")


async def test_what_is_done_in_one_tab_is_seen_in_the_other(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as one:
        clock = one.create()
        async with open_console(browser, program, token=one.token) as other:
            await one.open_clock(clock)
            # Here somebody looks at a later time, and goes on looking at it.
            await other.open_clock(clock, "?t=2027-02-10T00:00:00Z")
            await expect(other.outlook).to_have_text("4 items would post; EUR 0.00 → 500.50.")
            await one.button("Next event").click()
            await one.advance.click()
            await expect(one.said).to_have_text("Advanced to Jan 03, 2027, 08:00 AM UTC; 1 item posted.")
            await expect(other.said).to_have_text("Moved elsewhere to Jan 03, 2027, 08:00 AM UTC; 1 item posted.")
            await expect(other.outlook).to_have_text("3 items would post; -EUR 1,150.00 → 500.50.")
            assert await other.states() == ["posted", "next", "next"]
            # And back: who looks at the present stays with it.
            await other.advance.click()
            await expect(one.said).to_have_text("Moved elsewhere to Feb 10, 2027; 3 items posted.")
            assert await one.states() == ["posted"] * 3
            await expect(one.outlook).to_have_text("Everything has happened; nothing more is scheduled.")


async def test_who_advances_too_late_is_told(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        clock = console.create()
        await console.open_clock(clock, "?t=2027-01-10T00:00:00Z")
        console.call("advanceTestClock", id=clock, frozenTime="2027-01-31T00:00:00Z")
        await console.advance.click()
        # Whichever came first, its own look or the press.
        await expect(console.said).to_have_text(re.compile("moved elsewhere|Moved elsewhere|Time only moves forward"))
        await expect(console.outlook).to_contain_text("Looking back")
        console.tab.forgiven = ("Failed to load resource: the server responded with a status of",)
        assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


async def test_the_chart_has_its_table(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        await console.open_clock(console.create())
        await console.button("View as table").click()
        table = console.page.get_by_role("region", name="The timeline as a table")
        january = table.get_by_role("row").filter(has_text="EUR").first
        assert await january.get_by_role("cell").all_inner_texts() == [
            "EUR",
            "0 of 2",
            "2,800.50",
            "1,150.00",
            "1,650.50",
        ]
        await console.button("View as chart").click()
        await expect(console.page.get_by_role("img", name=re.compile("^Timeline from"))).to_be_visible()


# Text


async def test_whatever_somebody_writes_stays_text(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        clock = console.create(NAUGHTY_CLOCK)
        await console.open_clock(clock, "?t=2027-01-05T00:00:00Z")
        names = console.rows.get_by_role("rowheader")
        shown = await names.evaluate_all("(cells) => cells.map((cell) => cell.firstChild.data)")
        assert shown == NAUGHTY
        goals = console.goals.get_by_role("heading")
        assert await goals.evaluate_all("(headings) => headings.map((one) => one.textContent)") == NAUGHTY
        await console.button("Next event").click()
        for name in (NAUGHTY[1], NAUGHTY[2]):
            await console.button("Rename").click()
            await console.page.get_by_label("Name of the clock").fill(name)
            await console.button("Save").click()
            await expect(console.heading(name)).to_be_visible()
        await console.button("Delete …").click()
        await expect(console.page.get_by_role("heading", name=f"Delete {NAUGHTY[2]}?")).to_be_visible()
        await console.button("Cancel").click()
        await console.page.get_by_text("The call behind it").click()
        for form in ("JSON", "curl", "Python", "JavaScript"):
            await console.page.get_by_role("tab", name=form, exact=True).click()
        made = "() => document.querySelectorAll('main :is(script, img, b), footer :is(script, img, b)').length"
        assert await console.tab.measure(made) == 0


async def test_text_cannot_become_markup_here(program: Program, tab: Tab) -> None:
    await tab.page.goto(program.url)
    for try_it in ("document.body.innerHTML = '<b>x</b>'", "trustedTypes.createPolicy('mine', {})"):
        assert (
            await tab.measure(f"() => {{ try {{ {try_it}; return 'done' }} catch (error) {{ return error.name }} }}")
            == "TypeError"
        )
    assert "require-trusted-types-for forbids trusted-types-sink" in tab.said
    tab.excused = list(tab.said)


# The call behind it


def run(command: list[str], pasted: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, input=pasted, capture_output=True, text=True, timeout=60, check=True)


async def test_the_call_behind_it_runs_as_pasted(browser: Browser, program: Program) -> None:
    need("curl")
    need("node", "nodejs")
    async with open_console(browser, program, permissions=COPYING) as console:
        page = console.page
        await console.open("#/clocks/new")
        await page.get_by_role("tab", name="JSON").click()
        await page.get_by_label("Parameters of createTestClock").fill(json.dumps(NAUGHTY_CLOCK, ensure_ascii=False))
        await console.button("Create clock").click()
        await expect(console.slider).to_be_visible()
        await page.get_by_text("The call behind it").click()
        await (
            page.get_by_role("list", name="The last calls")
            .get_by_role("button", name=re.compile("createTestClock"))
            .click()
        )
        request = page.get_by_role("group", name="Request")
        await expect(request).to_contain_text('"method": "createTestClock"')
        await expect(page.get_by_role("group", name="Answer")).to_contain_text('"status": "READY"')
        for form, command in (
            ("curl", ["bash"]),
            ("Python", [sys.executable, "-"]),
            ("JavaScript", ["node", "--input-type=module"]),
        ):
            await page.get_by_role("tab", name=form, exact=True).click()
            shown = await page.get_by_role("group", name=f"The call for {form}").inner_text()
            assert console.token not in shown
            await console.button("Copy").click()
            await expect(console.said).to_have_text(f"Copied the call for {form}.")
            assert (await console.tab.measure("() => navigator.clipboard.readText()")).strip() == shown.strip()
            await console.button("Copy with my token").click()
            await expect(console.said).to_have_text(f"Copied the call for {form}, with your token.")
            pasted = await console.tab.measure("() => navigator.clipboard.readText()")
            ran = await asyncio.to_thread(run, command, pasted)
            # The same key gives the same clock, so nothing is lost on the way.
            assert f'"{id_in(console)}"' in ran.stdout, ran.stdout + ran.stderr


# Readers


async def test_numbers_and_dates_are_the_readers(browser: Browser, program: Program) -> None:
    async with open_console(browser, program, locale="de-DE") as console:
        await console.open_clock(console.create(), "?t=2027-01-31T00:00:00Z")
        await expect(console.outlook).to_contain_text("1.650,50")
        await expect(console.advance).to_have_text("Advance to 31. Jan. 2027")
        await expect(console.rows.nth(1)).to_contain_text("+2.800,50 EUR")
        await expect(console.rows.nth(1)).to_contain_text("25. Jan. 2027")
        await expect(console.goals).to_contain_text("810,00 of 3.000,00")


async def test_money_has_the_digits_of_its_currency(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        amounts = {"JPY": 1000, "BHD": 0.1, "EUR": 0.12345}
        entry = {"name": "Pay", "type": "INCOME", "at": "2027-01-02T00:00:00Z"}
        pays = [{**entry, "amount": amount, "currency": currency} for currency, amount in amounts.items()]
        clock = console.create({"frozenTime": "2027-01-01T00:00:00Z", "transactions": pays})
        await console.open_clock(clock, "?t=2027-01-31T00:00:00Z")
        await expect(console.outlook).to_have_text(
            "3 items would post; JPY 0 → 1,000; BHD 0.000 → 0.100; EUR 0.00 → 0.12345."
        )


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
async def test_what_moves_by_itself_moves_only_for_those_who_like_it(
    browser: Browser, program: Program, motion: str
) -> None:
    async with open_console(browser, program, reduced_motion=motion) as console:
        await console.open_clock(console.create(JANUARY), "?t=2027-01-31T00:00:00Z")
        await console.page.evaluate("() => addEventListener('animationstart', () => (window.moved = true))")
        durations = await console.tab.measure(
            """() => [...document.querySelectorAll("*")].flatMap((one) => {
              const { animationName, animationDuration, transitionDuration } = getComputedStyle(one);
              return [...transitionDuration.split(", "), animationName === "none" ? "0s" : animationDuration];
            }).map(parseFloat).filter((seconds) => seconds > 0.001)"""
        )
        await console.advance.click()
        await expect(console.said).to_have_text(re.compile("^Advanced to"))
        assert bool(durations or await console.tab.measure("() => window.moved ?? false")) == (
            motion == "no-preference"
        )
