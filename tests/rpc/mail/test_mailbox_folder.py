"""The mailbox and its folder: limits, deletions and unexpected files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.support.emails import ANA, NOW, SENDER, make_email
from tickover.api.access_tokens import StoredEmail
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.outbox import TIMESTAMP_FORMAT, Mailbox, Outbox

BO = "bo@example.test"
LATER = "n990000000000-20990101T000000.000000Z"
TO_ANA = b"From: x\r\nTo: ana@example.test\r\nSubject: x\r\n\r\n"


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path, Composer(SENDER))


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path)


@pytest.mark.parametrize(("newer", "is_found"), [(999, True), (1000, False)])
async def test_search_reads_the_last_1000_emails(
    outbox: Outbox, tmp_path: Path, mailbox: Mailbox, newer: int, is_found: bool
) -> None:
    await outbox.deliver(make_email())
    for number in range(2, newer + 2):
        (tmp_path / f"n{number:012}-{NOW:{TIMESTAMP_FORMAT}}.eml").write_bytes(TO_ANA.replace(b"ana@", b"bo@"))
    assert (mailbox.latest_email(ANA) is not None) == is_found


class _VanishingFolder(type(Path())):  # type: ignore[misc]
    """All files are deleted after they were listed."""

    def glob(self, *args: Any, **options: Any) -> Iterator[Path]:
        found = list(super().glob(*args, **options))
        for file in found:
            file.unlink()
        return iter(found)


async def test_emails_that_are_deleted_after_they_were_listed_are_left_out(outbox: Outbox, tmp_path: Path) -> None:
    await outbox.deliver(make_email())
    assert Mailbox(_VanishingFolder(tmp_path)).list_emails() == []
    await outbox.deliver(make_email())
    assert Mailbox(_VanishingFolder(tmp_path)).latest_email(ANA) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(f"{LATER}.eml", b"", id="empty"),
        pytest.param(f"{LATER}.eml", b"\xff\0\xfe" * 1000, id="not an email"),
        pytest.param("99 emails.eml", TO_ANA, id="other name"),
    ],
)
async def test_other_files_are_ignored(
    outbox: Outbox, tmp_path: Path, mailbox: Mailbox, name: str, content: bytes
) -> None:
    await outbox.deliver(make_email())
    (tmp_path / name).write_bytes(content)
    assert [email.code for email in mailbox.list_emails()] == ["012345"]
    newest = mailbox.latest_email(ANA)
    assert newest is not None
    assert newest.code == "012345"


async def test_special_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "outside.eml").write_bytes(TO_ANA)
    folder = tmp_path / "outbox"
    await Outbox(folder, Composer(SENDER)).deliver(make_email())
    (folder / f"{LATER}.eml").mkdir()
    (folder / f"{LATER.replace('n99', 'n98')}.eml").symlink_to(tmp_path / "outside.eml")
    # Reading a pipe without a writer would block.
    os.mkfifo(folder / f"{LATER.replace('n99', 'n97')}.eml")
    mailbox = Mailbox(folder)
    assert [email.code for email in mailbox.list_emails()] == ["012345"]
    for start in ("n99", "n98", "n97"):
        assert mailbox.get_email(LATER.replace("n99", start)) is None
        assert mailbox.get_html(LATER.replace("n99", start)) is None


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(
            b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n@@@\xff\r\n", id="invalid base64"
        ),
        pytest.param(b'Content-Type: multipart/alternative; boundary="x"\r\n\r\nnothing\r\n', id="no parts"),
    ],
)
async def test_malformed_email_is_harmless(tmp_path: Path, mailbox: Mailbox, rest: bytes) -> None:
    (tmp_path / f"{LATER}.eml").write_bytes(b"From: x\r\nTo: ana@example.test\r\n" + rest)
    [summary] = mailbox.list_emails()
    details = mailbox.get_email(LATER)
    newest = mailbox.latest_email(ANA)
    assert details is not None
    assert (summary.id, summary.to, summary.subject) == (details.id, details.to, details.subject)
    assert (summary.id, summary.to) == (LATER, ANA)
    assert "\n" not in summary.subject
    assert mailbox.get_html(LATER) is None
    # The result can be encoded.
    assert json.decode(json.encode(newest), type=StoredEmail) == newest
    assert json.decode(json.encode(details), type=type(details)) == details
