"""Emails in a frame of the console: they keep their styles, and their content is inert."""

from collections.abc import Iterator

import pytest
from playwright.async_api import Frame, expect

from tests.browser.console import new_address
from tests.browser.tabs import Tab
from tests.support.program import Program

HOSTILE_HTML = """<html><body style="color: rgb(1, 2, 3); background: url(/assets/000000000000/css/base.css)">
<p id="x" style="font-size: 40px" onclick="parent.attacked = 1">Seen</p>
<script>parent.attacked = 1; document.title = "attacked"</script>
<img src="/assets/000000000000/app.js" onerror="parent.attacked = 1"><svg onload="parent.attacked = 1"></svg>
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


@pytest.fixture
def hostile_email(program: Program) -> Iterator[str]:
    """Add a hostile email to the outbox and return its id."""
    head = "From: x\r\nTo: ana@example.test\r\nContent-Type: text/html\r\n\r\n"
    program.send_code(new_address())
    file = program.data / "outbox" / f"{HOSTILE_ID}.eml"
    file.write_text(head + HOSTILE_HTML, newline="")
    yield HOSTILE_ID
    file.unlink()


async def open_in_frame(tab: Tab, id: str) -> Frame:
    """Open an email in a frame of the console page and return the frame."""
    path = f"/mailbox/emails/{id}.html"
    await tab.page.evaluate(_FRAME, path)
    return next(frame for frame in tab.page.frames if frame.url.endswith(path))


async def test_emails_keep_their_styles_and_are_inert(program: Program, hostile_email: str, tab: Tab) -> None:
    await tab.page.goto(f"{program.url}/")
    frame = await open_in_frame(tab, hostile_email)
    await expect(frame.get_by_text("Seen")).to_have_css("font-size", "40px")
    await expect(frame.locator("body")).to_have_css("color", "rgb(1, 2, 3)")
    before = len(tab.requests)
    for text in ("Seen", "Away", "Run"):
        await frame.get_by_text(text).click()
    assert await tab.requests_since(before) == []
    assert await tab.evaluate("() => window.attacked === undefined")
    assert frame.url.endswith(f"{hostile_email}.html")
    assert all("/login" not in frame.url for frame in tab.page.frames)
    # Opened directly, it has no origin.
    await tab.page.goto(f"{program.url}/mailbox/emails/{hostile_email}.html")
    await expect(tab.page.get_by_text("Seen")).to_be_visible()
    assert await tab.evaluate("() => self.origin") == "null"
    tab.expected_messages = list(tab.messages)
