"""The development outbox: files, permissions, order, printing and failures."""

import asyncio
import os
import resource
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from datetime import timedelta
from email import message_from_bytes, policy
from pathlib import Path
from threading import Thread
from typing import TextIO

import pytest

from tests.support.emails import ANA, LINK, NOW, SENDER, make_email, make_link_email
from tickover.server.settings import SettingError
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Email, EmailKind, MailRejected
from tickover.server.sign_in.mail.outbox import SEQUENCE_FILE, Outbox


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


@pytest.fixture
def outbox(folder: Path) -> Outbox:
    return Outbox(folder, Composer(SENDER))


def _codes(folder: Path) -> list[str]:
    """Return the codes of the emails, sorted by file name."""
    emails = [message_from_bytes(file.read_bytes(), policy=policy.default) for file in sorted(folder.glob("*.eml"))]
    return [str(found["Subject"]).split()[0] for found in emails]


@pytest.mark.parametrize(
    ("kept", "headers"),
    [
        pytest.param(make_email(), {"X-Tickover-Code": "012345"}, id="a code"),
        pytest.param(make_link_email(), {"X-Tickover-Link": LINK}, id="a link"),
        pytest.param(make_email(kind=EmailKind.CODES_STOPPED, secret=""), {}, id="neither"),
    ],
)
def test_header_contains_the_secret(outbox: Outbox, folder: Path, kept: Email, headers: dict[str, str]) -> None:
    asyncio.run(outbox.deliver(kept))
    [file] = folder.glob("*.eml")
    message = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert {name: value for name, value in message.items() if name.startswith("X-")} == headers
    assert message["To"] == ANA
    # Emails by SMTP don't have these headers.
    assert b"X-Tickover" not in Composer(SENDER).compose(kept)


def test_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match=r"^Can't create the outbox .*: Not a directory\.$"):
        Outbox(tmp_path / "file" / "outbox", Composer(SENDER))


def test_files_and_folder_are_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        asyncio.run(Outbox(folder, Composer(SENDER)).deliver(make_email()))
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_names_sort_in_sending_order_if_the_clock_is_set_back(folder: Path) -> None:
    ages = [3, 1, 2, 60, 59, 86_400, 0]
    for age in ages:
        sent_at = NOW - timedelta(seconds=age, microseconds=age)
        # A new outbox, as after a restart.
        await Outbox(folder, Composer(SENDER)).deliver(make_email(secret=f"{age:06}", sent_at=sent_at))
    assert _codes(folder) == [f"{age:06}" for age in ages]


@pytest.mark.parametrize("content", [None, b"not a number"], ids=["lost", "damaged"])
async def test_order_survives_a_damaged_sequence_file(outbox: Outbox, folder: Path, content: bytes | None) -> None:
    for number in range(3):
        await outbox.deliver(make_email(secret=f"{number:06}"))
    (folder / SEQUENCE_FILE).unlink()
    if content is not None:
        (folder / SEQUENCE_FILE).write_bytes(content)
    for number in range(3, 6):
        await outbox.deliver(make_email(secret=f"{number:06}", sent_at=NOW - timedelta(days=1)))
    assert _codes(folder) == [f"{number:06}" for number in range(6)]


def test_concurrent_emails_are_all_written(outbox: Outbox, folder: Path) -> None:
    async def deliver_all() -> None:
        await asyncio.gather(*(outbox.deliver(make_email(secret=f"{number:06}")) for number in range(20)))

    asyncio.run(deliver_all())
    assert sorted(_codes(folder)) == [f"{number:06}" for number in range(20)]
    assert len(list(folder.iterdir())) == 21, "no temporary file is left"


async def test_email_is_printed(outbox: Outbox, capsys: pytest.CaptureFixture[str]) -> None:
    await outbox.deliver(make_email())
    await outbox.deliver(make_link_email())
    code, link = capsys.readouterr().out.splitlines()
    assert ANA in code
    assert "012345" in code
    assert LINK in link


async def test_address_is_escaped_on_the_terminal(outbox: Outbox, capsys: pytest.CaptureFixture[str]) -> None:
    await outbox.deliver(Email("a\x1b[2J\x9b31m\u202e@b.test", EmailKind.CODE, "012345", 10, NOW))
    shown = capsys.readouterr().out
    assert r"a\x1b[2J\x9b31m\u202e@b.test" in shown
    assert shown.removesuffix("\n").isprintable()


# Failures


def _without_reader() -> TextIO:
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w")


@pytest.mark.parametrize("open_output", [lambda: None, _without_reader], ids=["never there", "left by its reader"])
def test_failing_stdout_does_not_reject_the_email(
    folder: Path, outbox: Outbox, monkeypatch: pytest.MonkeyPatch, open_output: Callable[[], TextIO | None]
) -> None:
    stdout = open_output()
    monkeypatch.setattr(sys, "stdout", stdout)
    asyncio.run(outbox.deliver(make_email()))
    monkeypatch.undo()
    if stdout is not None:
        with suppress(OSError):
            stdout.close()
    assert _codes(folder) == ["012345"]


def test_full_disk_rejects_the_email(folder: Path, outbox: Outbox) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(MailRejected):
            asyncio.run(outbox.deliver(make_email()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.glob("*.eml")) == []


def test_full_pipe_does_not_block(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while os.write(writing, bytes(4096)):
            pass
    os.set_blocking(writing, True)

    def deliver() -> None:
        with os.fdopen(writing, "w") as full, redirect_stdout(full):
            asyncio.run(Outbox(tmp_path, Composer(SENDER)).deliver(make_email()))

    delivering = Thread(target=deliver, daemon=True)
    delivering.start()
    delivering.join(20)
    ended = not delivering.is_alive()
    os.close(reading)
    assert ended
    assert len(list(tmp_path.glob("*.eml"))) == 1
