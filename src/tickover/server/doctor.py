"""Checks everything that a server needs, without starting one and without changing your data."""

import logging
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

import httpx2
from aiosmtplib import SMTPAuthenticationError, SMTPException, SMTPResponseException
from rich import filesize

from tickover.api import timestamps
from tickover.api.errors import Rejection
from tickover.api.timestamps import Instant
from tickover.server.logs import Log
from tickover.server.metrics.numbers import cause_of
from tickover.server.networks import is_loopback
from tickover.server.settings import OUTBOX, SETTINGS, SettingError, Settings, exposure_reason
from tickover.server.sign_in.mail import open_mailer
from tickover.server.sign_in.mail.smtp import SmtpMailer
from tickover.server.storage import open_store, schema_version
from tickover.server.storage.admin.statistics import Statistics, data_folder, find_growth_error, read_statistics
from tickover.server.storage.urls import describe_error, is_postgres, redact_url, sqlite_path
from tickover.server.web.handler import wall_clock

_LITTLE_SPACE: Final = 2**30
_NO_SPACE: Final = 100 * 2**20
_SLIGHT_SKEW_SECONDS: Final = 1.0
_GREAT_SKEW_SECONDS: Final = 60.0
_HTTP_SECONDS: Final = 5.0
_OTHERS: Final = stat.S_IWGRP | stat.S_IRWXO
"""Groups may read, because a secret is often given to a service through its group."""


class Check(NamedTuple):
    """The result of a check."""

    status: Literal["ok", "warning", "error"]
    message: str
    advice: str = ""


async def run_checks(
    read_settings: Callable[[], Settings], environment: Mapping[str, str]
) -> AsyncIterator[tuple[str, Check]]:
    """Yield the name and the result of each check as soon as it is known."""
    try:
        settings = read_settings()
        redact_url(settings.database_url)
    except SettingError as failure:
        yield "settings", Check("error", str(failure), "Correct the setting. Then run this command again.")
        return
    yield "settings", Check("ok", "All settings are valid.")
    url, folder = settings.database_url, data_folder(settings.database_url, settings.data_dir)
    skew = None
    try:
        found = await read_statistics(url, wall_clock) if is_postgres(url) or sqlite_path(url).exists() else None
    except SettingError as failure:
        yield "database", Check("error", str(failure), _advice(failure))
    else:
        yield "database", await _check_database(url, found)
        if found is not None:
            skew = found.clock_skew_seconds
            yield "schema", check_schema(found.schema_version, schema_version(url))
    yield "disk", check_disk(shutil.disk_usage(folder).free, folder)
    yield "mail", await check_mail(settings)
    yield "clock", check_clock(wall_clock(), skew)
    yield "public URL", await _check_public_url(settings)
    yield "proxies", check_proxies(settings)
    for check in check_permissions(settings, environment):
        yield "permissions", check


async def _check_database(url: str, found: Statistics | None) -> Check:
    if found is None:
        return Check("ok", f"{redact_url(url)} doesn't exist yet. The first start creates it.")
    if found.schema_version != schema_version(url):
        # Opening the store would migrate it.
        return Check("ok", f"{redact_url(url)} responds. Its size is {filesize.decimal(found.bytes)}.")
    try:
        store = await open_store(url, 1)
        try:
            await store.ping()
        finally:
            await store.close()
        if is_postgres(url) and (full := await find_growth_error(url)):
            return Check("error", f"{redact_url(url)} can't grow: {full}.", _ADVICE["disk_full"])
    except (SettingError, Rejection) as failure:
        cause = failure.__cause__
        reason = describe_error(cause if isinstance(cause, Exception) else failure)
        return Check("error", f"{redact_url(url)} accepts no writes: {reason}.", _advice(failure))
    return Check("ok", f"{redact_url(url)} accepts writes. Its size is {filesize.decimal(found.bytes)}.")


_ADVICE: Final = {
    "disk_full": "Free some space on the disk of the database.",
    "read_only": "Use the primary, not a standby. Check default_transaction_read_only, or the mode of the file.",
    "lock": "Another program holds a lock. Find it, with PostgreSQL in pg_locks, and end its transaction.",
    "too_many_connections": "Raise max_connections, or lower TICKOVER_DATABASE_CONNECTIONS or TICKOVER_WORKERS.",
    "timeout": "Check the load of the database, and that a firewall allows the connection.",
    "connection": "Start the database, or correct the host and port in TICKOVER_DATABASE_URL.",
    "access": "Correct the user, password and name in TICKOVER_DATABASE_URL, or the permissions of the user.",
}
"""Advice by the cause of a failure of the database."""


def _advice(failure: Exception) -> str:
    cause = failure.__cause__ or failure
    return _ADVICE.get(cause_of(cause), "Look at the log of the database, or correct TICKOVER_DATABASE_URL.")


def check_schema(found: int, newest: int) -> Check:
    if found > newest:
        message = f"The schema has version {found}, but this Tickover supports only versions up to {newest}."
        return Check("error", message, "Run the newer Tickover that upgraded the database.")
    if found < newest:
        message = f"The schema has version {found}. The next start migrates it to version {newest}."
        return Check("warning", message, "Make a backup first. To migrate in advance, run `tickover migrate`.")
    return Check("ok", f"The schema is up to date: version {found}.")


def check_disk(free: int, folder: Path) -> Check:
    message = f"{filesize.decimal(free)} are free in {folder}."
    if free < _NO_SPACE:
        return Check("error", message, "Free some space. Without space, calls return UNAVAILABLE.")
    if free < _LITTLE_SPACE:
        return Check("warning", message, "Free some space.")
    return Check("ok", message)


