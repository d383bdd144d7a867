"""Opens what a server opens at its start, and the mail server, and closes it again."""

from contextlib import closing
from typing import Final

from aiosmtplib import SMTPAuthenticationError, SMTPException, SMTPResponseException

from tickover.api.errors import Rejection
from tickover.server.app import open_certificate, open_database, open_tracing
from tickover.server.listeners import open_listeners
from tickover.server.logs import Log
from tickover.server.settings import SettingError, Settings
from tickover.server.sign_in.mail import open_mailer
from tickover.server.sign_in.mail.smtp import SmtpMailer
from tickover.server.storage.urls import describe_error
from tickover.server.workers import check_workers


async def find_problems(settings: Settings, log: Log) -> list[str]:
    """Return a message for each part that a server with these settings can't use."""
    problems = []
    for check in _CHECKS:
        try:
            await check(settings, log)
        except (SettingError, Rejection) as error:
            problems.append(str(error))
    return problems


async def _check_ports(settings: Settings, _: Log) -> None:
    check_workers(settings)
    with closing(open_listeners(settings, shared=False)):
        pass


async def _check_certificate(settings: Settings, log: Log) -> None:
    open_certificate(settings, log)


async def _check_database(settings: Settings, log: Log) -> None:
    store, _ = await open_database(settings, log)
    try:
        await store.ping()
    finally:
        await store.close()


async def _check_mail(settings: Settings, log: Log) -> None:
    mailer = open_mailer(settings.mail_url, settings.mail_from, settings.data_dir / "outbox", log)
    if not isinstance(mailer, SmtpMailer):
        return
    try:
        await mailer.check()
    except (SMTPException, OSError) as failure:
        raise SettingError(_explain(mailer.host, failure)) from failure


def _explain(host: str, failure: Exception) -> str:
    reason = describe_error(failure)
    advice = "Check the host, port and TLS in TICKOVER_MAIL_URL, and firewalls. SSL_CERT_FILE can add an authority."
    if isinstance(failure, SMTPResponseException):
        reason = f"{failure.code} {describe_error(Exception(failure.message))}"
        advice = "Use a TICKOVER_MAIL_FROM that the mail server accepts, or look at its log."
    if isinstance(failure, SMTPAuthenticationError):
        advice = "Correct the user and password in TICKOVER_MAIL_URL."
    return f"The mail server {host} can't be used: {reason}. {advice}"


async def _check_tracing(settings: Settings, _: Log) -> None:
    tracing = open_tracing(settings)
    if tracing is not None:
        tracing.close()


_CHECKS: Final = (_check_ports, _check_certificate, _check_database, _check_mail, _check_tracing)
