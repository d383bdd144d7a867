"""The timeout of ten seconds for a conversation with the mail server.

The tests advance the time of the event loop, so they don't wait. Sockets are real.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.support.emails import SENDER, make_email
from tests.support.log_capture import LogCapture
from tests.support.mail_servers import MailServer, Silence, mail_server
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import MailOutcomeUnknown, MailRejected
from tickover.server.sign_in.mail.smtp import SmtpMailer


class _LoopOutOfTime(asyncio.SelectorEventLoop):
    """An event loop with a simulated time."""

    def __init__(self) -> None:
        self.passed = 0.0
        super().__init__()

    def time(self) -> float:
        return self.passed


class _Scene:
    """A server, a delivery and a simulated time."""

    def __init__(self, loop: _LoopOutOfTime, server: MailServer, mailer: SmtpMailer) -> None:
        self.server = server
        self._loop = loop
        self._mailer = mailer

    def deliver(self) -> "asyncio.Task[None]":
        return asyncio.create_task(self._mailer.deliver(make_email()))

    async def pass_time(self, seconds: float) -> None:
        """Advance the time, and run all timers that are due."""
        self._loop.passed += seconds
        for _ in range(50):
            await asyncio.sleep(0)


def _play(act: Callable[[_Scene], Awaitable[None]], log: LogCapture) -> None:
    with asyncio.Runner(loop_factory=_LoopOutOfTime) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, _LoopOutOfTime)

        async def scene() -> None:
            async with mail_server(timeout=1000) as server:
                await act(_Scene(loop, server, SmtpMailer(f"smtp://{server.address}", Composer(SENDER), log.log)))

        runner.run(scene())


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("connect", MailRejected),
        ("RCPT", MailRejected),
        (MailServer.END_OF_DATA, MailOutcomeUnknown),
    ],
)
def test_silent_server_times_out_after_ten_seconds(command: str, outcome: type[Exception], logged: LogCapture) -> None:
    async def act(scene: _Scene) -> None:
        silence = Silence("250 taken")
        scene.server.instead[command] = silence
        delivery = scene.deliver()
        await silence.begins(delivery)
        await scene.pass_time(9.99)
        assert not delivery.done()
        await scene.pass_time(0.01)
        assert delivery.done()
        assert isinstance(delivery.exception(), outcome)

    _play(act, logged)


def test_timeout_covers_all_steps(logged: LogCapture) -> None:
    """Each response is in time, but all together take too long."""

    async def act(scene: _Scene) -> None:
        silences = {command: Silence("250 fine") for command in ("EHLO", "MAIL", "RCPT")}
        scene.server.instead.update(silences)
        delivery = scene.deliver()
        for command in ("EHLO", "MAIL"):
            await silences[command].begins(delivery)
            await scene.pass_time(4)
            silences[command].over.set()
        await silences["RCPT"].begins(delivery)
        await scene.pass_time(1.99)
        assert not delivery.done()
        await scene.pass_time(0.01)
        assert delivery.done()
        assert isinstance(delivery.exception(), MailRejected)

    _play(act, logged)


def test_server_that_ignores_the_end_delays_an_accepted_email_by_one_second(logged: LogCapture) -> None:
    async def act(scene: _Scene) -> None:
        silence = Silence("221 bye")
        scene.server.instead["QUIT"] = silence
        delivery = scene.deliver()
        await silence.begins(delivery)
        await scene.pass_time(1)
        await delivery
        assert len(scene.server.emails) == 1

    _play(act, logged)
