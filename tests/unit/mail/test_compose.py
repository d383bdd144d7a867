"""Composed emails: headers, header injection, text and HTML."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.emails import ANA, LINK, NOW, SENDER, make_email, make_link_email
from tickover.server.settings import SettingError
from tickover.server.sign_in import email_addresses
from tickover.server.sign_in.mail import message as messages
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind

_HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer(SENDER)


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


# Headers


_INJECTIONS = ["\r\nBcc: eve@example.test", "\nBcc: eve@example.test", "\rBcc: eve@example.test", "\r\n\r\nhello"]


@pytest.mark.parametrize(
    ("sent", "subject"),
    [
        pytest.param(make_email(), "012345 is your Tickover code", id="code"),
        pytest.param(make_link_email(), "Sign in to Tickover", id="link"),
    ],
)
def test_email_has_exact_headers_text_and_html(composer: Composer, sent: Email, subject: str) -> None:
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


@pytest.mark.parametrize("injection", _INJECTIONS)
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda evil: (SENDER, Email(ANA + evil, EmailKind.CODE, "012345", 10, NOW)), id="to"),
        pytest.param(lambda evil: (SENDER, Email(evil + ANA, EmailKind.CODE, "012345", 10, NOW)), id="before to"),
        pytest.param(
            lambda evil: (SENDER, Email(f'"{evil}"@x.test', EmailKind.CODE, "012345", 10, NOW)), id="in quotes"
        ),
        pytest.param(lambda evil: (SENDER, Email(ANA, EmailKind.CODE, "012345" + evil, 10, NOW)), id="code"),
        pytest.param(lambda evil: (SENDER, Email(ANA, EmailKind.LINK, LINK + evil, 10, NOW)), id="link"),
        pytest.param(lambda evil: (f"Tick{evil} <a@example.test>", make_email()), id="sender's name"),
        pytest.param(lambda evil: (f"Tick <a{evil}@example.test>", make_email()), id="sender's address"),
        pytest.param(lambda evil: (SENDER + evil, make_email()), id="after the sender"),
    ],
)
def test_header_injection_is_rejected(made: object, injection: str) -> None:
    assert callable(made)
    sender, sent = made(injection)
    try:
        content = Composer(sender).compose(sent)
    except (ValueError, SettingError):
        return  # The whole email is rejected.
    message = _read(content)
    assert sorted(message.keys()) == sorted(_HEADERS)
    assert len(message["From"].addresses) == len(message["To"].addresses) == 1


# Senders


@pytest.mark.parametrize(
    ("sender", "name", "address"),
    [
        ("login@example.test", "", "login@example.test"),
        ("Tickover <login@example.test>", "Tickover", "login@example.test"),
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


# Bodies


def test_button_has_the_link(composer: Composer) -> None:
    odd = "https://x.test/?a=1&b=\"2\"&c='3'&lt;<d>#token=x"
    page = _Page(_body(_read(composer.compose(make_link_email(secret=odd))), "html"))
    assert page.links == [odd]
    assert odd in page.text


@pytest.mark.parametrize("kind", EmailKind)
def test_address_is_escaped_in_html(composer: Composer, kind: EmailKind) -> None:
    address = '"<b>&amp;</p><script>"@example.test'
    message = _read(composer.compose(Email(email_addresses.parse(address), kind, "012345", 10, NOW)))
    page = _Page(_body(message, "html"))
    assert page.tags.isdisjoint({"b", "script"})
    assert address in page.text
    assert address in _body(message, "plain")


# Wire format


def _decoded(content: bytes) -> list[tuple[str, str | None, str]]:
    """Return content type, charset and text of both parts."""
    parts = [part for part in _read(content).walk() if not part.is_multipart()]
    return [
        (part.get_content_type(), part.get_content_charset(), bytes(part.get_payload(decode=True) or b"").decode())
        for part in parts
    ]


def _rendered(sent: Email) -> list[tuple[str, str | None, str]]:
    texts = [messages._render(sent, form).replace("\n", "\r\n") for form in ("txt", "html")]
    return [("text/plain", "utf-8", texts[0]), ("text/html", "utf-8", texts[1])]


def _check_form(content: bytes) -> None:
    """Only the address may have 8-bit characters."""
    assert content.count(b"\n") == content.count(b"\r") == content.count(b"\r\n")
    lines = [line for line in content.split(b"\r\n") if not line.startswith(b"To: ")]
    assert len(lines) == content.count(b"\r\n"), "there is one address"
    assert all(line.isascii() and b"\0" not in line for line in lines)
    assert max(map(len, lines)) <= 76


def test_text_cannot_contain_the_boundary(composer: Composer) -> None:
    boundary = _read(composer.compose(make_email())).get_boundary()
    sent = make_link_email(secret=f"\n--{boundary}\n\nIn between.\n--{boundary}--\nAfter the end.\n")
    assert _decoded(composer.compose(sent)) == _rendered(sent)


@settings(deadline=None, max_examples=25)
@given(secret=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=300))
@example("a" * 76)
@example("a" * 77)
@example("=" * 900)
@example("a" * 74 + "=")
@example("ü" * 75 + "€" * 40 + "😀" * 30)
@example("\n.\n..\n.hidden\n. \n")
@example("trailing \n\t\n  \n \t")
@example("a\x0bb\x0cc\x1cd\x85e\u2028f\x00")
def test_text_round_trips_exactly(composer: Composer, secret: str) -> None:
    sent = make_link_email("änä@bücher.example", secret)
    content = composer.compose(sent)
    assert _decoded(content) == _rendered(sent)
    assert secret.replace("\n", "\r\n") in _decoded(content)[0][2]
    _check_form(content)


# All valid addresses

_ATEXT = "abcxyz0189!#$%&'*+-/=?^_`{|}~"
_atoms = st.text(_ATEXT + "äßñ用户😀", min_size=1, max_size=12)
_dotted = st.lists(_atoms, min_size=1, max_size=4).map(".".join)
_in_quotes = st.lists(
    st.one_of(st.sampled_from(_ATEXT + " .,:;<>@()[]äß用"), st.sampled_from(['\\"', "\\\\", "\\a", "=?utf-8?q?a?="])),
    min_size=1,
    max_size=20,
).map(lambda pieces: f'"{"".join(pieces)}"')
_labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
_domains = st.one_of(
    st.lists(_labels, min_size=1, max_size=4).map(".".join),
    st.sampled_from(["localhost", "bücher.example", "例え.test", "x.test"]),
)


def _accepted(text: str) -> str | None:
    try:
        return email_addresses.parse(text)
    except ValueError:
        return None


def _to_header(content: bytes) -> str:
    """Return the unfolded value of To, without the library's parser."""
    [value] = re.findall(rb"^To:(.*(?:\r\n[ \t].*)*)\r$", content.partition(b"\r\n\r\n")[0] + b"\r", re.MULTILINE)
    return bytes(value).replace(b"\r\n", b"").decode().strip(" ")


