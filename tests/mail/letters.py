"""What the tests of mail send."""

from datetime import UTC, datetime

from tickover.api.timestamps import Moment
from tickover.server.domain import email_addresses
from tickover.server.ports import Letter, Subject

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
SENDER = "Tickover <tickover@example.test>"
ANA = "ana@example.test"
LINK = "https://tickover.example.test/login#token=" + "aB3-_" * 8 + "xyz"


def letter(to: str = ANA, kind: Subject = Subject.CODE, secret: str = "012345", sent_at: Moment = NOW) -> Letter:
    return Letter(email_addresses.parse(to), kind, secret, 10, sent_at)


def link_letter(to: str = ANA, secret: str = LINK) -> Letter:
    return Letter(email_addresses.parse(to), Subject.LINK, secret, 60, NOW)
