"""Composed emails: headers, header injection, text and HTML."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser

import pytest

from tests.support.emails import ANA, LINK, NOW, SENDER, make_email, make_link_email
from tickover.server.settings import SettingError
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind

_HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]


def _read(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.SMTPUTF8)


def _body(message: EmailMessage, subtype: str) -> str:
    part = message.get_body((subtype,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


class _Page(HTMLParser):
    """Collects links and text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str | None] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("sent", "subject"),
    [
        pytest.param(make_email(), "012345 is your Tickover code", id="code"),
        pytest.param(make_link_email(), "Sign in to Tickover", id="link"),
    ],
)
def test_email_has_exact_headers_text_and_html(sent: Email, subject: str) -> None:
    composer = Composer(SENDER)
    message = _read(composer.compose(sent))
    assert sorted(message.keys()) == sorted(_HEADERS)
    assert (message["From"], message["To"], message["Subject"]) == (SENDER, ANA, subject)
    assert message["Date"].datetime == NOW
    assert message["Auto-Submitted"] == "auto-generated"
    assert re.fullmatch(r"<[^<>@\s]+@example\.test>", str(message["Message-ID"]))
    assert message["Message-ID"] != _read(composer.compose(sent))["Message-ID"]
    assert message.get_content_type() == "multipart/alternative"
    # Mail programs display the last part that they support.
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    for body in (_body(message, "plain"), _Page(_body(message, "html")).text):
        assert sent.secret in body
        assert f"It signs you in as {ANA}. It works once and expires in {sent.lifetime_minutes} minutes." in body


@pytest.mark.parametrize("injection", ["\r\nBcc: eve@example.test", "\nBcc: eve@example.test"])
@pytest.mark.parametrize(
    ("sender", "to", "secret"),
    [
        pytest.param(SENDER, f"{ANA}{{}}", "012345", id="to"),
        pytest.param(SENDER, '"{}"@x.test', "012345", id="in quotes"),
        pytest.param(SENDER, ANA, "012345{}", id="code"),
        pytest.param("Tick{} <a@example.test>", ANA, "012345", id="sender's name"),
        pytest.param("Tick <a{}@example.test>", ANA, "012345", id="sender's address"),
        pytest.param(f"{SENDER}{{}}", ANA, "012345", id="after the sender"),
    ],
)
def test_header_injection_is_rejected(sender: str, to: str, secret: str, injection: str) -> None:
    email = Email(to.format(injection), EmailKind.CODE, secret.format(injection), 10, NOW)
    with pytest.raises((ValueError, SettingError)):
        Composer(sender.format(injection)).compose(email)


@pytest.mark.parametrize(
    ("sender", "name", "address"),
    [
        ("login@example.test", "", "login@example.test"),
        ('"Clocks, Inc." <login@example.test>', "Clocks, Inc.", "login@example.test"),
        ("Tickövér <login@example.test>", "Tickövér", "login@example.test"),
        ("Tickover <LOGIN@BÜCHER.example>", "Tickover", "login@xn--bcher-kva.example"),
    ],
)
def test_sender_is_encoded(sender: str, name: str, address: str) -> None:
    composer = Composer(sender)
    content = composer.compose(make_email())
    assert content.isascii()
    [shown] = _read(content)["From"].addresses
    assert (shown.display_name, shown.addr_spec) == (name, address)
    assert composer.sender_address == address


@pytest.mark.parametrize(
    "sender", ["", "Tickover", "Tickover <>", "Tickover <login>", "a@x.test, b@x.test", "lögin@x.test"]
)
def test_invalid_sender_is_rejected(sender: str) -> None:
    with pytest.raises(SettingError, match="TICKOVER_MAIL_FROM"):
        Composer(sender)


def test_button_has_the_link() -> None:
    odd = f"{LINK}&c='3'&lt;<d>"
    page = _Page(_body(_read(Composer(SENDER).compose(make_link_email(secret=odd))), "html"))
    assert page.links == [odd]
    assert odd in page.text


@pytest.mark.parametrize("kind", EmailKind)
def test_address_is_escaped_in_html(kind: EmailKind) -> None:
    address = '"<b>&amp;</p><script>"@example.test'
    message = _read(Composer(SENDER).compose(Email(EmailAddress.parse(address), kind, "012345", 10, NOW)))
    page = _Page(_body(message, "html"))
    assert page.tags.isdisjoint({"b", "script"})
    assert address in page.text
    assert address in _body(message, "plain")


@pytest.mark.parametrize(
    "address",
    [
        '"ä ä"@example.test',
        '"a..b"@example.test',
        "=?utf-8?q?a?=@example.test",
        f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 58}.x",
    ],
)
def test_only_the_address_has_long_lines_and_8_bit_text(address: str) -> None:
    to, *lines = Composer(SENDER).compose(make_link_email(address, f"https://x.test/{'ü' * 99}")).split(b"\r\n")
    assert to == f"To: {address}".encode()
    assert all(line.isascii() and len(line) <= 76 for line in lines)
    assert not any(b"\n" in line or b"\r" in line for line in lines)
