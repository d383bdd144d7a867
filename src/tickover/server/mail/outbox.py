"""The development outbox: letters are kept as files and shown on the terminal, and never leave the machine."""

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
from tickover.server.mail.compose import Composer
from tickover.server.mail.mailer import Email, EmailKind, MailRefused
from tickover.server.settings import SettingError

STAMP = "%Y%m%dT%H%M%S.%fZ"
SEQUENCE_FILE = ".sequence"
CODE_HEADER = "X-Tickover-Code"
LINK_HEADER = "X-Tickover-Link"
_HEADERS = {EmailKind.CODE: CODE_HEADER, EmailKind.LINK: LINK_HEADER}
"""In letters that stay here, for programs that read them."""


class Outbox:
    stays_here = True

    def __init__(self, folder: Path, composer: Composer) -> None:
        self._folder = folder
        self._composer = composer
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"The outbox {folder} cannot be made: {error.strerror}.") from None

    async def deliver(self, email: Email) -> None:
        try:
            await asyncio.to_thread(self._keep, email)
        except OSError as error:
            raise MailRefused from error
        # A terminal that went away, or that nobody reads, is no reason to refuse a email that was kept.
        with suppress(OSError, ValueError):
            if _can_print():
                line = f"  ✉ {email.to}  {email.kind.replace('_', ' ')}  {email.secret}".rstrip()
                print(escape(line), flush=True)

    def _keep(self, letter: Email) -> None:
        """Write the letter whole or not at all, under a name that sorts in the order of sending."""
        name = f"n{_next_number(self._folder):012}-{letter.sent_at:{STAMP}}"
        header = f"{_HEADERS[letter.kind]}: {letter.secret}\r\n" if letter.kind in _HEADERS else ""
        unfinished = self._folder / f".{name}"
        try:
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(header.encode() + self._composer.compose(letter))
            unfinished.rename(self._folder / f"{name}.eml")
        finally:
            unfinished.unlink(missing_ok=True)

    async def close(self) -> None:
        """Nothing is held open."""


def _next_number(folder: Path) -> int:
    """Return a number greater than all before it, also those of other processes and of earlier runs.

    The wall clock can be set back, so it cannot say which email is newer.
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
    """Whether a line goes out at once: a pipe that nobody empties would hold up the whole server."""
    try:
        return bool(select.select([], [sys.stdout.fileno()], [], 0)[1])
    except (UnsupportedOperation, AttributeError):
        return True  # it is no file, but something in this process, or nothing at all
