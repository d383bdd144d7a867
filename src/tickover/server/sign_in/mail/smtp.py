"""Sends emails by SMTP, with a time limit for each email, over connections that are reused."""

import asyncio
import re
from contextlib import ExitStack, closing, suppress
from urllib.parse import unquote, urlsplit

from aiosmtplib import SMTP, SMTPException, SMTPNotSupported, SMTPResponseException

from tickover.api.limits import MAIL_TIMEOUT
from tickover.server.logs import Log
from tickover.server.networks import is_loopback
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Email, MailOutcomeUnknown, MailRejected

_TIMEOUT_SECONDS = MAIL_TIMEOUT.total_seconds()
_REUSE_TIMEOUT_SECONDS = 1.0
_IDLE_SECONDS = 15.0
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class SmtpMailer:
    is_local = False

    def __init__(self, url: str, composer: Composer, log: Log) -> None:
        """Raise SettingError if the URL is invalid."""
        try:
            parts = urlsplit(url)
            has_more = parts.path not in ("", "/") or parts.query or parts.fragment
            if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.port == 0 or has_more:
                raise ValueError("invalid URL")
        except ValueError:
            raise SettingError(
                "TICKOVER_MAIL_URL must be outbox:, or look like smtp://user:password@host:587 or smtps://…."
            ) from None
        self._host = parts.hostname
        self._port = parts.port or (465 if parts.scheme == "smtps" else 587)
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        self._uses_implicit_tls = parts.scheme == "smtps"
        self._composer = composer
        self._log = log
        self._idle: dict[SMTP, asyncio.TimerHandle] = {}

    async def deliver(self, email: Email) -> None:
        _check_recipient(email.to)
        # Until DATA begins, an interrupted conversation means that the email was not accepted.
        if_interrupted: type[Exception] = MailRejected
        with ExitStack() as on_failure:
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    connection = await self._start_email(email, on_failure)
                    if_interrupted = MailOutcomeUnknown
                    await connection.data(self._composer.compose(email))
            except SMTPResponseException as response:
                # Log only the code, because the text may contain the email address.
                self._log.warning("the mail server rejected an email", code=response.code)
                raise (MailRejected if 400 <= response.code <= 599 else if_interrupted) from response
            except (SMTPException, OSError) as error:
                self._log.warning("the mail server doesn't respond", **_describe(error))
                raise if_interrupted from error
            on_failure.pop_all()
            self._release(connection)

    async def check(self) -> None:
        """Connect, sign in and send the sender as for an email, but send none.

        Raise SMTPException or OSError on failure.
        """
        with closing(self._new_connection()) as connection:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await self._connect(connection)
            await _quit(connection)

    async def _start_email(self, email: Email, on_failure: ExitStack) -> SMTP:
        """Send sender and recipient on an idle or a new connection, and return the connection."""
        if self._idle:
            connection = self._take_idle()
            on_failure.callback(connection.close)
            try:
                async with asyncio.timeout(_REUSE_TIMEOUT_SECONDS):
                    await self._send_sender(connection, email.to)
            except (SMTPException, OSError):
                connection.close()
                # The other idle connections are probably dead too.
                while self._idle:
                    self._take_idle().close()
            else:
                await self._send_recipient(connection, email)
                return connection
        connection = self._new_connection()
        on_failure.callback(connection.close)
        await self._connect(connection, email.to)
        await self._send_recipient(connection, email)
        return connection

    async def _connect(self, connection: SMTP, recipient: str = "") -> None:
        """Connect, sign in, and send the sender."""
        await connection.connect()
        if connection.is_ehlo_or_helo_needed:
            await connection.ehlo()
        await self._send_sender(connection, recipient)

    def _release(self, connection: SMTP) -> None:
        """Keep the connection for the next email for a short time. Mail servers limit open connections."""
        self._idle[connection] = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._close_idle, connection)

    def _close_idle(self, connection: SMTP) -> None:
        del self._idle[connection]
        connection.close()

    def _take_idle(self) -> SMTP:
        """Return the idle connection that was used last."""
        connection, timer = self._idle.popitem()
        timer.cancel()
        return connection

    async def _send_sender(self, connection: SMTP, recipient: str) -> None:
        parameters = [] if recipient.isascii() else [b"SMTPUTF8"]
        if parameters and not connection.supports_extension("smtputf8"):
            raise SMTPNotSupported("the server accepts ASCII addresses only")
        await _send_command(connection, b"MAIL FROM:<%b>" % self._composer.sender_address.encode(), *parameters)

    async def _send_recipient(self, connection: SMTP, email: Email) -> None:
        await _send_command(connection, b"RCPT TO:<%b>" % email.to.encode())

    def _new_connection(self) -> SMTP:
        # A password is never sent without TLS, except to loopback. Without a password, TLS is optional.
        needs_tls = self._user and not self._uses_implicit_tls and not is_loopback(self._host)
        return SMTP(
            hostname=self._host,
            port=self._port,
            username=self._user,
            password=self._password,
            use_tls=self._uses_implicit_tls,
            start_tls=True if needs_tls else None,
            timeout=_TIMEOUT_SECONDS,
        )

    async def close(self) -> None:
        connections = [self._take_idle() for _ in range(len(self._idle))]
        await asyncio.gather(*(_quit(connection) for connection in connections))


def _describe(error: Exception) -> dict[str, str]:
    """Return the fields of a failure for the log.

    The message of a network error comes from this machine. Other messages may contain the email address.
    """
    # aiosmtplib wraps network errors.
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    message = {"error": str(cause)} if isinstance(cause, OSError) and str(cause) else {}
    return {"cause": type(cause).__name__, **message}


def _check_recipient(address: str) -> None:
    """Raise ValueError for an address that would end its SMTP command. Addresses were validated before."""
    if _CONTROL_CHARACTERS.search(address):
        raise ValueError("the recipient's address has a control character in it")


async def _send_command(connection: SMTP, *command: bytes) -> None:
    """Send a MAIL or RCPT command verbatim. aiosmtplib would reformat the address."""
    response = await connection.execute_command(*command)
    if response.code not in (250, 251):
        raise SMTPResponseException(response.code, response.message)


async def _quit(connection: SMTP) -> None:
    with suppress(SMTPException, OSError):
        await connection.quit(timeout=_REUSE_TIMEOUT_SECONDS)
    connection.close()
