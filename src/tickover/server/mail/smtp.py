"""Real mail: ten seconds at the most for each letter, over connections that are kept for the next."""

import asyncio
import re
from collections.abc import Awaitable
from contextlib import suppress
from datetime import timedelta
from urllib.parse import unquote, urlsplit

from aiosmtplib import SMTP, SMTPException, SMTPNotSupported, SMTPResponseException
from structlog.stdlib import BoundLogger

from tickover.api.limits import MAIL_CONVERSATION
from tickover.server.mail.compose import Composer
from tickover.server.mail.mailer import Email, MailOutcomeUnknown, MailRefused
from tickover.server.settings import SettingError, is_loopback

_STILL_THERE_SECONDS = 1.0
_IDLE_SECONDS = 15.0
_NOT_ON_ONE_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class SmtpMailer:
    stays_here = False

    def __init__(
        self, url: str, composer: Composer, log: BoundLogger, conversation: timedelta = MAIL_CONVERSATION
    ) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            port = 0
        if port == 0:
            raise SettingError("TICKOVER_MAIL_URL must have a host, and a port from 1 to 65535 or none.")
        if not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise SettingError("TICKOVER_MAIL_URL must look like smtp://user:password@host:587 or smtps://….")
        self._host = parts.hostname
        self._port = port or (465 if parts.scheme == "smtps" else 587)
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        self._tls_from_the_start = parts.scheme == "smtps"
        self._composer = composer
        self._log = log
        self._seconds = conversation.total_seconds()
        self._idle: dict[SMTP, asyncio.TimerHandle] = {}

    async def deliver(self, email: Email) -> None:
        _check_recipient(email.to)
        server = None
        # What is known if the conversation breaks off: until the email itself is under way, it was not accepted.
        if_broken_off: type[Exception] = MailRefused
        try:
            async with asyncio.timeout(self._seconds):
                server = await self._addressed(email)
                if_broken_off = MailOutcomeUnknown
                await server.data(self._composer.compose(email))
            self._keep(server)
            server = None
        except SMTPResponseException as answer:
            # Only the code: the server's words may repeat the address.
            self._log.warning("the mail server refused a email", answer=answer.code)
            raise (MailRefused if 400 <= answer.code <= 599 else if_broken_off) from answer
        except (SMTPException, OSError) as error:
            self._log.warning("the mail server does not answer", error=type(error).__name__)
            raise if_broken_off from error
        finally:
            if server is not None:
                server.close()

    async def _addressed(self, letter: Email) -> SMTP:
        """A connection, kept or new, on which the letter's sender and recipient were accepted."""
        if self._idle:
            server = self._take()
            try:
                async with asyncio.timeout(_STILL_THERE_SECONDS):
                    await _or_close(server, self._say_sender(server, letter))
            except (SMTPException, OSError):
                # Where one is dead the others will be: better to greet anew than to ask them all.
                while self._idle:
                    self._take().close()
            else:
                return await _or_close(server, self._say_recipient(server, letter))
        server = self._server()
        return await _or_close(server, self._greet_and_address(server, letter))

    async def _greet_and_address(self, server: SMTP, letter: Email) -> None:
        await server.connect()
        if server.is_ehlo_or_helo_needed:
            await server.ehlo()
        await self._say_sender(server, letter)
        await self._say_recipient(server, letter)

    def _keep(self, server: SMTP) -> None:
        """Keep the connection for the next letter, but not for long: servers count those that are open."""
        self._idle[server] = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._let_go, server)

    def _let_go(self, server: SMTP) -> None:
        del self._idle[server]
        server.close()

    def _take(self) -> SMTP:
        """The connection that was used last."""
        server, timer = self._idle.popitem()
        timer.cancel()
        return server

    async def _say_sender(self, server: SMTP, letter: Email) -> None:
        parameters = [] if letter.to.isascii() else [b"SMTPUTF8"]
        if parameters and not server.supports_extension("smtputf8"):
            raise SMTPNotSupported("the server takes ASCII addresses only")
        await _say(server, b"MAIL FROM:<%b>" % self._composer.sender_address.encode(), *parameters)

    async def _say_recipient(self, server: SMTP, letter: Email) -> None:
        await _say(server, b"RCPT TO:<%b>" % letter.to.encode())

    def _server(self) -> SMTP:
        return SMTP(
            hostname=self._host,
            port=self._port,
            username=self._user,
            password=self._password,
            use_tls=self._tls_from_the_start,
            # A password never crosses a network in the clear; without one, TLS is used when it is offered.
            start_tls=True if self._user and not self._tls_from_the_start and not is_loopback(self._host) else None,
            timeout=self._seconds,
        )

    async def close(self) -> None:
        servers = [self._take() for _ in range(len(self._idle))]
        await asyncio.gather(*(_say_goodbye(server) for server in servers))


def _check_recipient(address: str) -> None:
    """Refuse an address that would end its SMTP command. It was checked before; this guards against a mistake there."""
    if _NOT_ON_ONE_LINE.search(address):
        raise ValueError("the recipient's address has a control character in it")


async def _say(server: SMTP, *command: bytes) -> None:
    """Say who it is from or to. The addresses were checked by us, and are said to the letter."""
    response = await server.execute_command(*command)
    if response.code not in (250, 251):
        raise SMTPResponseException(response.code, response.message)


async def _or_close(server: SMTP, talk: Awaitable[object]) -> SMTP:
    """The connection after this talk; closed if it does not come to its end, even for want of time."""
    came_to_its_end = False
    try:
        await talk
        came_to_its_end = True
    finally:
        if not came_to_its_end:
            server.close()
    return server


async def _say_goodbye(server: SMTP) -> None:
    with suppress(SMTPException, OSError):
        await server.quit(timeout=_STILL_THERE_SECONDS)
    server.close()
