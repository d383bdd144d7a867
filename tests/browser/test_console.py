"""The main functions of the console: sign in, create a clock, preview and advance it."""

import re
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.console import HOSTILE_CLOCK, HOSTILE_TEXTS, HTTP_ERROR, Console, new_address, open_console
from tests.browser.held_requests import HeldRequests
from tests.browser.tabs import Tab
from tests.support.program import Program, code_params


def clock_id(console: Console) -> str:
    """Return the id of the clock in the page URL."""
    match = re.search(r"#/clock/(clock_[0-9a-f-]+)", console.page.url)
    assert match, console.page.url
    return match[1]


def actions(tab: Tab) -> list[str]:
    """Return the called operations without those that only read a clock."""
    reads = ("getTestClock", "checkTestClock", "listTestClockConnections")
    return [method for method in tab.methods if method not in reads]


# First session


async def test_new_user_completes_a_first_session(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await sign_in_with_code_from_mailbox(console)
    await create_from_gallery(console)
    clock = clock_id(console)
    before = console.clock(clock)
    await move_preview(console)
    assert console.clock(clock) == before
    await advance_to_preview(console, clock)
    await fork(console, clock, len(before["transactions"]))
    await rename_and_delete(console)
    await sign_out(console)


async def sign_in_with_code_from_mailbox(console: Console) -> None:
    page, email = console.page, new_address()
    await console.open("")
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(page.get_by_label("Email")).to_be_focused()
    await console.request_code(email)
    code = page.get_by_label("Six-digit code")
    await expect(code).to_be_focused()
    assert [await code.get_attribute(name) for name in ("inputmode", "autocomplete")] == ["numeric", "one-time-code"]
    await expect(page.get_by_text("Your code is in the mailbox.")).to_be_visible()
    await code.fill(console.code(email))
    await expect(console.notification).to_have_text(f"You are signed in as {email}.")
    session = await console.session()
    console.token = session["token"]
    assert session["email"] == email


async def create_from_gallery(console: Console) -> None:
    """A user without clocks sees the scenarios."""
    page = console.page
    await expect(console.heading("Start with a scenario")).to_be_visible()
    cards = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=re.compile("^Create ")))
    await expect(cards.first).to_contain_text("Salary and rent")
    assert await cards.count() == await cards.locator(".sparkline").count() >= 5
    await console.button("Create Salary and rent").click()
    await expect(console.heading("Salary and rent")).to_be_visible()


async def move_preview(console: Console) -> None:
    """A preview sends nothing to the server."""
    page, previous_actions = console.page, actions(console.tab)
    assert previous_actions == [
        "sendLoginCodeEmail",
        "loginByEmailVerification",
        "listTestClocks",
        "createTestClockFromScenario",
    ]
    states = await console.states()
    await console.button("Next event").click()
    await expect(console.preview_summary).to_have_text(re.compile(r"^[0-9]+ events? would post; €"))
    await console.button("+1 day").click()
    await console.button("+1 week").click()
    await console.slider.press("ArrowRight")
    await console.button("+1 month").click()
    box = await console.plot.bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=8)
    await page.mouse.up()
    await expect(page).to_have_url(re.compile(r"\?t=[0-9T:-]+Z$"))
    assert "→" in await console.goals.inner_text(), "the preview changes the goal"
    assert (await console.states()).count("posted") == states.count("posted")
    assert actions(console.tab) == previous_actions


