"""Builds emails from templates, as plain text and HTML. The first email imports it, because that takes long."""

from email.charset import QP, Charset
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.policy import compat32
from email.utils import format_datetime, formataddr, make_msgid
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from tickover.server.sign_in.mail.mailer import Email, EmailKind

_SUBJECTS = {
    EmailKind.CODE: "{secret} is your Tickover code",
    EmailKind.LINK: "Sign in to Tickover",
    EmailKind.CODES_STOPPED: "Codes are turned off for your address",
}
_POLICY = compat32.clone(linesep="\r\n", max_line_length=76, mangle_from_=False)
# Some servers reject 8-bit text and long lines.
_QUOTED_PRINTABLE = Charset("utf-8")
_QUOTED_PRINTABLE.body_encoding = QP
_BOUNDARY = "=_tickover"
"""No text contains it: quoted-printable encodes each `=`. The library would search the texts for its own."""
_TEMPLATES = Path(__file__).with_name("templates")


def build_message(name: str, address: str, email: Email) -> bytes:
    """Return the email in its wire format. An address that is not ASCII is in UTF-8."""
    # Both were validated before. This is a second defence against header injection.
    if {"\r", "\n"} & {*email.to, *email.secret}:
        raise ValueError("an address or a secret has a line break in it")
    # EmailMessage takes three times as long, because it parses each header that it is given.
    message = MIMEMultipart("alternative", _BOUNDARY, policy=_POLICY)
    message["From"] = formataddr((name, address))
    message["Subject"] = _SUBJECTS[email.kind].format(secret=email.secret)
    message["Date"] = format_datetime(email.sent_at)
    message["Message-ID"] = make_msgid(domain=address.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.attach(_part("plain", _render_text(email)))
    message.attach(_part("html", _render_html(email)))
    # Written verbatim: the library decodes addresses such as =?utf-8?q?x?=@example.com.
    return f"To: {email.to}\r\n".encode() + message.as_bytes()


def _part(subtype: str, text: str) -> MIMENonMultipart:
    part = MIMENonMultipart("text", subtype, policy=_POLICY)
    part.set_payload(text, _QUOTED_PRINTABLE)
    return part


def _render_text(email: Email) -> str:
    return _template(f"{email.kind}.txt").substitute(_values(email))


def _render_html(email: Email) -> str:
    values = {name: escape(value) for name, value in _values(email).items()}
    return _template("base.html").substitute(body=_template(f"{email.kind}.html").substitute(values))


def _values(email: Email) -> dict[str, str]:
    return {"secret": email.secret, "minutes": str(email.lifetime_minutes), "to": email.to}


@cache
def _template(name: str) -> Template:
    return Template((_TEMPLATES / name).read_text("utf-8"))
