"""Renders emails from templates, as plain text and HTML.

All emails have the same MIME structure: two quoted-printable parts. This module writes it directly, because the
standard library's general encoder took longer than the rest of a sign-in.
"""

from binascii import b2a_qp
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses, make_msgid
from functools import cached_property
from typing import TYPE_CHECKING

from tickover.server.domain import email_addresses
from tickover.server.mail.mailer import Email, EmailKind
from tickover.server.settings import SettingError

if TYPE_CHECKING:
    from jinja2 import Environment

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are turned off for your address",
}
# Quoted-printable encodes every `=` as `=3D`, so no part contains this boundary.
_BOUNDARY = "=_tickover"
_MIME_HEADERS = ("MIME-Version: 1.0", f'Content-Type: multipart/alternative; boundary="{_BOUNDARY}"')


class Composer:
    """Composes emails from one sender. Raises SettingError if the sender's address is invalid."""

    def __init__(self, sender: str) -> None:
        try:
            ((name, address),) = getaddresses([sender])
            self.sender_address = email_addresses.parse(address)
            self._from = _encode_header("From", Address(name, addr_spec=self.sender_address))
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None
        self._domain = self.sender_address.rpartition("@")[2]

    @cached_property
    def _templates(self) -> "Environment":
        """The templates. Their library is imported for the first email, so that the server starts faster."""
        from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

        return Environment(
            loader=PackageLoader("tickover.server.mail"),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )

    def compose(self, email: Email) -> bytes:
        """Return the email in its wire format. An address that is not ASCII is in UTF-8."""
        headers = (
            # Written verbatim: the library decodes addresses such as =?utf-8?q?x?=@example.com.
            f"To: {email.to}",
            f"Subject: {_SUBJECTS[email.kind].format(secret=email.secret)}",
            f"Date: {format_datetime(email.sent_at)}",
            f"Message-ID: {make_msgid(domain=self._domain)}",
            "Auto-Submitted: auto-generated",
            *_MIME_HEADERS,
        )
        # The values were validated before. This is a second defence against header injection.
        if any("\r" in header or "\n" in header for header in headers):
            raise ValueError("a header has a line break in it")
        head = self._from + "".join(f"{header}\r\n" for header in headers).encode()
        parts = _encode_part("plain", self._render(email, "txt")) + _encode_part("html", self._render(email, "html"))
        return b"%b\r\n%b--%b--\r\n" % (head, parts, _BOUNDARY.encode())

    def _render(self, email: Email, extension: str) -> str:
        template = self._templates.get_template(f"{email.kind}.{extension}")
        return template.render(secret=email.secret, minutes=email.lifetime_minutes, to=email.to)


def _encode_part(subtype: str, text: str) -> bytes:
    """Return a MIME part in quoted-printable, because some servers reject 8-bit text and long lines."""
    head = (
        f'--{_BOUNDARY}\r\nContent-Type: text/{subtype}; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable'
    )
    body = b2a_qp(text.replace("\n", "\r\n").encode(), istext=True)
    return b"%b\r\n\r\n%b\r\n" % (head.encode(), body)


def _encode_header(name: str, value: Address) -> bytes:
    """Return a header in its wire format, encoded and folded if necessary."""
    message = EmailMessage(policy=SMTP)
    message[name] = value
    return message.as_bytes().removesuffix(b"\r\n")
