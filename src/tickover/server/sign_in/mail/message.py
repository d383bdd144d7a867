"""Builds emails from templates, as plain text and HTML. The first email imports it, because that takes long."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import make_msgid

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from tickover.server.sign_in.mail.mailer import Email, EmailKind

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are turned off for your address",
}
_POLICY = SMTP.clone(max_line_length=76)
_TEMPLATES = Environment(
    loader=PackageLoader("tickover.server.sign_in.mail"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    auto_reload=False,
)


def build_message(name: str, address: str, email: Email) -> bytes:
    """Return the email in its wire format. An address that is not ASCII is in UTF-8."""
    sender = Address(name, addr_spec=address)
    # The address was validated before. This is a second defence against header injection.
    if "\r" in email.to or "\n" in email.to:
        raise ValueError("an address has a line break in it")
    message = EmailMessage(policy=_POLICY)
    message["From"] = sender
    message["Subject"] = _SUBJECTS[email.kind].format(secret=email.secret)
    message["Date"] = email.sent_at
    message["Message-ID"] = make_msgid(domain=sender.domain)
    message["Auto-Submitted"] = "auto-generated"
    # Some servers reject 8-bit text and long lines.
    message.set_content(_render(email, "txt"), cte="quoted-printable")
    message.add_alternative(_render(email, "html"), subtype="html", cte="quoted-printable")
    # Written verbatim: the library decodes addresses such as =?utf-8?q?x?=@example.com.
    return f"To: {email.to}\r\n".encode() + message.as_bytes()


def _render(email: Email, extension: str) -> str:
    template = _TEMPLATES.get_template(f"{email.kind}.{extension}")
    return template.render(secret=email.secret, minutes=email.lifetime_minutes, to=email.to)