def _meaning(address: str) -> tuple[str, str]:
    """Return local part and domain without needless quotes."""
    local, _, domain = address.rpartition("@")
    if local.startswith('"'):
        assert local.endswith('"')
        return re.sub(r"\\(.)", r"\1", local[1:-1]), domain
    assert re.fullmatch(r"[^\s.\"\\(),:;<>@\[\]]+(\.[^\s.\"\\(),:;<>@\[\]]+)*", local), f"{local} has to be in quotes"
    return local, domain


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(address=st.tuples(st.one_of(_dotted, _in_quotes), _domains).map("@".join).map(_accepted).filter(bool))
@example(address="änä@example.test")
@example(address='"ä ä"@example.test')
@example(address='"."@example.test')
@example(address='"a..b"@example.test')
@example(address="=?utf-8?q?a?=@example.test")
@example(address=f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 58}.x")
@example(address=f'"{"a b" * 20}"@{"b" * 63}.{"c" * 63}.{"d" * 50}.x')
def test_every_valid_address_gets_an_email(composer: Composer, address: str) -> None:
    sent = make_email(address)
    content = composer.compose(sent)
    assert _meaning(_to_header(content)) == _meaning(address)
    assert content.isascii() == address.isascii()
    assert _decoded(content) == _rendered(sent)
    _check_form(content)
