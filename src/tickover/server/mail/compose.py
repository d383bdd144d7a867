"""Letters as people read them: from templates, in plain text and HTML, with headers that nothing can be put into.

Their MIME form is always the same, two parts in quoted-printable, and is written here; the library's way to it, for any
form there is, takes longer than all else in a sign-in.
"""

from binascii import b2a_qp
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses, make_msgid

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from tickover.server.domain import email_addresses
from tickover.server.mail.mailer import Email, EmailKind
from tickover.server.settings import SettingError

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are switched off for your address",
}
# Quoted-printable writes every `=` as `=3D`, so no part can hold this.
_BOUNDARY = "=_tickover"
_MIME_HEADERS = ("MIME-Version: 1.0", f'Content-Type: multipart/alternative; boundary="{_BOUNDARY}"')


class Composer:
    """Writes letters from one sender. Raises SettingError if the sender is not an address."""

    def __init__(self, sender: str) -> None:
        try:
            ((name, address),) = getaddresses([sender])
            self.sender_address = email_addresses.parse(address)
            self._from = _written("From", Address(name, addr_spec=self.sender_address))
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None
        self._domain = self.sender_address.rpartition("@")[2]
        self._templates = Environment(
            loader=PackageLoader("tickover.server.mail"),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )

    def compose(self, letter: Email) -> bytes:
        """The letter as it goes over the wire, in UTF-8 where its address is not ASCII."""
        headers = (
            # To the letter: the library would read an odd address, such as =?utf-8?q?x?=@example.com, otherwise.
            f"To: {letter.to}",
            f"Subject: {_SUBJECTS[letter.kind].format(secret=letter.secret)}",
            f"Date: {format_datetime(letter.sent_at)}",
            f"Message-ID: {make_msgid(domain=self._domain)}",
            "Auto-Submitted: auto-generated",
            *_MIME_HEADERS,
        )
        # All of it was checked when it came in, or is ours; here is the last place where that can be seen to be so.
        if any("\r" in header or "\n" in header for header in headers):
            raise ValueError("a header has a line break in it")
        head = self._from + "".join(f"{header}\r\n" for header in headers).encode()
        parts = _part("plain", self._render(letter, "txt")) + _part("html", self._render(letter, "html"))
        return b"%b\r\n%b--%b--\r\n" % (head, parts, _BOUNDARY.encode())

    def _render(self, letter: Email, form: str) -> str:
        template = self._templates.get_template(f"{letter.kind}.{form}")
        return template.render(secret=letter.secret, minutes=letter.lifetime_minutes, to=letter.to)


def _part(kind: str, text: str) -> bytes:
    """One of the two forms of a letter. Not every server takes eight bits or long lines, and every one takes this."""
    head = f'--{_BOUNDARY}\r\nContent-Type: text/{kind}; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable'
    body = b2a_qp(text.replace("\n", "\r\n").encode(), istext=True)
    return b"%b\r\n\r\n%b\r\n" % (head.encode(), body)


def _written(name: str, value: Address) -> bytes:
    """One header as it goes over the wire, encoded and folded where needed."""
    message = EmailMessage(policy=SMTP)
    message[name] = value
    return message.as_bytes().removesuffix(b"\r\n")
