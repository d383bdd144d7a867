"""Emails, and the interface `Mailer`, which delivers them."""

from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from tickover.api.timestamps import Instant

MAIL_TIMEOUT_SECONDS: Final = 10.0
"""For the whole SMTP conversation about one email."""


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


class MailRejected(Exception):
    """The email was not accepted."""


class MailOutcomeUnknown(Exception):
    """It is unknown whether the email was accepted."""


class Mailer(Protocol):
    is_local: bool
    """True if emails never leave this machine. Every client of the server can then read them."""

    async def deliver(self, email: Email) -> None:
        """Return when the email is accepted; otherwise raise MailRejected or MailOutcomeUnknown."""
