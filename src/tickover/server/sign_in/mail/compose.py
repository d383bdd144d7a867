"""Renders emails from templates, as plain text and HTML."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses, make_msgid
from functools import cached_property
from typing import TYPE_CHECKING

from tickover.server.settings import SettingError
from tickover.server.sign_in import email_addresses
from tickover.server.sign_in.mail.mailer import Email, EmailKind

if TYPE_CHECKING:
    from jinja2 import Environment

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are turned off for your address",
}
_POLICY = SMTP.clone(max_line_length=76)


class Composer:
    """Composes emails from one sender. Raises SettingError if the sender's address is invalid."""

    def __init__(self, sender: str) -> None:
        try:
            ((name, address),) = getaddresses([sender])
            self.sender_address = email_addresses.parse(address)
            self._sender = Address(name, addr_spec=self.sender_address)
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None

    @cached_property
    def _templates(self) -> "Environment":
        """The templates. Their library is imported for the first email, so that the server starts faster."""
        from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

        return Environment(
            loader=PackageLoader("tickover.server.sign_in.mail"),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
        )

    def compose(self, email: Email) -> bytes:
        """Return the email in its wire format. An address that is not ASCII is in UTF-8."""
        # The address was validated before. This is a second defence against header injection.
        if "\r" in email.to or "\n" in email.to:
            raise ValueError("an address has a line break in it")
        message = EmailMessage(policy=_POLICY)
        message["From"] = self._sender
        message["Subject"] = _SUBJECTS[email.kind].format(secret=email.secret)
        message["Date"] = email.sent_at
        message["Message-ID"] = make_msgid(domain=self._sender.domain)
        message["Auto-Submitted"] = "auto-generated"
        # Some servers reject 8-bit text and long lines.
        message.set_content(self._render(email, "txt"), cte="quoted-printable")
        message.add_alternative(self._render(email, "html"), subtype="html", cte="quoted-printable")
        # Written verbatim: the library decodes addresses such as =?utf-8?q?x?=@example.com.
        return f"To: {email.to}\r\n".encode() + message.as_bytes()

    def _render(self, email: Email, extension: str) -> str:
        template = self._templates.get_template(f"{email.kind}.{extension}")
        return template.render(secret=email.secret, minutes=email.lifetime_minutes, to=email.to)
