"""The HTML of emails in the mailbox. Tests in a browser show that it is inert in the console's frame."""

import asyncio
from pathlib import Path

import pytest

from tests.support.emails import SENDER, make_email, make_link_email
from tests.support.world import World
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind
from tickover.server.sign_in.mail.outbox import Outbox
from tickover.server.web.mailbox import Mailbox

POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
ID = "20270101T120000.000000Z-1-000000"


@pytest.mark.parametrize(
    "email",
    [
        pytest.param(make_email(), id="code"),
        pytest.param(make_link_email(), id="link"),
        pytest.param(make_email(kind=EmailKind.CODES_STOPPED, secret=""), id="codes stopped"),
        pytest.param(make_email('"<b>&amp;"@example.test'), id="markup in the address"),
    ],
)
def test_html_is_returned_as_it_was_sent(tmp_path: Path, email: Email) -> None:
    asyncio.run(Outbox(tmp_path, Composer(SENDER)).deliver(email))
    mailbox = Mailbox(tmp_path)
    [summary] = asyncio.run(mailbox.list_emails())
    html = asyncio.run(mailbox.get_html(summary.id))
    assert html is not None
    assert html.decode().rstrip() == Composer(SENDER)._render(email, "html").rstrip()
    assert b"<b>" not in html


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"Content-Type: text/html\r\n\r\n<script>alert(1)</script>", id="HTML"),
        pytest.param(b"\r\n<script>alert(1)</script>", id="plain text"),
        pytest.param(b"Content-Type: multipart/mixed\r\n\r\n", id="no text"),
    ],
)
async def test_html_is_sandboxed_whatever_it_contains(world: World, source: bytes) -> None:
    (world.outbox / f"{ID}.eml").write_bytes(b"From: x\r\nTo: y\r\n" + source)
    response = await world.request("GET", f"/mailbox/emails/{ID}.html")
    assert response.status == 200
    assert response.headers["content-security-policy"] == POLICY
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_html_of_a_sent_email_is_sandboxed(world: World) -> None:
    await world.send_code()
    [file] = world.outbox.glob("*.eml")
    response = await world.request("GET", f"/mailbox/emails/{file.stem}.html")
    assert response.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("a\n  b", "a\n  b"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("</pre><p>", "&lt;/pre&gt;&lt;p&gt;"),
        ("&lt;", "&amp;lt;"),
        ("\0", "\0"),
    ],
)
async def test_plain_text_is_escaped(world: World, text: str, html: str) -> None:
    (world.outbox / f"{ID}.eml").write_bytes(b"From: x\r\nTo: y\r\n\r\n" + text.encode())
    response = await world.request("GET", f"/mailbox/emails/{ID}.html")
    assert response.body.decode() == f"<!doctype html>\n<pre>{html}</pre>\n"


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "none"])
async def test_invalid_text_is_replaced(world: World, charset: str) -> None:
    head = f"From: x\r\nTo: y\r\nContent-Type: text/html; charset={charset}\r\n\r\n".encode()
    (world.outbox / f"{ID}.eml").write_bytes(head + b"a\xff\xedb")
    response = await world.request("GET", f"/mailbox/emails/{ID}.html")
    assert response.body.decode() == "a��b"
