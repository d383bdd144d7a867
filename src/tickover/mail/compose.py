"""Letters as people read them: from templates, in plain text and HTML, with headers that nothing can be put into."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, make_msgid, parseaddr

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from tickover.core import addresses
from tickover.core.logins import Kind
from tickover.ports import Letter
from tickover.settings import SettingError

_SUBJECTS = {Kind.CODE: "{secret} is your Tickover code", Kind.LINK: "Sign in to Tickover"}


class Composer:
    """Writes letters from one sender. Raises SettingError if the sender is not an address."""

    def __init__(self, sender: str) -> None:
        name, address = parseaddr(sender)
        try:
            self.sender_address = addresses.parse(address)
            self._sender = Address(name, addr_spec=self.sender_address)
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None
        self._templates = Environment(
            loader=PackageLoader("tickover.mail"),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
        )

    def compose(self, letter: Letter) -> bytes:
        """The letter as it goes over the wire. Every value that goes into a header was checked before, or is ours."""
        message = EmailMessage(policy=SMTP if letter.to.isascii() else SMTPUTF8)
        message["From"] = self._sender
        message["To"] = Address(addr_spec=letter.to)
        message["Subject"] = _SUBJECTS[letter.kind].format(secret=letter.secret)
        message["Date"] = format_datetime(letter.sent_at)
        message["Message-ID"] = make_msgid(domain=self._sender.domain)
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(self._render(letter, "txt"))
        message.add_alternative(self._render(letter, "html"), subtype="html")
        return message.as_bytes()

    def _render(self, letter: Letter, form: str) -> str:
        template = self._templates.get_template(f"{letter.kind.lower()}.{form}")
        return template.render(secret=letter.secret, minutes=letter.lifetime_minutes, to=letter.to)
