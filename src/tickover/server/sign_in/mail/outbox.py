"""The development outbox: writes emails to files and prints them. They never leave the machine."""

import asyncio
import fcntl
import os
import re
import select
import sys
from contextlib import suppress
from io import UnsupportedOperation
from pathlib import Path

from tickover.api.terminal import escape
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail.mailer import Composer, Email, EmailKind, MailRejected

TIMESTAMP_FORMAT = "%Y%m%dT%H%M%S.%fZ"
SEQUENCE_FILE = ".sequence"
CODE_HEADER = "X-Tickover-Code"
LINK_HEADER = "X-Tickover-Link"
_HEADERS = {EmailKind.CODE: CODE_HEADER, EmailKind.LINK: LINK_HEADER}
"""Additional headers of emails in the outbox, for programs."""


class Outbox:
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

    async def close(self) -> None:
        """Do nothing: the outbox keeps no file open."""


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
