"""The mailbox of the development outbox: its letters as a program reads them."""

import asyncio
import re
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from tickover.core.results import KeptLetter
from tickover.mail.outbox import CODE_HEADER, LINK_HEADER, STAMP

_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z-[0-9]+-[0-9]+\.eml")
"""The outbox's own, which sort by time."""
_MOST_READ = 1000
"""Of a full outbox, so that whoever asks for a letter that is not there is told so soon."""


class Mailbox:
    """Reads what the outbox of any process has kept in this folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def latest(self, to: str) -> KeptLetter | None:
        """The newest letter to an address, if it is among the last thousand."""
        return await asyncio.to_thread(self._latest, to)

    def _latest(self, to: str) -> KeptLetter | None:
        wanted = f"\r\nTo: {to}\r\n".encode()
        for name in self._names():
            try:
                written = (self._folder / name).read_bytes()
                if wanted in written.partition(b"\r\n\r\n")[0]:
                    return _read(name.removesuffix(".eml"), to, message_from_bytes(written))
            except (OSError, ValueError):
                continue  # its owner has just deleted it, or it is none of ours
        return None

    def _names(self) -> list[str]:
        """Of the last letters, the newest first."""
        try:
            names = [file.name for file in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(filter(_NAME.fullmatch, names), reverse=True)[:_MOST_READ]


def _read(name: str, to: str, letter: Message) -> KeptLetter:
    """The letter; ValueError when its name is no instant."""
    sent_at = datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
    # Plain strings, whatever kinds of them they are.
    subject, code, link = (
        str(letter[header]) if header in letter else None for header in ("Subject", CODE_HEADER, LINK_HEADER)
    )
    return KeptLetter(
        id=name,
        to="".join(to),
        subject=subject or "",
        sent_at=sent_at,
        code=code,
        login_url=link,
        text=_text_of(letter),
    )


def _text_of(letter: Message) -> str:
    for part in letter.walk():
        content = part.get_payload(decode=True)
        if part.get_content_type() == "text/plain" and isinstance(content, bytes):
            return content.decode("utf-8", "replace").replace("\r\n", "\n")
    return ""
