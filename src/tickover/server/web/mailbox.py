"""The mailbox: reads the emails in the development outbox, for test programs and the console."""

import os
import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import asdict

from tickover.api.fields import Result, Timestamp
from tickover.api.tokens import StoredEmail
from tickover.server.sign_in.mail.outbox import CODE_HEADER, LINK_HEADER, TIMESTAMP_FORMAT

if TYPE_CHECKING:
    from email.message import Message

ID: Final = re.compile(r"n[0-9]{12}-[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
"""The name of an email's file without `.eml`. Names sort in the order of sending."""
_MAX_READ: Final = 1000
"""Emails that one request reads, so that a search in a full outbox ends soon."""
_MAX_LISTED: Final = 100
_MAX_HEAD_BYTES: Final = 64 * 1024
_MAX_EMAIL_BYTES: Final = 1024 * 1024
"""The rest of a longer file is not read. Emails of this server have a few thousand bytes."""

_T = TypeVar("_T")


class EmailSummary(Result, frozen=True, kw_only=True):
    """An email in the list."""

    id: str
    to: str
    subject: str
    sent_at: Timestamp
    code: str | None = None
    login_url: str | None = None


class EmailDetails(StoredEmail, frozen=True, kw_only=True):
    """An email with its source."""

    source: str


class Mailbox:
    """Reads the emails that any server process has written to an outbox folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def latest_email(self, to: str) -> StoredEmail | None:
        """Return the newest email to an address, if it is among the last 1,000."""
        header = f"\r\nTo: {to}\r\n".encode()

        def to_email(id: str, source: bytes) -> StoredEmail | None:
            head = b"\r\n%b\r\n" % source.partition(b"\r\n\r\n")[0]
            return _to_email(id, source) if header in head else None

        return next(filter(None, (self._read(id, to_email) for id in self._ids())), None)

    def list_emails(self) -> list[EmailSummary]:
        """Return the last 100 emails, newest first."""
        summaries = filter(None, (self._read(id, _to_summary, _MAX_HEAD_BYTES) for id in self._ids()))
        return list(islice(summaries, _MAX_LISTED))

    def get_email(self, id: str) -> EmailDetails | None:
        """Return an email, or None if there is none with this ID."""
        return self._read(id, _to_details)

    def get_html(self, id: str) -> str | None:
        """Return the HTML of an email, or None if there is none with this ID.

        The HTML is not sanitized. Serve it in a sandbox, with a Content-Security-Policy.
        """
        return self._read(id, lambda _, source: _part(_parse(source), "text/html"))

    def _ids(self) -> list[str]:
        """Return the IDs of the last emails, newest first."""
        try:
            names = [file.name.removesuffix(".eml") for file in self._folder.iterdir() if file.suffix == ".eml"]
        except OSError:
            return []
        return sorted(filter(ID.fullmatch, names), reverse=True)[:_MAX_READ]

    def _read(self, id: str, convert: Callable[[str, bytes], _T | None], limit: int = _MAX_EMAIL_BYTES) -> _T | None:
        """Read and convert an email. Return None if the file is missing or is not an email of this server."""
        if not ID.fullmatch(id):
            return None
        try:
            return convert(id, _read_file(self._folder / f"{id}.eml", limit))
        except (OSError, ValueError, RecursionError):
            return None


def _read_file(path: Path, limit: int) -> bytes:
    """Read the start of a regular file. Raise OSError for others: some have no end, and some block."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a regular file")
        return file.read(limit)


def _fields(id: str, message: "Message") -> dict[str, Any]:
    """Return the fields that all forms of an email have. Raise ValueError if the timestamp in the ID is invalid."""
    return {
        "id": id,
        "to": _header(message, "To") or "",
        "subject": _header(message, "Subject") or "",
        "sent_at": datetime.strptime(id.partition("-")[2], TIMESTAMP_FORMAT).replace(tzinfo=UTC),
        "code": _header(message, CODE_HEADER),
        "login_url": _header(message, LINK_HEADER),
    }


def _to_summary(id: str, source: bytes) -> EmailSummary | None:
    head = _parse(source.partition(b"\r\n\r\n")[0])
    return EmailSummary(**_fields(id, head)) if "To" in head else None


def _to_email(id: str, source: bytes) -> StoredEmail:
    message = _parse(source)
    return StoredEmail(**_fields(id, message), text=_part(message, "text/plain") or "")


def _to_details(id: str, source: bytes) -> EmailDetails:
    text = source.decode("utf-8", "replace").replace("\r\n", "\n")
    return EmailDetails(**asdict(_to_email(id, source)), source=text)


def _parse(source: bytes) -> "Message":
    # Imported here because it takes long, and only the mailbox needs it.
    from email import message_from_bytes

    return message_from_bytes(source)


def _header(message: "Message", name: str) -> str | None:
    """Return the first header with this name, on one line.

    The library returns bytes that are not ASCII as surrogates.
    """
    first = next((value for key, value in message.raw_items() if key.lower() == name.lower()), None)
    if first is None:
        return None
    return re.sub(r"\r?\n", "", first.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _part(message: "Message", content_type: str) -> str | None:
    """Return the first part with this content type, as text without the line break at its end."""
    for part in message.walk():
        content = part.get_payload(decode=True)
        if part.get_content_type() == content_type and isinstance(content, bytes):
            return content.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n")
    return None
