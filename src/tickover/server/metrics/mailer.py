"""Metrics of emails."""

import asyncio

from tickover.server.metrics.numbers import Recorder
from tickover.server.sign_in.mail.mailer import Email, Mailer, MailOutcomeUnknown, MailRejected


class MeasuredMailer:
    """A mailer that counts its emails and measures their delivery."""

    def __init__(self, mailer: Mailer, recorder: Recorder) -> None:
        self._mailer = mailer
        self._recorder = recorder
        self.is_local = mailer.is_local

    async def deliver(self, email: Email) -> None:
        time = asyncio.get_running_loop().time
        began = time()
        try:
            await self._mailer.deliver(email)
        except MailRejected:
            self._recorder.record_email("rejected", time() - began)
            raise
        except MailOutcomeUnknown:
            self._recorder.record_email("unknown", time() - began)
            raise
        self._recorder.record_email("sent", time() - began)

    async def close(self) -> None:
        await self._mailer.close()
