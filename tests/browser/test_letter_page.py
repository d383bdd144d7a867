"""A letter in a frame of the console, in a real browser: it looks as it was written, and whatever is in it is inert."""

from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, Frame, expect

from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params

# The browser is shared by all tests of a process, so they share its loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = """<html><body style="color: rgb(1, 2, 3); background: url(/assets/css/base.css)">
<p id="x" style="font-size: 40px" onclick="parent.hurt = 1">Seen</p>
<script>parent.hurt = 1; document.title = "hurt"</script>
<img src="/assets/js/app.js" onerror="parent.hurt = 1"><svg onload="parent.hurt = 1"></svg>
<iframe src="/login"></iframe><object data="/login"></object><link rel="stylesheet" href="/assets/css/base.css">
<form action="/login"><button>Send</button><input name="x" autofocus></form>
<meta http-equiv="refresh" content="0;url=/login"><base href="/docs" target="_top">
<a href="/login" target="_top" style="color: red">Away</a> <a href="javascript:parent.hurt = 1">Run</a>
<style>@import "/assets/css/base.css";</style></body></html>"""
NAME = "n990000000000-20990101T000000.000000Z"

# The console frames letters so; here its page is made with nothing else on it.
_FRAME = """(path) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.src = path;
  frame.addEventListener("load", () => done());
  document.body.append(frame);
})"""


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("letters")) as started:
        started.result("sendLoginCodeEmail", link_params("ana@example.test"))
        head = "From: x\r\nTo: ana@example.test\r\nContent-Type: text/html\r\n\r\n"
        (started.data / "outbox" / f"{NAME}.eml").write_text(head + HOSTILE, newline="")
        yield started


async def framed(tab: Tab, program: Program, id: str) -> Frame:
    """The frame of a letter, in the console's page with its policy."""
    await tab.page.goto(f"{program.url}/")
    path = f"/mailbox/emails/{id}.html"
    await tab.page.evaluate(_FRAME, path)
    return next(frame for frame in tab.page.frames if frame.url.endswith(path))


def ours(program: Program) -> str:
    letters = program.request("GET", "/mailbox/emails.json").json["emails"]
    return next(str(one["id"]) for one in letters if one["id"] != NAME)


async def test_our_letter_looks_as_it_was_written(program: Program, tab: Tab) -> None:
    frame = await framed(tab, program, ours(program))
    button = frame.get_by_text("Sign in to Tickover", exact=True)
    await expect(button).to_have_css("background-color", "rgb(29, 78, 216)")
    await expect(button).to_have_css("padding", "12px 20px")
    await expect(frame.locator("body")).to_have_css("font-size", "16px")


async def test_a_click_on_its_link_does_nothing(program: Program, tab: Tab) -> None:
    frame = await framed(tab, program, ours(program))
    before = len(tab.requests)
    await frame.get_by_text("Sign in to Tickover", exact=True).click()
    await tab.page.wait_for_timeout(300)
    assert [request.url for request in tab.requests[before:] if "/login" in request.url] == []
    assert frame.url.endswith(".html")
    assert tab.page.url.startswith(f"{program.url}/")
    [blocked] = tab.excused = list(tab.said)
    assert "'allow-popups' permission is not set" in blocked


async def test_a_hostile_letter_is_inert(program: Program, browser: Browser) -> None:
    async with open_tab(browser) as tab:
        frame = await framed(tab, program, NAME)
        await expect(frame.get_by_text("Seen")).to_have_css("font-size", "40px")
        await expect(frame.locator("body")).to_have_css("color", "rgb(1, 2, 3)")
        before = len(tab.requests)
        for text in ("Seen", "Away", "Run"):
            await frame.get_by_text(text).click()
        await tab.page.wait_for_timeout(300)
        assert [request.url for request in tab.requests[before:]] == []
        assert await tab.measure("() => window.hurt === undefined")
        assert frame.url.endswith(f"{NAME}.html")
        assert all("/login" not in each.url for each in tab.page.frames)
        tab.excused = list(tab.said)


async def test_opened_by_itself_it_is_in_its_sandbox(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/mailbox/emails/{NAME}.html")
    await expect(tab.page.get_by_text("Seen")).to_be_visible()
    assert await tab.measure("() => self.origin") == "null"
    tab.excused = list(tab.said)


async def test_a_page_of_another_origin_cannot_frame_it(program: Program, tab: Tab) -> None:
    # The same server by another name is another origin.
    other = program.url.replace("127.0.0.1", "localhost")
    await tab.page.goto(f"{program.url}/healthz")
    await tab.page.evaluate(_FRAME, f"{other}/mailbox/emails/{NAME}.html")
    await tab.page.wait_for_timeout(200)
    assert [frame.url for frame in tab.page.frames if NAME in frame.url] == []
    assert any("frame-ancestors" in said for said in tab.said), tab.said
    tab.excused = list(tab.said)
    tab.requests.clear()
