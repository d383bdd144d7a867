"""Sends emails by SMTP, with a time limit for each email, over a connection of its own."""

import asyncio
import re
from contextlib import closing, suppress
from urllib.parse import unquote, urlsplit

from aiosmtplib import SMTP, SMTPException, SMTPNotSupported, SMTPResponseException

from tickover.server.logs import Log
from tickover.server.networks import is_loopback
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import MAIL_TIMEOUT_SECONDS, Email, MailOutcomeUnknown, MailRejected

_QUIT_SECONDS = 1.0
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
        self.host = parts.hostname
        self._port = parts.port or (465 if parts.scheme == "smtps" else 587)
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        self._uses_implicit_tls = parts.scheme == "smtps"
        self._composer = composer
        self._log = log

    async def deliver(self, email: Email) -> None:
        _check_recipient(email.to)
        # Until DATA begins, an interrupted conversation means that the email was not accepted.
        if_interrupted: type[Exception] = MailRejected
        with closing(self._new_connection()) as connection:
            try:
                async with asyncio.timeout(MAIL_TIMEOUT_SECONDS):
                    await self._connect(connection, email.to)
                    await _send_command(connection, b"RCPT TO:<%b>" % email.to.encode())
                    if_interrupted = MailOutcomeUnknown
                    await connection.data(self._composer.compose(email))
            except SMTPResponseException as response:
                # Log only the code, because the text may contain the email address.
                self._log.warning("the mail server rejected an email", code=response.code)
                raise (MailRejected if 400 <= response.code <= 599 else if_interrupted) from response
            except (SMTPException, OSError) as error:
                self._log.warning("the mail server doesn't respond", **_describe(error))
                raise if_interrupted from error
            await _quit(connection)

    async def check(self) -> None:
        """Connect, sign in and send the sender as for an email, but send none.

        Raise SMTPException or OSError on failure.
        """
        with closing(self._new_connection()) as connection:
            async with asyncio.timeout(MAIL_TIMEOUT_SECONDS):
                await self._connect(connection)
            await _quit(connection)

    async def _connect(self, connection: SMTP, recipient: str = "") -> None:
        """Connect, sign in, and send the sender."""
        await connection.connect()
        if connection.is_ehlo_or_helo_needed:
            await connection.ehlo()
        parameters = [] if recipient.isascii() else [b"SMTPUTF8"]
        if parameters and not connection.supports_extension("smtputf8"):
            raise SMTPNotSupported("the server accepts ASCII addresses only")
        await _send_command(connection, b"MAIL FROM:<%b>" % self._composer.sender_address.encode(), *parameters)

    def _new_connection(self) -> SMTP:
        # A password is never sent without TLS, except to loopback. Without a password, TLS is optional.
        needs_tls = self._user and not self._uses_implicit_tls and not is_loopback(self.host)
        return SMTP(
            hostname=self.host,
            port=self._port,
            username=self._user,
            password=self._password,
            use_tls=self._uses_implicit_tls,
            start_tls=True if needs_tls else None,
            timeout=MAIL_TIMEOUT_SECONDS,
        )


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
        await connection.quit(timeout=_QUIT_SECONDS)
