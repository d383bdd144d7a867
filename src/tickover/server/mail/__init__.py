"""Mailers: each keeps the promises of `mail.mailer.Mailer` in one way of sending."""

from pathlib import Path

from structlog.stdlib import BoundLogger

from tickover.server.mail.compose import Composer
from tickover.server.mail.mailer import Mailer
from tickover.server.mail.outbox import Outbox
from tickover.server.mail.smtp import SmtpMailer
from tickover.server.settings import OUTBOX, SettingError


def open_mailer(url: str, sender: str, outbox: Path, log: BoundLogger) -> Mailer:
    """The mailer that the URL names: the development outbox, or an SMTP server."""
    composer = Composer(sender)
    if url == OUTBOX:
        return Outbox(outbox, composer)
    if url.startswith(("smtp://", "smtps://")):
        return SmtpMailer(url, composer, log)
    raise SettingError("TICKOVER_MAIL_URL must be outbox:, or look like smtp://user:password@host:587 or smtps://….")
