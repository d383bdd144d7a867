"""A mailer that counts its emails and measures their delivery."""

import asyncio

from tickover.server.metrics.numbers import Recorder
from tickover.server.sign_in.mail.mailer import Email, Mailer, MailRejected


class MeasuredMailer:
    """A mailer that counts its emails and measures their delivery."""

    def __init__(self, mailer: Mailer, recorder: Recorder) -> None:
        self._mailer = mailer
        self._recorder = recorder
        self.is_local = mailer.is_local

    async def deliver(self, email: Email) -> None:
        time = asyncio.get_running_loop().time
        began, outcome = time(), "unknown"
        try:
            await self._mailer.deliver(email)
            outcome = "sent"
        except MailRejected:
            outcome = "rejected"
            raise
        finally:
            self._recorder.record_email(outcome, time() - began)
