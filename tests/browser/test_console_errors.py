"""What can go wrong in the console, in a real browser before the real program: a sentence for each, and a way on."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import pytest
from playwright.async_api import Browser, Route, expect

from tests.browser.consoles import Console, new_address, open_console
from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG_AGO = "clock_0190a1b2-c3d4-7abc-8def-0123456789ab"
NEVER = "clock_ff90a1b2-c3d4-7abc-8def-0123456789ab"
# The browser itself writes these down, whatever a page makes of them.
REFUSED = "Failed to load resource: the server responded with a status of"
UNREACHABLE = "Failed to load resource: net::ERR_"
AWAY = "The server cannot be reached. Is it running?"
ENDED = "Your session has ended. Sign in again."


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("console-errors")) as started:
        yield started


def expire(program: Program, token: str) -> None:
    """Let a token be as old as it can get, while the program does not run."""
    database = apsw.Connection(str(program.data / "tickover.db"))
    database.execute("update tokens set expires_at = 0 where digest = ?", (sha256(token.encode()).digest(),))
    assert database.changes() == 1
    database.close()


async def lose(route: Route) -> None:
    """Let it be done, and lose the answer."""
    await route.fetch()
    await route.abort()


# The server is away


async def test_the_server_goes_away_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        stranger = Console(await stack.enter_async_context(open_tab(browser)), program)
        lister, watcher, late = [await stack.enter_async_context(open_console(browser, program)) for _ in range(3)]
        for console in (stranger, lister, watcher, late):
            console.tab.forgiven = (UNREACHABLE, REFUSED)
        clock = watcher.create()
        await stranger.open()
        await lister.open("#/clocks/new")
        await expect(lister.button("Create Salary and rent")).to_be_visible()
        await watcher.open_clock(clock)
        await late.open_clock(late.create())
        program.kill()

        # Who watches a clock is told without asking, and can look on at what was last known.
        await expect(watcher.trouble).to_contain_text(f"{AWAY} What you see is what was last known.")
        await watcher.button("+1 month").click()
        await expect(watcher.outlook).to_have_text("3 items would post; EUR 0.00 → 1,650.50.")
        await watcher.advance.click()
        await expect(watcher.trouble).to_contain_text(AWAY)
        await stranger.page.get_by_label("E-mail").fill(new_address())
        await stranger.button("Send me a code").click()
        await expect(stranger.trouble).to_have_text("The server cannot be reached. Try again when it runs.")
        await lister.button("Create Salary and rent").click()
        await expect(lister.said).to_contain_text("Try again when it runs; you will not get two clocks.")
        await lister.page.get_by_role("link", name="Back to your clocks").click()
        await expect(lister.trouble).to_have_text(AWAY)

        expire(program, late.token)
        program.environment["TICKOVER_PORT"] = str(urlsplit(program.url).port)
        program.start()
        await watcher.button("Try again now").click()
        await expect(watcher.said).to_have_text("The server is back.")
        await expect(watcher.trouble).to_be_hidden()
        await watcher.advance.click()
        await expect(watcher.said).to_have_text("Advanced to Feb 01, 2027; 3 items posted.")
        await stranger.button("Send me a code").click()
        await expect(stranger.heading("Enter your code")).to_be_visible()
        await lister.button("Try again").click()
        await expect(lister.heading("Start with a scenario")).to_be_visible()
        # Whose session has ended meanwhile signs in again, and is where they were.
        await expect(late.said).to_have_text(ENDED)
        await late.sign_in(new_address())
        await expect(late.trouble).to_contain_text("There is no such clock.")


async def test_a_clock_whose_answer_was_lost_is_not_made_twice(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (UNREACHABLE,)
        await console.open("#/clocks/new")
        await console.page.route("**/rpc", lose, times=1)
        await console.button("Create Salary and rent").click()
        await expect(console.said).to_contain_text("you will not get two clocks")
        await console.button("Create Salary and rent").click()
        await expect(console.heading("Salary and rent")).to_be_visible()
        assert console.tab.methods.count("createTestClock") == 2
        assert len(console.call("listTestClocks")["clocks"]) == 1


async def test_who_signs_out_while_the_server_is_away_is_told_what_that_means(
    browser: Browser, program: Program
) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (UNREACHABLE,)
        await console.open("#/clocks/new")
        await console.page.route("**/rpc", lambda route: route.abort())
        await console.button("Sign out").click()
        await expect(console.said).to_have_text(
            "You are signed out here. The server could not be told, so the token lives on."
        )
        await expect(console.heading("Sign in")).to_be_visible()
        assert await console.session("sessionStorage") is None


# The session has ended


async def test_a_session_that_was_ended_elsewhere(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        clock = console.create()
        await console.open_clock(clock)
        console.call("logout")
        await expect(console.said).to_have_text(ENDED)
        await expect(console.heading("Sign in")).to_be_visible()
        await expect(console.page.get_by_label("E-mail")).to_be_focused()
        assert await console.session("sessionStorage") is None
        assert console.page.url.endswith(f"#/clock/{clock}"), "whoever signs in again is where they were"
        # On a page that only asks when something is done, it is that which says so.
        await console.sign_in(new_address())
        await console.open("#/clocks/new")
        await expect(console.heading("New clock")).to_be_visible()
        console.call("logout")
        await console.button("Create Salary and rent").click()
        await expect(console.said).to_have_text(ENDED)
        await expect(console.heading("Sign in")).to_be_visible()


# The clock is gone


async def test_a_clock_that_was_deleted_elsewhere_can_be_made_again(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        clock = console.create()
        before = console.clock(clock)
        await console.open_clock(clock, "?t=2027-01-31T00:00:00Z")
        console.call("deleteTestClock", id=clock)
        await expect(console.trouble).to_contain_text(
            "This clock was deleted elsewhere. What you see is its last state."
        )
        await expect(console.page.get_by_text("DELETED", exact=True)).to_be_visible()
        await expect(console.advance).to_have_attribute("aria-disabled", "true")
        await expect(console.page.get_by_role("link", name="Back to the clocks")).to_be_visible()
        assert len(await console.states()) == 3
        await console.button("Create it again").click()
        await expect(console.said).to_have_text("This is a new clock with the same items, at their start.")
        [made] = console.call("listTestClocks")["clocks"]
        assert made["id"] != clock
        await expect(console.page).to_have_url(re.compile(made["id"]))
        assert console.clock(made["id"])["frozenTime"] == before["frozenTime"]
        await expect(console.rows).to_have_count(3)


async def test_a_clock_that_expires_while_somebody_looks(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        await console.open_clock(console.create())
        # Nobody waits seven days: what the server says of a clock that is as old, it says of this one.
        expired = program.post(
            {"jsonrpc": "2.0", "id": 1, "method": "getTestClock", "params": {"id": LONG_AGO}}, console.token
        )
        assert expired.json["error"]["data"]["reason"] == "CLOCK_EXPIRED"
        await console.page.route(
            "**/rpc", lambda route: route.fulfill(status=expired.status, json=expired.json), times=1
        )
        await expect(console.trouble).to_contain_text(
            "This clock has expired: clocks live for seven days. What you see is its last state."
        )
        await expect(console.page.get_by_text("EXPIRED", exact=True)).to_be_visible()
        await console.button("Create it again").click()
        await expect(console.said).to_have_text("This is a new clock with the same items, at their start.")


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        pytest.param(LONG_AGO, "This clock has expired: clocks live for seven days.", id="an old one"),
        pytest.param(NEVER, "There is no such clock. It was deleted, or is somebody else's.", id="none"),
        pytest.param(
            "%E0%A4%A<b>", "There is no such clock. It was deleted, or is somebody else's.", id="no id at all"
        ),
    ],
)
async def test_an_address_of_a_clock_that_is_not_there(
    browser: Browser, program: Program, id: str, sentence: str
) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        await console.open(f"#/clock/{id}?t=nonsense")
        await expect(console.trouble).to_contain_text(sentence)
        await console.page.get_by_role("link", name="Back to the clocks").click()
        await expect(console.heading("Start with a scenario")).to_be_visible()


async def test_a_page_that_is_not_there(program: Program, tab: Tab) -> None:
    console = Console(tab, program)
    await console.open("#/nowhere/at-all")
    await expect(console.heading("There is no such page")).to_be_visible()
    await console.page.get_by_role("link", name="Go to your clocks").click()
    await expect(console.heading("Sign in")).to_be_visible()


async def test_a_clock_is_made_again_once_the_server_is_back(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED, UNREACHABLE)
        clock = console.create()
        await console.open_clock(clock)
        console.call("deleteTestClock", id=clock)
        await expect(console.button("Create it again")).to_be_visible()
        await console.page.route("**/rpc", lose, times=1)
        await console.button("Create it again").click()
        await expect(console.said).to_contain_text("The server cannot be reached. Try again when it runs")
        await expect(console.trouble).to_contain_text("This clock was deleted elsewhere.")
        await console.button("Create it again").click()
        await expect(console.said).to_have_text("This is a new clock with the same items, at their start.")
        assert len(console.call("listTestClocks")["clocks"]) == 1


# A deed is refused, or its answer is lost


def refuse(method: str, **error: object) -> Callable[[Route], Awaitable[None]]:
    """For one method, whatever else is asked."""

    async def answer(route: Route) -> None:
        if (route.request.post_data_json or {}).get("method") != method:
            await route.fallback()
        else:
            await route.fulfill(status=400, json={"jsonrpc": "2.0", "id": 1, "error": error})

    return answer


async def test_who_may_have_no_more_clocks_is_told_and_stays_told(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        await console.open_clock(console.create(), "?t=2027-01-31T00:00:00Z")
        data = {"reason": "RATE_LIMITED", "retryAfterSeconds": 601_200}
        refusal = refuse("forkTestClock", code=-32005, message="You have too many clocks.", data=data)
        await console.page.route("**/rpc", refusal)
        await console.button("Fork …").click()
        await console.button("Fork").click()
        await expect(console.said).to_contain_text("expires in 6 d 23 h")
        async with console.page.expect_response("**/rpc"):
            pass
        await expect(console.said).to_contain_text("expires in 6 d 23 h")
        await expect(console.trouble).to_be_hidden()


async def test_a_refused_fork_says_which_fault_it_has(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        await console.open_clock(console.create(), "?t=2027-01-31T00:00:00Z")
        data = {"reason": "INVALID_PARAMS", "errors": [{"path": "at", "message": "Too late."}]}
        refusal = refuse("forkTestClock", code=-32602, message="Invalid params", data=data)
        await console.page.route("**/rpc", refusal)
        await console.button("Fork …").click()
        await console.button("Fork").click()
        await expect(console.said).to_contain_text("at: Too late.")


async def test_whether_a_fork_was_made_whose_answer_was_lost(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (UNREACHABLE,)
        await console.open_clock(console.create())
        await console.button("Fork …").click()
        await console.page.route("**/rpc", lose)
        await console.button("Fork").click()
        doubt = "It is not known whether the fork was made: look at Clocks."
        await expect(console.trouble).to_contain_text(doubt)
        # Who is about to press the button, which is gone when the server is back, goes on from the slider.
        await console.button("Try again now").focus()
        await console.page.unroute("**/rpc")
        await expect(console.said).to_have_text(f"The server is back. {doubt}")
        await expect(console.slider).to_be_focused()


# Who leaves meanwhile


async def test_who_leaves_before_the_answer_comes_stays_where_they_went(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        clock = console.create()
        await console.open_clock(clock, "?t=2027-01-31T00:00:00Z")
        left = asyncio.Event()

        async def delay(route: Route) -> None:
            if (route.request.post_data_json or {}).get("method") == "advanceTestClock":
                await left.wait()
            await route.continue_()

        await console.page.route("**/rpc", delay)
        await console.advance.click()
        await console.page.get_by_role("link", name="Clocks", exact=True).click()
        await expect(console.heading("Clocks")).to_be_visible()
        async with console.page.expect_response(
            lambda response: "advanceTestClock" in (response.request.post_data or "")
        ):
            left.set()
        await console.page.wait_for_timeout(500)  # an address is changed a while after the page
        assert console.page.url.endswith("#/clocks")
        await expect(console.said).to_be_empty()
        assert console.clock(clock)["frozenTime"] == "2027-01-31T00:00:00Z"


async def test_what_is_asked_does_not_outlive_its_page(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        clock = console.create()
        await console.open("#/clocks")
        await console.open_clock(clock)
        dialog = console.page.get_by_role("dialog")
        await console.button("Delete …").click()
        await expect(dialog).to_be_visible()
        await console.page.go_back()
        await expect(console.heading("Clocks")).to_be_visible()
        await expect(dialog).to_have_count(0)
        await console.page.go_forward()
        await console.button("Fork …").click()
        await expect(dialog).to_be_visible()
        console.call("logout")
        await expect(console.said).to_have_text(ENDED)
        await expect(dialog).to_have_count(0)
        await expect(console.page.get_by_label("E-mail")).to_be_focused()


# Signing in


async def test_who_asks_for_a_letter_too_soon_has_one_already(program: Program, tab: Tab) -> None:
    tab.forgiven = (REFUSED,)
    console, email = Console(tab, program), new_address()
    await console.open()
    await console.page.get_by_label("E-mail").fill("nobody")
    await console.button("Send me a code").click()
    await expect(console.trouble).to_contain_text("The address ")
    await expect(console.page.get_by_label("E-mail")).to_be_focused()
    await console.ask_for_code(email)
    again = console.page.get_by_role("button", name=re.compile("^Send again in [0-9]+ s$"))
    await expect(again).to_be_disabled()
    await console.button("Use another address").click()
    await console.page.get_by_label("E-mail").fill(email)
    await console.button("Send me a code").click()
    await expect(console.trouble).to_have_text(
        re.compile("^A letter went to this address a moment ago. Use what is in it, or ask again in [0-9]+ s.$")
    )
    await expect(again).to_be_disabled()
    # A code that is wrong is said to be so, and the right one is still right.
    code = console.page.get_by_label("Six-digit code")
    right = program.request("GET", f"/mailbox/latest?to={email}").json["code"]
    await code.fill("12")
    await console.button("Sign in").click()
    await expect(console.trouble).to_have_text("A code has six digits.")
    await code.fill("000000" if right != "000000" else "111111")
    await expect(console.trouble).to_have_text("This code is wrong, used or too old. Try again, or ask for a new one.")
    await expect(code).to_be_focused()
    await console.button("Fill in").click()
    await expect(console.button("Sign out")).to_be_visible()


async def test_the_wait_before_another_letter_is_what_the_server_says(program: Program, tab: Tab) -> None:
    tab.forgiven = (REFUSED,)
    console, email = Console(tab, program), new_address()
    program.send_code(email)
    await tab.page.clock.install()
    await console.open()
    await console.page.get_by_label("E-mail").fill(email)
    await console.button("Send me a code").click()
    await expect(console.trouble).to_contain_text("A letter went to this address a moment ago.")
    await tab.page.clock.run_for(61_000)
    await expect(console.button("Send again")).to_be_enabled()
    # For the server no minute has passed, and it says so again.
    await console.button("Send again").click()
    await expect(console.page.get_by_role("button", name=re.compile("^Send again in [0-9]+ s$"))).to_be_disabled()


# What is written wrong


async def test_parameters_that_are_refused_are_shown_with_their_paths(browser: Browser, program: Program) -> None:
    async with open_console(browser, program) as console:
        console.tab.forgiven = (REFUSED,)
        await console.open("#/clocks/new")
        await console.page.get_by_role("tab", name="JSON").click()
        text = console.page.get_by_label("Parameters of createTestClock")
        await text.fill("{nope")
        await console.button("Create clock").click()
        await expect(console.trouble).to_contain_text("This is not JSON that createTestClock takes")
        await expect(text).to_be_focused()
        await text.fill(json.dumps({"goals": [{"name": "", "targetAmount": 0}], "more": 1}))
        await console.button("Create clock").click()
        await expect(console.trouble).to_contain_text("The server refused 3 fields.")
        await expect(console.trouble.get_by_role("listitem")).to_have_count(3)
        await expect(console.trouble).to_contain_text("goals[0].targetAmount")
