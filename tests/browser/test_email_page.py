"""Emails in a frame of the console: they keep their styles, and their content is inert."""

from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, Frame, expect

from tests.browser.tabs import Tab, open_tab
from tests.support.program import Program, link_params

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE_HTML = """<html><body style="color: rgb(1, 2, 3); background: url(/assets/000000000000/css/base.css)">
<p id="x" style="font-size: 40px" onclick="parent.attacked = 1">Seen</p>
<script>parent.attacked = 1; document.title = "attacked"</script>
<img src="/assets/000000000000/js/app.js" onerror="parent.attacked = 1"><svg onload="parent.attacked = 1"></svg>
<iframe src="/login"></iframe><object data="/login"></object>
<link rel="stylesheet" href="/assets/000000000000/css/base.css">
<form action="/login"><button>Send</button><input name="x" autofocus></form>
<meta http-equiv="refresh" content="0;url=/login"><base href="/docs" target="_top">
<a href="/login" target="_top" style="color: red">Away</a> <a href="javascript:parent.attacked = 1">Run</a>
<style>@import "/assets/000000000000/css/base.css";</style></body></html>"""
HOSTILE_ID = "n990000000000-20990101T000000.000000Z"

# Adds a frame like the one in the console.
_FRAME = """(path) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.src = path;
  frame.addEventListener("load", () => done());
  document.body.append(frame);
})"""


@pytest.fixture(scope="module")
def program(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("emails")) as started:
        started.result("sendLoginCodeEmail", link_params("ana@example.test"))
        head = "From: x\r\nTo: ana@example.test\r\nContent-Type: text/html\r\n\r\n"
        (started.data / "outbox" / f"{HOSTILE_ID}.eml").write_text(head + HOSTILE_HTML, newline="")
        yield started


async def open_in_frame(tab: Tab, program: Program, id: str) -> Frame:
    """Open an email in a frame of the console page and return the frame."""
    await tab.page.goto(f"{program.url}/")
    path = f"/mailbox/emails/{id}.html"
    await tab.page.evaluate(_FRAME, path)
    return next(frame for frame in tab.page.frames if frame.url.endswith(path))


def own_email_id(program: Program) -> str:
    emails = program.request("GET", "/mailbox/emails.json").json["emails"]
    return next(str(email["id"]) for email in emails if email["id"] != HOSTILE_ID)


async def test_email_keeps_its_styles(program: Program, tab: Tab) -> None:
    frame = await open_in_frame(tab, program, own_email_id(program))
    button = frame.get_by_text("Sign in to Tickover", exact=True)
    await expect(button).to_have_css("background-color", "rgb(29, 78, 216)")
    await expect(button).to_have_css("padding", "12px 20px")
    await expect(frame.locator("body")).to_have_css("font-size", "16px")


async def test_link_in_a_framed_email_does_nothing(program: Program, tab: Tab) -> None:
    frame = await open_in_frame(tab, program, own_email_id(program))
    before = len(tab.requests)
    await frame.get_by_text("Sign in to Tickover", exact=True).click()
    await tab.page.wait_for_timeout(300)
    assert [request.url for request in tab.requests[before:] if "/login" in request.url] == []
    assert frame.url.endswith(".html")
    assert tab.page.url.startswith(f"{program.url}/")
    [blocked] = tab.expected_messages = list(tab.messages)
    assert "'allow-popups' permission is not set" in blocked


async def test_hostile_email_is_inert(program: Program, browser: Browser) -> None:
    async with open_tab(browser) as tab:
        frame = await open_in_frame(tab, program, HOSTILE_ID)
        await expect(frame.get_by_text("Seen")).to_have_css("font-size", "40px")
        await expect(frame.locator("body")).to_have_css("color", "rgb(1, 2, 3)")
        before = len(tab.requests)
        for text in ("Seen", "Away", "Run"):
            await frame.get_by_text(text).click()
        await tab.page.wait_for_timeout(300)
        assert [request.url for request in tab.requests[before:]] == []
        assert await tab.evaluate("() => window.attacked === undefined")
        assert frame.url.endswith(f"{HOSTILE_ID}.html")
        assert all("/login" not in frame.url for frame in tab.page.frames)
        tab.expected_messages = list(tab.messages)


async def test_email_opened_directly_is_sandboxed(program: Program, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/mailbox/emails/{HOSTILE_ID}.html")
    await expect(tab.page.get_by_text("Seen")).to_be_visible()
    assert await tab.evaluate("() => self.origin") == "null"
    tab.expected_messages = list(tab.messages)


async def test_other_origins_cannot_frame_an_email(program: Program, tab: Tab) -> None:
    # Another host name is another origin.
    other = program.url.replace("127.0.0.1", "localhost")
    await tab.page.goto(f"{program.url}/healthz")
    await tab.page.evaluate(_FRAME, f"{other}/mailbox/emails/{HOSTILE_ID}.html")
    await tab.page.wait_for_timeout(200)
    assert [frame.url for frame in tab.page.frames if HOSTILE_ID in frame.url] == []
    assert any("frame-ancestors" in message for message in tab.messages), tab.messages
    tab.expected_messages = list(tab.messages)
    tab.requests.clear()