async def check_mail(settings: Settings) -> Check:
    if settings.mail_url == OUTBOX:
        if exposure := exposure_reason(settings):
            message = f"Emails go to the outbox {exposure}, so anyone who can reach the server can sign in as any user."
            return Check("warning", message, "Set TICKOVER_MAIL_URL to your mail server.")
        return Check("ok", f"Emails aren't sent. They go to {settings.data_dir / 'outbox'}.")
    host = urlsplit(settings.mail_url).hostname
    # A check logs nothing: its failure is the result.
    log = Log(logging.getLogger("tickover.doctor"))
    try:
        mailer = open_mailer(settings.mail_url, settings.mail_from, settings.data_dir / "outbox", log)
        assert isinstance(mailer, SmtpMailer)
        await mailer.check()
    except SettingError as failure:
        return Check("error", str(failure), "Correct the setting.")
    except (SMTPException, OSError) as failure:
        return _mail_error(host, failure)
    return Check("ok", f"The mail server {host} accepts the sender {settings.mail_from}. No email was sent.")


def _mail_error(host: str | None, failure: Exception) -> Check:
    reason = describe_error(failure)
    advice = "Check the host, port and TLS in TICKOVER_MAIL_URL, and firewalls. SSL_CERT_FILE can add an authority."
    if isinstance(failure, SMTPResponseException):
        reason = f"{failure.code} {describe_error(Exception(failure.message))}"
        advice = "Use a TICKOVER_MAIL_FROM that the mail server accepts, or look at its log."
    if isinstance(failure, SMTPAuthenticationError):
        advice = "Correct the user and password in TICKOVER_MAIL_URL."
    return Check("error", f"The mail server {host} can't be used: {reason}.", advice)


def check_clock(now: Instant, skew: float | None) -> Check:
    if not timestamps.EARLIEST_NOW <= now < timestamps.LATEST_NOW:
        return Check("error", f"This machine's clock says {timestamps.write(now)}.", "Set the clock with NTP.")
    if skew is None:
        return Check("ok", f"This machine's clock says {timestamps.write(now)}.")
    message = f"This machine's clock is {abs(skew):.1f} s {'ahead of' if skew >= 0 else 'behind'} the database's."
    if abs(skew) >= _GREAT_SKEW_SECONDS:
        return Check("error", message, "Synchronize both clocks with NTP. Codes could expire too early or too late.")
    if abs(skew) >= _SLIGHT_SKEW_SECONDS:
        return Check("warning", message, "Synchronize both clocks with NTP.")
    return Check("ok", message)


async def _check_public_url(settings: Settings) -> Check:
    url = settings.public_url
    if not url:
        if is_loopback(settings.host):
            return Check("ok", "Login links point to this machine, because only it can reach the server.")
        message = "TICKOVER_PUBLIC_URL isn't set, so login links point to this machine."
        return Check("warning", message, "Set it to the address that your users open.")
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_loopback(str(parts.hostname)):
        message = f"{url} has no TLS, so others on the network can read login links and tokens."
        return Check("warning", message, "Put a TLS proxy in front, and use https://.")
    try:
        async with httpx2.AsyncClient(timeout=_HTTP_SECONDS) as client:
            response = await client.get(f"{url}/healthz")
    except (httpx2.HTTPError, httpx2.InvalidURL) as failure:
        message = f"{url} doesn't respond: {str(failure).rstrip('.') or type(failure).__name__}."
        return Check("warning", message, "If the server runs, check the proxy, its certificate and the name.")
    if (response.status_code, response.text) != (200, "alive\n"):
        message = f"{url}/healthz returns {response.status_code}, not the response of a Tickover server."
        return Check("warning", message, "If the server runs, check the path in the proxy's configuration.")
    return Check("ok", f"{url} reaches a Tickover server.")


def check_proxies(settings: Settings) -> Check:
    too_wide = [network for network in settings.trusted_proxies if network.prefixlen < _MIN_PREFIX[network.version]]
    if too_wide:
        message = f"TICKOVER_TRUSTED_PROXIES trusts {too_wide[0]}, so clients can forge their address."
        return Check("error", message, "List only the addresses of your proxies.")
    public_host = urlsplit(settings.public_url).hostname
    if public_host and not is_loopback(public_host) and not settings.trusted_proxies:
        message = "The public URL names another host, but TICKOVER_TRUSTED_PROXIES is empty."
        return Check("warning", message, "Add the address of your proxy, or all clients share one rate limit.")
    trusted = ", ".join(map(str, settings.trusted_proxies))
    return Check("ok", f"X-Forwarded-For is trusted from {trusted}." if trusted else "No proxy is trusted.")


_MIN_PREFIX: Final = {4: 8, 6: 16}


def check_permissions(settings: Settings, environment: Mapping[str, str]) -> Iterator[Check]:
    private = [settings.data_dir, settings.data_dir / "secret.key", settings.data_dir / "outbox"]
    if not is_postgres(settings.database_url):
        private.append(sqlite_path(settings.database_url))
    private += [Path(file) for setting in SETTINGS if (file := environment.get(setting.file_variable, ""))]
    existing = [path for path in private if path.exists()]
    for path in existing:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            message = f"Other users may be able to use {path} (mode {mode:03o})."
            yield Check("warning", message, f"Run: chmod go= {path}")
        if not os.access(path, os.R_OK):
            message = f"This user can't read {path}."
            yield Check("error", message, "Run this command as the server's user, or change the file's owner.")
    if settings.data_dir.exists() and not os.access(settings.data_dir, os.W_OK):
        message = f"This user can't write to {settings.data_dir}."
        yield Check("error", message, "Change the owner of the folder, or set TICKOVER_DATA_DIR to another one.")
    yield Check("ok", f"Checked {len(existing)} files and folders.")