async def advance_to_preview(console: Console, clock: str) -> None:
    """Advancing makes one call, and the page shows the result."""
    summary = await console.final_preview_summary()
    previous_actions, previewed = actions(console.tab), await console.states()
    posted = re.match(
        r"([0-9]+) events would post: [0-9]+ transactions and [0-9]+ contributions; €[0-9.,]+ → €[0-9.,]+\.$", summary
    )
    assert posted
    await console.advance.click()
    await expect(console.notification).to_have_text(re.compile(rf"^{posted[1]} events posted\. Balance"))
    assert actions(console.tab) == [*previous_actions, "advanceTestClock"]
    after, states = console.clock(clock), await console.states()
    assert (
        states.count("posted") + states.count("just posted")
        == len(after["transactions"])
        == previewed.count("posted") + previewed.count("would post")
    )
    assert "would post" not in states
    [goal] = after["goals"]
    await expect(console.goals).to_contain_text(f"{goal['currentAmount']:,.2f} of 3,000.00")
    await expect(console.goals).to_contain_text(f"{goal['progressPercent']:.0f}%")


async def fork(console: Console, clock: str, posted_at_start: int) -> None:
    """A fork is a new clock. The original doesn't change."""
    await console.button("Fork…").click()
    await console.page.get_by_role("dialog", name="Fork clock").get_by_label("At its start").check()
    await console.button("Fork").click()
    await expect(console.heading("Fork of Salary and rent")).to_be_visible()
    await expect(console.notification).to_contain_text("This is the fork.")
    assert clock_id(console) != clock
    assert (await console.states()).count("posted") == posted_at_start


async def rename_and_delete(console: Console) -> None:
    page, clock = console.page, clock_id(console)
    await console.choose("Rename")
    await page.get_by_label("Clock name").fill("What if")
    await console.button("Save").click()
    await expect(console.heading("What if")).to_be_visible()
    await expect(page).to_have_title("What if · Tickover")
    assert console.clock(clock)["name"] == "What if"
    await console.choose("Delete…")
    await console.button("Delete clock").click()
    await expect(console.heading("Clocks")).to_be_visible()
    await expect(console.notification).to_have_text("The clock was deleted.")
    assert (
        console.program.call("getTestClock", {"id": clock}, console.token)["error"]["data"]["reason"]
        == "CLOCK_NOT_FOUND"
    )
    # The other clock stays.
    await expect(page.get_by_role("link", name="What if")).to_be_hidden()
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Salary and rent"))
    await expect(card).to_contain_text("Expires in 6 d 23 h")
    await expect(card.locator("svg.sparkline")).to_be_visible()


async def sign_out(console: Console) -> None:
    """Signing out revokes the token and clears the storage."""
    await console.button("Sign out").click()
    await expect(console.notification).to_have_text("You are signed out.")
    await expect(console.heading("Sign in")).to_be_visible()
    assert console.program.call("listTestClocks", {}, console.token)["error"]["data"]["reason"] == "UNAUTHENTICATED"
    assert await console.tab.evaluate("() => [document.cookie, localStorage.length]") == ["", 0]
    assert await console.page.context.cookies() == []
    assert not [request.url for request in console.tab.requests if console.token in request.url]


async def test_one_button_signs_in_on_a_development_server(program: Program, tab: Tab) -> None:
    console, email = Console(tab, program), new_address()
    tab.ignored_prefixes = (HTTP_ERROR,)
    await console.open("#/clocks/new")
    # The code of the last minute was not used.
    program.call("sendLoginCodeEmail", code_params(email))
    for _ in ("first", "again"):
        await console.page.get_by_label("Email").fill(email)
        await console.button("Sign in").click()
        await expect(console.notification).to_have_text(f"You are signed in as {email}.")
        await console.button("Sign out").click()
        await expect(console.notification).to_have_text("You are signed out.")
    # Another program has used the code of the last minute.
    program.sign_in(email)
    await console.page.get_by_label("Email").fill(email)
    await console.button("Sign in").click()
    await expect(console.page.get_by_role("alert")).to_contain_text("Try again in ")


async def test_sign_in_asks_for_the_fixed_code_of_an_address(tmp_path: Path, tab: Tab) -> None:
    tab.ignored_prefixes = (HTTP_ERROR,)
    with Program(tmp_path, TICKOVER_TEST_CODES="app.test=123456") as program:
        console = Console(tab, program)
        await console.open("#/clocks/new")
        await console.page.get_by_label("Email").fill("ana@app.test")
        await console.button("Sign in").click()
        await expect(console.page.get_by_text("No email to ana@app.test is in the mailbox.")).to_be_visible()
        await console.page.get_by_label("Six-digit code").fill("123456")
        await expect(console.notification).to_have_text("You are signed in as ana@app.test.")


