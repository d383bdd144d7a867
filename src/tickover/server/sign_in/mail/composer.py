"""Composes emails from one sender."""

from email.utils import getaddresses

from tickover.server.settings import SettingError
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.mail.mailer import Email


class Composer:
    """Raises SettingError if the sender's address is invalid."""

    def __init__(self, sender: str) -> None:
        try:
            ((self._name, address),) = getaddresses([sender])
            self.sender_address = EmailAddress.parse(address)
            if not self.sender_address.isascii() or not self._name.isprintable():
                raise ValueError("invalid sender")
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None

    def compose(self, email: Email) -> bytes:
        from tickover.server.sign_in.mail.message import build_message

        return build_message(self._name, self.sender_address, email)
