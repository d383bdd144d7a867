"""Emails from one sender, and the interface `Mailer`, which delivers them."""

from email.utils import getaddresses
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from tickover.api.timestamps import Instant
from tickover.server.settings import SettingError
from tickover.server.sign_in import email_addresses


class EmailKind(StrEnum):
    """The purpose of an email. The value names its template."""

    CODE = "code"
    LINK = "link"
    CODES_STOPPED = "codes_stopped"


class Email(Struct, frozen=True):
    """An email to one address."""

    to: str
    kind: EmailKind
    secret: str
    """The code or the whole login link; empty for CODES_STOPPED."""
    lifetime_minutes: int
    sent_at: Instant


class Composer:
    """Composes emails from one sender. Raises SettingError if the sender's address is invalid."""

    def __init__(self, sender: str) -> None:
        try:
            ((self._name, address),) = getaddresses([sender])
            self.sender_address = email_addresses.parse(address)
            if not self.sender_address.isascii() or not self._name.isprintable():
                raise ValueError("invalid sender")
        except ValueError:
            raise SettingError(
                f"TICKOVER_MAIL_FROM must look like Tickover <login@example.com>, not {sender!r}."
            ) from None

    def compose(self, email: Email) -> bytes:
        from tickover.server.sign_in.mail.message import build_message

        return build_message(self._name, self.sender_address, email)


class MailRejected(Exception):
    """The email was not accepted."""


class MailOutcomeUnknown(Exception):
    """It is unknown whether the email was accepted."""


class Mailer(Protocol):
    is_local: bool
    """True if emails never leave this machine. Every client of the server can then read them."""

    async def deliver(self, email: Email) -> None:
        """Return when the email is accepted; otherwise raise MailRejected or MailOutcomeUnknown."""

    async def close(self) -> None:
        """Close all connections."""
