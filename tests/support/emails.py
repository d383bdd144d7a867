"""Emails for tests."""

from datetime import UTC, datetime

from tickover.api.timestamps import Instant
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.mail.mailer import Email, EmailKind

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
SENDER = "Tickover <tickover@example.test>"
ANA = "ana@example.test"
LINK = "https://tickover.example.test/login#token=" + "aB3-_" * 8 + "xyz"


def make_email(
    to: str = ANA, kind: EmailKind = EmailKind.CODE, secret: str = "012345", sent_at: Instant = NOW
) -> Email:
    return Email(EmailAddress.parse(to), kind, secret, 10, sent_at)


def make_link_email(to: str = ANA, secret: str = LINK) -> Email:
    return Email(EmailAddress.parse(to), EmailKind.LINK, secret, 60, NOW)