async def test_session_applies_to_every_tab_until_sign_out(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open("#/clocks/new")
    await console.request_code(email := new_address())
    latest = program.request("GET", f"/mailbox/latest?to={email}").json
    # Pasted codes can contain spaces and other words.
    await console.page.get_by_label("Six-digit code").evaluate(
        """(field, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", text);
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        f" Your code: {latest['code'][:3]} {latest['code'][3:]}\n",
    )
    await expect(console.button("Sign out")).to_be_visible()
    await expect(console.heading("New clock")).to_be_visible()
    assert (await console.session())["email"] == email

    second_page = await tab.page.context.new_page()
    await second_page.goto(program.url)
    await second_page.get_by_role("button", name="Sign out").click()
    await expect(second_page.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(console.heading("Sign in")).to_be_visible()
    await expect(console.notification).to_have_text("Your session ended in another tab.")
    assert await tab.evaluate("() => localStorage.getItem('tickover')") is None


# Preview and advance


async def test_past_preview_is_read_only_and_can_be_forked(console: Console) -> None:
    clock = console.create()
    console.call("advanceTestClock", id=clock, frozenTime="2027-01-31T00:00:00Z")
    # A preview URL can be shared.
    await console.open_clock(clock, "?t=2027-01-10T00:00:00Z")
    await expect(console.preview_summary).to_have_text(
        "Past: 2 events posted since then; −€1,150.00 → €1,650.50; read-only because time only moves forward."
    )
    assert await console.states() == ["posted", "posted later", "scheduled"]
    await expect(console.goals).to_contain_text("27% ← 17%")
    await expect(console.page.get_by_text("← 10 Jan 2027")).to_be_visible()
    await expect(console.advance).to_be_hidden()
    assert actions(console.tab) == []
    await console.button("Back to now").click()
    await expect(console.preview_summary).to_have_text("Next: Rent on 3 Feb 2027, 08:00 UTC; €1,650.50 → €500.50.")
    await expect(console.page).to_have_url(re.compile(r"#/clock/[^?]+$"))
    await expect(console.slider).to_be_focused()
    # The page follows changes of its URL.
    await console.open(f"#/clock/{clock}?t=2027-01-10T00:00:00Z")
    await console.button("Fork here").click()
    await expect(console.notification).to_have_text("This is the fork. Its time is 10 Jan 2027.")
    assert console.clock(clock_id(console))["frozenTime"] == "2027-01-10T00:00:00Z"
    assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


async def test_advance_in_one_tab_appears_in_another(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as first:
        clock = first.create()
        async with open_console(browser, program, token=first.token) as second:
            await first.open_clock(clock)
            # This tab has a preview, which stays.
            await second.open_clock(clock, "?t=2027-02-10T00:00:00Z")
            await expect(second.preview_summary).to_have_text(
                "4 events would post: 3 transactions and 1 contribution; €0.00 → €500.50, dips to −€1,150.00 on 3 Jan."
            )
            await first.button("Next event").click()
            await first.advance.click()
            await expect(first.notification).to_have_text("Rent −€1,150.00. Balance −€1,150.00.")
            await second.poll()
            await expect(second.notification).to_have_text(
                "The clock was advanced elsewhere to 3 Jan 2027, 08:00 UTC. Rent −€1,150.00. Balance −€1,150.00."
            )
            await expect(second.preview_summary).to_have_text(
                "3 events would post: 2 transactions and 1 contribution; −€1,150.00 → €500.50."
            )
            assert await second.states() == ["just posted", "would post", "would post"]
            # A tab without a preview follows the clock.
            await second.advance.click()
            await expect(second.notification).to_have_text("3 events posted. Balance €500.50.")
            await first.poll()
            await expect(first.notification).to_have_text(
                "The clock was advanced elsewhere to 10 Feb 2027. 3 events posted. Balance €500.50."
            )
            assert await first.states() == ["posted", "just posted", "just posted"]
            await expect(first.preview_summary).to_have_text("All events are posted.")


async def test_advance_to_a_time_already_passed_shows_an_error(console: Console) -> None:
    clock = console.create()
    await console.open_clock(clock, "?t=2027-01-10T00:00:00Z")
    async with HeldRequests(console.page, "getTestClock") as held:
        await console.poll()
        await held.arrived()
        console.call("advanceTestClock", id=clock, frozenTime="2027-01-31T00:00:00Z")
        await console.advance.click()
        await expect(console.notification).to_have_text("The clock was advanced elsewhere, past this time.")
    await expect(console.preview_summary).to_contain_text("Past:")
    console.tab.ignored_prefixes = (HTTP_ERROR,)
    assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


# Hostile text


async def test_hostile_names_stay_text(console: Console) -> None:
    clock = console.create(HOSTILE_CLOCK)
    await console.open_clock(clock, "?t=2027-01-05T00:00:00Z")
    names = console.rows.get_by_role("rowheader")
    cell_texts = await names.evaluate_all("(cells) => cells.map((cell) => cell.firstChild.textContent)")
    assert cell_texts == HOSTILE_TEXTS
    goals = console.goals.get_by_role("heading")
    assert await goals.evaluate_all("(headings) => headings.map((heading) => heading.textContent)") == HOSTILE_TEXTS
    await console.button("Next event").click()
    for name in (HOSTILE_TEXTS[1], HOSTILE_TEXTS[2]):
        await console.choose("Rename")
        await console.page.get_by_label("Clock name").fill(name)
        await console.button("Save").click()
        await expect(console.heading(name)).to_be_visible()
    await console.choose("Delete…")
    await expect(console.page.get_by_role("heading", name=f"Delete “{HOSTILE_TEXTS[2]}”?")).to_be_visible()
    await console.button("Cancel").click()
    await console.button("Requests").click()
    for format in ("curl", "JSON"):
        await console.page.get_by_role("tab", name=format, exact=True).click()
    count_elements = "() => document.querySelectorAll('main :is(script, img, b), footer :is(script, img, b)').length"
    assert await console.tab.evaluate(count_elements) == 0


# Request inspector


async def test_inspector_stays_open_and_copies_requests_as_curl(console: Console) -> None:
    page = console.page
    await console.open_clock(console.create())
    panel = page.get_by_role("complementary", name="Request inspector")
    await expect(panel).to_be_hidden()
    await page.keyboard.press("r")
    await console.advance.click()
    await expect(panel.get_by_role("listitem").first).to_contain_text("advanceTestClock")
    await page.get_by_role("list", name="Latest requests").get_by_role("button").first.click()
    await page.get_by_role("tab", name="JSON", exact=True).click()
    await expect(page.get_by_role("group", name="Request")).to_contain_text('"method": "advanceTestClock"')
    await expect(page.get_by_role("group", name="Response")).to_contain_text('"status": "READY"')
    await page.get_by_role("tab", name="curl", exact=True).click()
    code = await page.get_by_role("group", name="Request as curl").inner_text()
    assert console.token not in code
    await console.button("Copy").click()
    await expect(console.notification).to_have_text("Copied the curl code.")
    assert (await console.tab.evaluate("() => navigator.clipboard.readText()")).strip() == code.strip()
    await console.button("Copy with my token").click()
    await expect(console.notification).to_have_text("Copied the curl code with your token.")
    assert console.token in await console.tab.evaluate("() => navigator.clipboard.readText()")
    await page.reload()
    await expect(panel).to_be_visible()
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_be_hidden()
    await expect(console.button("Requests")).to_be_focused()
