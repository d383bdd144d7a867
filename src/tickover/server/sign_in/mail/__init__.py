"""Sending emails: `open_mailer` opens the mailer for TICKOVER_MAIL_URL, either SMTP or the development outbox.

A call sends its email itself and waits for the mail server. There is no queue.
"""

from pathlib import Path

from tickover.server.logs import Log
from tickover.server.settings import OUTBOX
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Mailer
from tickover.server.sign_in.mail.outbox import Outbox


def open_mailer(url: str, sender: str, outbox: Path, log: Log) -> Mailer:
    """Open the development outbox or an SMTP mailer. Raise SettingError if the URL is invalid."""
    composer = Composer(sender)
    if url == OUTBOX:
        return Outbox(outbox, composer)
    from tickover.server.sign_in.mail.smtp import SmtpMailer

    return SmtpMailer(url, composer, log)
