"""Builds emails from templates, as plain text and HTML. The first email imports it, because that takes long."""

from binascii import b2a_qp
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from tickover.server.sign_in.mail.mailer import Email, EmailKind

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are turned off for your address",
}
_TEMPLATES = Environment(
    loader=PackageLoader("tickover.server.sign_in.mail"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    auto_reload=False,
)


_BOUNDARY = "=_tickover"
"""No text contains it: quoted-printable encodes each `=`."""


def build_message(name: str, address: str, email: Email) -> bytes:
    """Return the email in its wire format. An address that is not ASCII is in UTF-8."""
    subject = _SUBJECTS[email.kind].format(secret=email.secret)
    # Both were validated before. This is a second defence against header injection.
    if len(f"{email.to} {subject}".splitlines()) > 1:
        raise ValueError("an address or a subject has a line break in it")
    # The classes of the library take twenty times as long, and decode addresses such as =?utf-8?q?x?=@example.com.
    lines = [
        f"To: {email.to}",
        _sender_line(name, address),
        f"Subject: {subject}",
        f"Date: {format_datetime(email.sent_at)}",
        f"Message-ID: {make_msgid(domain=address.rpartition('@')[2])}",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/alternative; boundary="{_BOUNDARY}"',
        "",
        *_part("plain", _render(email, "txt")),
        *_part("html", _render(email, "html")),
        f"--{_BOUNDARY}--",
        "",
    ]
    return "\r\n".join(lines).encode()


@cache
def _sender_line(name: str, address: str) -> str:
    """Return the header with the sender. The library encodes names that are not ASCII."""
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(name, addr_spec=address)
    return message.as_string().strip()


def _part(subtype: str, text: str) -> list[str]:
    """Return the lines of a part. Some servers reject 8-bit text and long lines."""
    return [
        f"--{_BOUNDARY}",
        f'Content-Type: text/{subtype}; charset="utf-8"',
        "Content-Transfer-Encoding: quoted-printable",
        "",
        b2a_qp(text.replace("\n", "\r\n").encode()).decode(),
    ]


def _render(email: Email, extension: str) -> str:
    template = _TEMPLATES.get_template(f"{email.kind}.{extension}")
    return template.render(secret=email.secret, minutes=email.lifetime_minutes, to=email.to)
