"""The mailbox of the development outbox: its letters as programs and the console read them."""

import asyncio
import os
import re
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from tickover.api.results import Result, StoredEmail, Timestamp
from tickover.server.mail.email_pages import LetterPage, page_of_html, page_of_text
from tickover.server.mail.outbox import CODE_HEADER, LINK_HEADER, STAMP

_STAMP: Final = r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z"
ID: Final = re.compile(rf"(?:n[0-9]{{12}}-{_STAMP}|{_STAMP}-[0-9]{{1,20}}-[0-9]{{1,20}})")
"""The name of an email's file without `.eml`. Names sort in the order of sending.

The second form is that of earlier releases. It sorts by time, and before the first.
"""
_MAX_READ: Final = 1000
"""Of a full outbox, so that whoever asks for a letter that is not there is told so soon."""
_MAX_LISTED: Final = 100
_LONGEST_HEAD: Final = 64 * 1024
_LONGEST_LETTER: Final = 1024 * 1024
"""Bytes; ours have a few thousand, and of a longer one no more is read."""

_T = TypeVar("_T")


class ListedLetter(Result, frozen=True, kw_only=True):
    """A letter among others."""

    id: str
    to: str
    subject: str
    sent_at: Timestamp
    code: str | None = None
    login_url: str | None = None


class WholeLetter(StoredEmail, frozen=True, kw_only=True):
    """A letter with all that there is to see of it."""

    headers: list[tuple[str, str]]
    source: str


class Mailbox:
    """Reads what the outbox of any process has kept in this folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def latest(self, to: str) -> StoredEmail | None:
        """The newest letter to an address, if it is among the last thousand."""
        return await asyncio.to_thread(self._latest, to)

    async def letters(self) -> list[ListedLetter]:
        """The last hundred letters, the newest first."""
        return await asyncio.to_thread(lambda: list(islice(self._listed(), _MAX_LISTED)))

    async def letter(self, id: str) -> WholeLetter | None:
        """A letter by its id, if there is one."""
        return await asyncio.to_thread(self._read, id, _whole)

    async def page(self, id: str) -> LetterPage | None:
        """A letter as a person sees it, if there is one."""
        return await asyncio.to_thread(self._read, id, _page)

    def _latest(self, to: str) -> StoredEmail | None:
        wanted = f"\r\nTo: {to}\r\n".encode()

        def kept(id: str, written: bytes) -> StoredEmail | None:
            return _kept(id, written) if wanted in written.partition(b"\r\n\r\n")[0] else None

        return next(filter(None, (self._read(id, kept) for id in self._ids())), None)

    def _listed(self) -> Iterator[ListedLetter]:
        return filter(None, (self._read(id, _listed, _LONGEST_HEAD) for id in self._ids()))

    def _ids(self) -> list[str]:
        """Of the last letters, the newest first."""
        try:
            names = [file.name.removesuffix(".eml") for file in self._folder.iterdir() if file.suffix == ".eml"]
        except OSError:
            return []
        return sorted(filter(ID.fullmatch, names), reverse=True)[:_MAX_READ]

    def _read(self, id: str, view: Callable[[str, bytes], _T | None], most: int = _LONGEST_LETTER) -> _T | None:
        """A view of a letter; None when there is none, its owner has just deleted it, or it is none of ours."""
        if not ID.fullmatch(id):
            return None
        try:
            return view(id, _content(self._folder / f"{id}.eml", most))
        except (OSError, ValueError, RecursionError):
            return None


def _content(path: Path, most: int) -> bytes:
    """The beginning of a file; OSError when it is no ordinary one, of which some would never end, or never begin."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no ordinary file")
        return file.read(most)


def _sent_at(id: str) -> datetime:
    """ValueError when it is no instant."""
    parts = id.split("-")
    return datetime.strptime(parts[id.startswith("n")], STAMP).replace(tzinfo=UTC)


def _listed(id: str, written: bytes) -> ListedLetter | None:
    head = message_from_bytes(written.partition(b"\r\n\r\n")[0])
    if "To" not in head:
        return None
    return ListedLetter(
        id=id,
        to=_header(head, "To") or "",
        subject=_header(head, "Subject") or "",
        sent_at=_sent_at(id),
        code=_header(head, CODE_HEADER),
        login_url=_header(head, LINK_HEADER),
    )


def _kept(id: str, written: bytes) -> StoredEmail:
    letter = message_from_bytes(written)
    return StoredEmail(
        id=id,
        to=_header(letter, "To") or "",
        subject=_header(letter, "Subject") or "",
        sent_at=_sent_at(id),
        code=_header(letter, CODE_HEADER),
        login_url=_header(letter, LINK_HEADER),
        text=_part(letter, "text/plain") or "",
    )


def _whole(id: str, written: bytes) -> WholeLetter | None:
    kept = _kept(id, written)
    headers = [(_text(name), _unfolded(value)) for name, value in message_from_bytes(written).raw_items()]
    source = written.decode("utf-8", "replace").replace("\r\n", "\n")
    return WholeLetter(**{name: getattr(kept, name) for name in kept.__struct_fields__}, headers=headers, source=source)


def _page(id: str, written: bytes) -> LetterPage | None:
    _sent_at(id)
    letter = message_from_bytes(written)
    html = _part(letter, "text/html")
    return page_of_text(_part(letter, "text/plain") or "") if html is None else page_of_html(html)


def _header(letter: Message, name: str) -> str | None:
    """The first header of that name, on one line."""
    values = (value for key, value in letter.raw_items() if key.lower() == name.lower())
    first = next(values, None)
    return None if first is None else _unfolded(first)


def _unfolded(value: str) -> str:
    return re.sub(r"\r?\n", "", _text(value))


def _text(raw: str) -> str:
    """As the library keeps bytes that are not ASCII, so the text that they were."""
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _part(letter: Message, kind: str) -> str | None:
    """The first part of a kind, as text."""
    for part in letter.walk():
        content = part.get_payload(decode=True)
        if part.get_content_type() == kind and isinstance(content, bytes):
            return content.decode("utf-8", "replace").replace("\r\n", "\n")
    return None
