"""The page that a login link opens, in a real browser before the real program (decision 33)."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import pytest
from playwright.async_api import Browser, Locator, ViewportSize, expect

from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

READY = "Press the button. The link works once."
REFUSED = "This link was used already, is too old, or was not opened whole. Ask for a new one."
NO_LINK = "This page needs a login link. Open the one in your letter, whole."
UNREACHABLE = "The server cannot be reached. Try again."
KEEPS_NOTHING = "Your browser does not let this page keep you signed in. Allow it to store data, then press again."

_numbers = count(1)


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("login")) as started:
        yield started


def new_link(program: Program) -> str:
    """A login link for someone new."""
    params = link_params(f"guest{next(_numbers)}@example.test")
    link: str = program.result("sendLoginCodeEmail", params)["loginUrl"]
    return link


def secret_of(link: str) -> str:
    return link.partition("#token=")[2]


def rows(program: Program) -> dict[str, list[Any]]:
    """All that the database holds."""
    database = apsw.Connection(str(program.data / "tickover.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        return {name: list(database.execute(f'select * from "{name}"')) for name in names}
    finally:
        database.close()


def way_on(tab: Tab) -> Locator:
    return tab.page.get_by_role("link", name="Ask for a new link")


async def is_refused(tab: Tab) -> None:
    await expect(tab.status).to_have_text(REFUSED)
    await expect(tab.sign_in).to_be_hidden()
    await expect(tab.page.get_by_role("checkbox")).to_be_hidden()
    await expect(way_on(tab)).to_be_focused()
    assert await kept(tab) == {}


async def kept(tab: Tab) -> dict[str, Any]:
    """What the browser keeps of a session: for this tab, and on this device."""
    found = await tab.measure("() => [sessionStorage, localStorage].map((kept) => kept.getItem('tickover'))")
    return {name: json.loads(text) for name, text in zip(("tab", "device"), found, strict=True) if text}


async def is_signed_in(tab: Tab, program: Program, where: str = "tab") -> str:
    """The token with which the console has gone on."""
    await expect(tab.page).to_have_url(re.compile(rf"^{re.escape(program.url)}/(#/)?$"))
    sessions = await kept(tab)
    assert list(sessions) == [where]
    session = sessions[where]
    assert re.fullmatch(r"user_[0-9a-f-]{36}", session["userId"])
    assert list(session) == ["token", "email", "userId"]
    token: str = session["token"]
    return token


# Signing in


async def test_the_button_signs_in_and_the_console_opens(program: Program, tab: Tab) -> None:
    await tab.page.goto(new_link(program))
    await expect(tab.status).to_have_text(READY)
    await expect(way_on(tab)).to_be_hidden()
    await tab.sign_in.click()
    token = await is_signed_in(tab, program)
    await expect(tab.page.get_by_role("button", name="Sign out")).to_be_visible()
    assert program.result("createTestClock", {}, token)["clock"]["status"] == "READY"


async def test_who_stays_signed_in_is_known_in_another_tab(program: Program, tab: Tab) -> None:
    await tab.page.goto(new_link(program))
    await tab.page.get_by_label("Stay signed in").check()
    await tab.sign_in.click()
    await is_signed_in(tab, program, "device")
    other = await tab.page.context.new_page()
    await other.goto(program.url)
    await expect(other.get_by_role("button", name="Sign out")).to_be_visible()


async def test_who_does_not_stay_is_not_known_in_another_tab(program: Program, tab: Tab) -> None:
    await tab.page.goto(new_link(program))
    await tab.sign_in.click()
    await is_signed_in(tab, program)
    other = await tab.page.context.new_page()
    await other.goto(program.url)
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(other.get_by_role("button", name="Sign out")).to_be_hidden()


@pytest.mark.parametrize("session", ['{"token":"tko_ended","email":"x","userId":"y"}', "damaged", "null", "[]"])
async def test_a_session_that_was_there_before_is_in_nobodys_way(program: Program, tab: Tab, session: str) -> None:
    await tab.page.goto(f"{program.url}/login")
    await tab.page.evaluate("(text) => sessionStorage.setItem('tickover', text)", session)
    await tab.page.goto(new_link(program))
    await tab.sign_in.click()
    token = await is_signed_in(tab, program)
    assert token != "tko_ended"


async def test_nothing_secret_is_in_an_address(program: Program, tab: Tab) -> None:
    link = new_link(program)
    await tab.page.goto(link)
    await expect(tab.status).to_have_text(READY)
    assert tab.page.url == f"{program.url}/login", "it leaves the address bar at once"
    await tab.sign_in.click()
    token = await is_signed_in(tab, program)
    asked = [request.url.partition("#")[0] for request in tab.requests]
    told = [await request.all_headers() for request in tab.requests]
    words = asked + [word for headers in told for name, word in headers.items() if name != "authorization"]
    assert [word for word in words if secret_of(link) in word or token in word] == []
    assert [headers["referer"] for headers in told if "referer" in headers] == []
    # Nor is the link one step back.
    assert await tab.measure("() => history.length") <= 2
    await tab.page.go_back()
    assert tab.page.url == "about:blank"


async def test_an_impatient_double_click_signs_in_once(program: Program, tab: Tab) -> None:
    await tab.page.goto(new_link(program))
    await tab.sign_in.dblclick()
    await is_signed_in(tab, program)
    assert [request.post_data or "" for request in tab.calls if "loginByEmailLink" in (request.post_data or "")][
        1:
    ] == []


async def test_the_keyboard_is_enough(program: Program, tab: Tab) -> None:
    await tab.page.goto(new_link(program))
    await expect(tab.sign_in).to_be_focused()
    await tab.page.keyboard.press("Shift+Tab")
    await expect(tab.page.get_by_label("Stay signed in")).to_be_focused()
    await tab.page.keyboard.press("Space")
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.press("Enter")
    await is_signed_in(tab, program, "device")


async def test_where_nothing_can_be_kept_the_link_is_not_spent(program: Program, tab: Tab) -> None:
    await tab.page.add_init_script("""
      const refuse = () => { throw new DOMException("no", "SecurityError"); };
      for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get: refuse });
    """)
    link = new_link(program)
    await tab.page.goto(link)
    await tab.sign_in.click()
    await expect(tab.status).to_have_text(KEEPS_NOTHING)
    assert tab.calls == []
    await expect(tab.sign_in).to_be_enabled()


# Opening is harmless


async def test_opening_a_link_any_number_of_times_changes_nothing(program: Program, browser: Browser) -> None:
    link = new_link(program)
    before = rows(program)
    for _ in range(2):
        async with open_tab(browser) as tab:
            await tab.page.goto(link)
            await expect(tab.status).to_have_text(READY)
            await tab.page.reload()
            await expect(tab.status).to_have_text(READY)
            assert tab.calls == []
    for path in ("/login", f"/login?token={secret_of(link)}"):
        assert {program.request(method, path).status for method in ("GET", "HEAD")} == {200}
    assert rows(program) == before
    async with open_tab(browser) as tab:
        await tab.page.goto(link)
        await tab.sign_in.click()
        await is_signed_in(tab, program)
    assert rows(program) != before


async def test_without_a_link_there_is_nothing_to_press(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    for path in ("/login", "/login#", "/login#token=", "/login#other=1", "/login?token=abc"):
        with subtests.test(path):
            await tab.page.goto("about:blank")
            await tab.page.goto(program.url + path)
            await expect(tab.status).to_have_text(NO_LINK)
            await expect(tab.sign_in).to_be_hidden()
            await expect(way_on(tab)).to_be_visible()
    assert tab.calls == []
    await way_on(tab).click()
    await expect(tab.page.get_by_label("E-mail")).to_be_visible()


async def test_without_javascript_the_page_says_what_it_needs(program: Program, browser: Browser) -> None:
    async with open_tab(browser, java_script_enabled=False) as tab:
        await tab.page.goto(new_link(program))
        await expect(tab.status).to_have_text("This page needs JavaScript.")
        await expect(tab.sign_in).to_be_hidden()


# Links that no longer work


async def test_a_second_use_is_refused_in_a_plain_sentence(program: Program, browser: Browser) -> None:
    link = new_link(program)
    async with open_tab(browser) as first, open_tab(browser) as second:
        for tab in (first, second):
            await tab.page.goto(link)
        await first.sign_in.click()
        await is_signed_in(first, program)
        await second.sign_in.click()
        await is_refused(second)


async def test_a_link_that_is_too_old_is_refused_in_a_plain_sentence(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path) as program:
        secret = secret_of(new_link(program))
        program.stop()
        database = apsw.Connection(str(program.data / "tickover.db"))
        database.execute("update login_sends set expires_at = sent_at where email <> ''")
        assert database.changes() == 1
        database.close()
        program.start()
        await tab.page.goto(f"{program.url}/login#token={secret}")
        await expect(tab.status).to_have_text(READY)
        await tab.sign_in.click()
        await is_refused(tab)


async def test_a_new_link_works_in_the_tab_of_the_old_one(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login#token=old")
    await tab.sign_in.click()
    await is_refused(tab)
    await tab.page.goto(new_link(program))
    await expect(tab.status).to_have_text(READY)
    await tab.sign_in.click()
    await is_signed_in(tab, program)


async def test_a_refused_link_is_forgotten(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/login#token=old")
    await tab.sign_in.click()
    await is_refused(tab)
    await tab.page.reload()
    await expect(tab.status).to_have_text(NO_LINK)


NAUGHTY = {
    "markup": "<img src=x onerror=alert(1)>",
    "markup in percent signs": "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    "a script": "\"'></p><script>alert(1)</script>",
    "an address that runs": "javascript:alert(1)",
    "templates": "${alert(1)}{{alert(1)}}",
    "two of them": "__proto__&token=other",
    "a null character": "%00",
    "bytes that are no text": "%ED%A0%80%FF",
    "a long one": "a" * 20_000,
}


async def test_whatever_is_in_the_fragment_stays_text(program: Program, tab: Tab, subtests: pytest.Subtests) -> None:
    count_elements = "() => document.querySelectorAll('*').length"
    await tab.page.goto(f"{program.url}/login")
    elements = await tab.measure(count_elements)
    for name, written in NAUGHTY.items():
        with subtests.test(name):
            await tab.page.goto("about:blank")
            await tab.page.goto(f"{program.url}/login#token={written}")
            await tab.sign_in.click()
            await is_refused(tab)
            assert await tab.measure(count_elements) == elements


# When it cannot be done now


async def test_when_the_server_is_away_the_page_says_so_and_the_next_try_works(tmp_path: Path, tab: Tab) -> None:
    with ExitStack() as stack:
        program = stack.enter_context(Program(tmp_path))
        await tab.page.goto(new_link(program))
        await expect(tab.sign_in).to_be_focused()
        program.process.send_signal(signal.SIGSTOP)
        await tab.page.keyboard.press("Enter")
        await expect(tab.status).to_have_text("Signing in …")
        await expect(tab.sign_in).to_be_disabled()
        program.kill()
        await expect(tab.status).to_have_text(UNREACHABLE)
        # Which of its network errors Chromium names depends on how far the request had got.
        assert [said.partition("ERR_")[0] for said in tab.said] == ["Failed to load resource: net::"]
        tab.excused = list(tab.said)
        stack.enter_context(Program(tmp_path, TICKOVER_PORT=str(urlsplit(program.url).port)))
        await expect(tab.sign_in).to_be_focused()
        await tab.page.keyboard.press("Enter")
        await is_signed_in(tab, program)


async def test_when_there_were_too_many_calls_the_servers_own_sentence_is_shown(tmp_path: Path, tab: Tab) -> None:
    with Program(tmp_path, TICKOVER_CLIENT_BURST="1", TICKOVER_CLIENT_REFILL="0.001") as program:
        await tab.page.goto(new_link(program))
        await tab.sign_in.click()
        sentence = re.compile(r"^Too many calls from your IP address\. Try again in [0-9]+ s\.$")
        await expect(tab.status).to_have_text(sentence)
        await expect(tab.sign_in).to_be_enabled()
        assert await kept(tab) == {}
        tab.excused = ["Failed to load resource: the server responded with a status of 429 (Too Many Requests)"]


# How it looks


SMALL: ViewportSize = {"width": 320, "height": 568}
LARGE: ViewportSize = {"width": 1280, "height": 800}


def brightness(colour: str) -> float:
    """The relative luminance of a colour, as WCAG counts it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([brightness(one), brightness(other)])
    return (lighter + 0.05) / (darker + 0.05)


