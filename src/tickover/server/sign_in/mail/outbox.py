"""The development outbox: writes emails to files, which the mailbox reads. They never leave the machine."""

import asyncio
import fcntl
import os
import re
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from io import UnsupportedOperation
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tickover.api.access_tokens import EmailSummary, StoredEmail
from tickover.api.terminal import escape
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind, MailRejected

TIMESTAMP_FORMAT = "%Y%m%dT%H%M%S.%fZ"
SEQUENCE_FILE = ".sequence"
CODE_HEADER = "X-Tickover-Code"
LINK_HEADER = "X-Tickover-Link"
_HEADERS = {EmailKind.CODE: CODE_HEADER, EmailKind.LINK: LINK_HEADER}
"""Additional headers of emails in the outbox, for programs."""
ID: Final = re.compile(r"n[0-9]{12}-[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
"""The name of an email's file without `.eml`. Names sort in the order of sending."""
_MAX_READ: Final = 1000
"""Emails that one request reads, so that a search in a full outbox ends soon."""
_MAX_LISTED: Final = 100
_MAX_EMAIL_BYTES: Final = 1024 * 1024
"""The rest of a longer file is not read. Emails of this server have a few thousand bytes."""


class Outbox:
    """Writes emails to a folder."""

    is_local = True

    def __init__(self, folder: Path, composer: Composer) -> None:
        self._folder = folder
        self._composer = composer
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"Can't create the outbox {folder}: {error.strerror}.") from None

    async def deliver(self, email: Email) -> None:
        try:
            await asyncio.to_thread(self._write, email)
        except OSError as error:
            raise MailRejected from error
        # The email is stored, so a closed or blocked terminal doesn't matter.
        with suppress(OSError, ValueError):
            if _can_print():
                line = f"  ✉ {email.to}  {email.kind.replace('_', ' ')}  {email.secret}".rstrip()
                print(escape(line), flush=True)

    def _write(self, email: Email) -> None:
        """Write the email atomically. File names sort in the order of sending."""
        name = f"n{_next_number(self._folder):012}-{email.sent_at:{TIMESTAMP_FORMAT}}"
        header = f"{_HEADERS[email.kind]}: {email.secret}\r\n" if email.kind in _HEADERS else ""
        temporary = self._folder / f".{name}"
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(header.encode() + self._composer.compose(email))
            temporary.rename(self._folder / f"{name}.eml")
        finally:
            temporary.unlink(missing_ok=True)


def _next_number(folder: Path) -> int:
    """Return a number greater than all earlier ones, across processes and restarts.

    The system clock can be set back, so timestamps don't give the order of emails.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    with os.fdopen(os.open(folder / SEQUENCE_FILE, flags, 0o600), "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        last = file.read(20)
        number = (int(last) if last.isdigit() else _highest_number(folder)) + 1
        os.pwrite(file.fileno(), b"%012d" % number, 0)
        return number


def _highest_number(folder: Path) -> int:
    numbers = (re.match(r"n([0-9]{12})-", file.name) for file in folder.iterdir())
    return max((int(number[1]) for number in numbers if number), default=0)


def _can_print() -> bool:
    """Return whether stdout accepts a line now. A full pipe would block the whole server."""
    try:
        return bool(select.select([], [sys.stdout.fileno()], [], 0)[1])
    except (UnsupportedOperation, AttributeError):
        # stdout is not a file.
        return True


class EmailDetails(StoredEmail, frozen=True, kw_only=True):
    """An email with its source."""

    source: str


class Mailbox:
    """Reads the emails that any server process has written to an outbox folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def latest_email(self, to: str) -> StoredEmail | None:
        """Return the newest email to an address, if it is among the last 1,000."""
        for id, source in self._emails():
            if _header(source, "To") == to:
                return StoredEmail(**_fields(id, source), text=_part(source, "text/plain") or "")
        return None

    def list_emails(self) -> list[EmailSummary]:
        """Return the last 100 emails, newest first."""
        return [EmailSummary(**_fields(id, source)) for id, source in islice(self._emails(), _MAX_LISTED)]

    def get_email(self, id: str) -> EmailDetails | None:
        """Return an email, or None if there is none with this ID."""
        if (source := self._read(id)) is None:
            return None
        text = _part(source, "text/plain") or ""
        return EmailDetails(**_fields(id, source), text=text, source=_decode(source))

    def get_html(self, id: str) -> str | None:
        """Return the HTML of an email, or None if there is none with this ID.

        The HTML is not sanitized. Serve it in a sandbox, with a Content-Security-Policy.
        """
        source = self._read(id)
        return None if source is None else _part(source, "text/html")

    def _emails(self) -> Iterator[tuple[str, bytes]]:
        """Yield the last emails, newest first. Files that are no emails are left out."""
        names = [file.stem for file in self._folder.glob("*.eml")]
        for id in sorted(filter(ID.fullmatch, names), reverse=True)[:_MAX_READ]:
            source = self._read(id)
            if source is not None and _header(source, "To"):
                yield id, source

    def _read(self, id: str) -> bytes | None:
        """Return the start of a regular file, or None. Some other files have no end, and some block."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self._folder / f"{id}.eml", flags), "rb") as file:
                return file.read(_MAX_EMAIL_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
        except OSError:
            return None


def _fields(id: str, source: bytes) -> dict[str, Any]:
    """Return the fields that all forms of an email have."""
    return {
        "id": id,
        "to": _header(source, "To") or "",
        "subject": _header(source, "Subject") or "",
        "sent_at": datetime.fromisoformat(id.partition("-")[2]),
        "code": _header(source, CODE_HEADER),
        "login_url": _header(source, LINK_HEADER),
    }


def _header(source: bytes, name: str) -> str | None:
    """Return the first header with this name. The outbox writes each of these headers on one line."""
    head = source.partition(b"\r\n\r\n")[0]
    found = re.search(rb"^%b: (.*?)\r?$" % name.encode(), head, re.MULTILINE)
    return _decode(found[1]) if found else None


def _part(source: bytes, content_type: str) -> str | None:
    """Return the first part with this content type, as text without the line break at its end."""
    # Imported here because it takes long, and only the mailbox needs it.
    from email import message_from_bytes

    for part in message_from_bytes(source).walk():
        content = part.get_payload(decode=True)
        if part.get_content_type() == content_type and isinstance(content, bytes):
            return _decode(content).removesuffix("\n")
    return None


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n")
