"""The mailbox and its folder: order of emails, several processes and unexpected files."""

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import json

from tests.support.emails import ANA, LINK, NOW, SENDER, make_email, make_link_email
from tests.support.transcripts import ROOT
from tickover.api.tokens import StoredEmail
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind
from tickover.server.sign_in.mail.outbox import TIMESTAMP_FORMAT, Outbox
from tickover.server.web.mailbox import Mailbox

BO = "bo@example.test"


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path, Composer(SENDER))


def deliver(outbox: Outbox, *emails: Email) -> None:
    for each in emails:
        asyncio.run(outbox.deliver(each))


def latest(folder: Path, to: str = ANA) -> StoredEmail:
    found = asyncio.run(Mailbox(folder).latest_email(to))
    assert found is not None
    return found


# Order


def test_email_without_a_secret_is_returned(outbox: Outbox, tmp_path: Path) -> None:
    deliver(outbox, make_email(kind=EmailKind.CODES_STOPPED, secret=""))
    email = latest(tmp_path)
    assert (email.code, email.login_url) == (None, None)
    assert email.subject == "Codes are turned off for your address"


_DELIVER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from tests.support.emails import NOW, SENDER, make_email
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.outbox import Outbox

later = make_email(secret="000002", sent_at=NOW + timedelta(microseconds=1))
asyncio.run(Outbox(Path(sys.argv[1]), Composer(SENDER)).deliver(later))
"""


def test_emails_of_another_process_are_returned(outbox: Outbox, tmp_path: Path) -> None:
    deliver(outbox, make_email(secret="000001"))
    command = [sys.executable, "-c", _DELIVER, str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=60)
    assert latest(tmp_path).code == "000002"
    deliver(outbox, make_email(secret="000003", sent_at=NOW + timedelta(microseconds=2)))
    assert latest(tmp_path).code == "000003"


def test_emails_of_one_instant_keep_their_order(outbox: Outbox, tmp_path: Path) -> None:
    for number in range(12):
        deliver(outbox, make_email(secret=f"{number:06}"))
        assert latest(tmp_path).code == f"{number:06}"


def test_last_email_is_the_newest_after_the_clock_is_set_back(outbox: Outbox, tmp_path: Path) -> None:
    deliver(outbox, make_email(secret="000001"), make_email(secret="000002", sent_at=NOW - timedelta(hours=1)))
    deliver(Outbox(tmp_path, Composer(SENDER)), make_email(secret="000003", sent_at=NOW - timedelta(hours=2)))
    newest = latest(tmp_path)
    assert (newest.code, newest.sent_at) == ("000003", NOW - timedelta(hours=2))
    listed = asyncio.run(Mailbox(tmp_path).list_emails())
    assert [each.code for each in listed] == ["000003", "000002", "000001"]


def test_emails_of_earlier_releases_sort_first(outbox: Outbox, tmp_path: Path) -> None:
    deliver(outbox, make_email(secret="000003"))
    [file] = tmp_path.glob("*.eml")
    for number in (1, 2):
        old = f"{NOW + timedelta(days=number):{TIMESTAMP_FORMAT}}-{9 - number}-000000.eml"
        (tmp_path / old).write_bytes(file.read_bytes().replace(b"000003", b"%06d" % number))
    listed = asyncio.run(Mailbox(tmp_path).list_emails())
    assert [each.code for each in listed] == ["000003", "000002", "000001"]
    assert [each.sent_at for each in listed] == [NOW + timedelta(days=days) for days in (0, 2, 1)]


@pytest.mark.parametrize("link", [LINK, LINK.replace("tickover.example.test", "a." * 100 + "test")])
def test_long_link_is_not_folded(outbox: Outbox, tmp_path: Path, link: str) -> None:
    deliver(outbox, make_link_email(secret=link))
    email = latest(tmp_path)
    assert email.login_url == link
    assert link in email.text


@pytest.mark.parametrize(("newer", "is_found"), [(0, True), (999, True), (1000, False)])
def test_search_reads_the_last_1000_emails(outbox: Outbox, tmp_path: Path, newer: int, is_found: bool) -> None:
    deliver(outbox, make_email(BO))
    [other] = tmp_path.glob("*.eml")
    written = other.read_bytes()
    other.unlink()
    deliver(outbox, make_email())
    for number in range(1, newer + 1):
        (tmp_path / f"n{number + 2:012}-{NOW:{TIMESTAMP_FORMAT}}.eml").write_bytes(written)
    assert (asyncio.run(Mailbox(tmp_path).latest_email(ANA)) is not None) == is_found


# Unexpected files


def _clear(folder: Path, to: str) -> None:
    for file in folder.glob(f"{to}-*.eml"):
        file.unlink(missing_ok=True)


async def test_concurrent_writes_and_deletions_are_harmless(outbox: Outbox, tmp_path: Path) -> None:
    await outbox.deliver(make_email(sent_at=NOW - timedelta(days=1)))
    mailbox = Mailbox(tmp_path)

    async def come_and_go(number: int) -> None:
        await outbox.deliver(make_email(BO, sent_at=NOW))
        await asyncio.to_thread(_clear, tmp_path, f"n{number + 2:012}")

    looking = asyncio.gather(*(mailbox.latest_email(ANA) for _ in range(100)))
    for number in range(50):
        await come_and_go(number)
    assert [email.code if email else None for email in await looking] == ["012345"] * 100


def test_missing_folder_has_no_emails(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path / "outbox")
    assert asyncio.run(mailbox.latest_email(ANA)) is None


LATER = "n990000000000-20990101T000000.000000Z"
TO_ANA = b"From: x\r\nTo: ana@example.test\r\nSubject: x\r\n\r\n"
ODD: dict[str, tuple[str, bytes]] = {
    "empty": (f"{LATER}.eml", b""),
    "not an email": (f"{LATER}.eml", b"\xff\0\xfe" * 1000),
    "other name": ("99 emails.eml", TO_ANA),
    "of an impossible time": ("n990000000000-99999999T999999.999999Z.eml", TO_ANA),
    "of a leap second": ("n990000000000-20991231T235960.000000Z.eml", TO_ANA),
    "digits that are not ASCII": (f"{LATER.replace('0', '٠')}.eml", TO_ANA),
    "unfinished": (f".{LATER}", TO_ANA),
    "of another kind": (f"{LATER}.txt", TO_ANA),
    "that names the address in its text": (f"{LATER}.eml", b"A: b\r\n\r\n" + TO_ANA),
    "no recipient": (f"{LATER}.eml", b"Subject: x\r\n\r\n"),
}


@pytest.mark.parametrize(("name", "content"), ODD.values(), ids=ODD)
def test_other_files_are_ignored(outbox: Outbox, tmp_path: Path, name: str, content: bytes) -> None:
    deliver(outbox, make_email())
    (tmp_path / name).write_bytes(content)
    assert latest(tmp_path).code == "012345"


STRANGE: dict[str, bytes] = {
    "without a body": b"",
    "in an unknown charset": b'Content-Type: text/plain; charset="x-unknown"\r\n\r\n\xff\xfe\r\n',
    "in unreadable base64": b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n@@@\xff\r\n",
    "of parts that never begin": b'Content-Type: multipart/alternative; boundary="x"\r\n\r\nnothing\r\n',
    "without a boundary": b"Content-Type: multipart/alternative\r\n\r\nnothing\r\n",
    "with a bare subject in eight bits": b"Subject: \xff\xfe\xc3\xbc\r\n\r\nx\r\n",
    "with a code in eight bits": b"X-Tickover-Code: \xff\xfe\xc3\xbc\r\n\r\nx\r\n",
    "with an encoded subject": b"Subject: =?utf-8?q?=FF=FE?=\r\n\r\nx\r\n",
    "with a message inside": b"Content-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\nz\r\n",
    "with a folded subject": b"Subject: a\r\n b\r\n\r\nx\r\n",
}


@pytest.mark.parametrize("rest", STRANGE.values(), ids=STRANGE)
def test_malformed_email_is_harmless(tmp_path: Path, rest: bytes) -> None:
    """The result can always be encoded."""
    (tmp_path / f"{LATER}.eml").write_bytes(b"From: x\r\nTo: ana@example.test\r\n" + rest)
    email = latest(tmp_path)
    assert (email.id, email.to) == (LATER, ANA)
    assert json.decode(json.encode(email), type=StoredEmail) == email


def test_directory_with_an_email_name_is_ignored(outbox: Outbox, tmp_path: Path) -> None:
    deliver(outbox, make_email())
    (tmp_path / f"{LATER}.eml").mkdir()
    (tmp_path / f"{LATER.replace('n99', 'n98')}.eml").symlink_to(tmp_path / "nothing")
    assert latest(tmp_path).code == "012345"