async def colour(tab: Tab, selector: str, kind: str = "color") -> str:
    found: str = await tab.measure(f"() => getComputedStyle(document.querySelector('{selector}')).{kind}")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [SMALL, LARGE], ids=["320 px", "1280 px"])
async def test_it_can_be_read_on_every_screen(
    program: Program, browser: Browser, tmp_path: Path, scheme: str, viewport: ViewportSize
) -> None:
    async with open_tab(browser, color_scheme=scheme, viewport=viewport) as tab:

        async def look(name: str) -> None:
            await tab.page.screenshot(path=tmp_path / f"{name}-{scheme}-{viewport['width']}.png")
            widths = await tab.measure("() => [document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{name} scrolls sideways"

        await tab.page.goto(new_link(program))
        await expect(tab.status).to_have_text(READY)
        await look("opened")
        assert contrast(await colour(tab, "#sign-in"), await colour(tab, "#sign-in", "backgroundColor")) >= 4.5
        card = await colour(tab, ".card", "backgroundColor")
        assert (brightness(card) > 0.5) == (scheme == "light")
        for selector in ("h1", "#status", "label"):
            assert contrast(await colour(tab, selector), card) >= 4.5, selector
        await tab.page.goto(f"{program.url}/login#token=old")
        await tab.sign_in.click()
        await is_refused(tab)
        await look("refused")
        assert contrast(await colour(tab, "#way-on"), card) >= 4.5
