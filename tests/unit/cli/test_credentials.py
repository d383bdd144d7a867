"""Tests of the credentials file: permissions, atomic updates and concurrent processes."""

import fcntl
import os
import stat
from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import asdict

from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.credentials import Credentials, ServerProfile, config_folder

URL = "http://127.0.0.1:8000"
ANA = ServerProfile(email="ana@example.test", user_id="user_1", token="tko_secret", clock="clock_1")


@pytest.fixture
def credentials(tmp_path: Path) -> Credentials:
    return Credentials(tmp_path / "below" / "tickover")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_the_file(credentials: Credentials) -> None:
    before = os.umask(0)
    try:
        credentials.update(URL, **asdict(ANA))
    finally:
        os.umask(before)
    assert mode(credentials.path.parent) == 0o700
    assert {file.name: mode(file) for file in credentials.path.parent.iterdir()} == {
        "credentials.json": 0o600,
        "credentials.lock": 0o600,
    }


def test_server_without_data_is_forgotten(credentials: Credentials) -> None:
    credentials.update(URL, **asdict(ANA))
    credentials.update(URL, **asdict(ServerProfile()))
    assert URL.encode() not in credentials.path.read_bytes()


def test_open_file_permissions_are_tightened(credentials: Credentials) -> None:
    credentials.path.parent.mkdir(0o755, parents=True)
    credentials.path.write_bytes(json.encode({"servers": {}}))
    credentials.path.chmod(0o644)
    credentials.update(URL, **asdict(ANA))
    assert (mode(credentials.path.parent), mode(credentials.path)) == (0o700, 0o600)


def test_leftover_temporary_file_is_replaced(credentials: Credentials) -> None:
    credentials.path.parent.mkdir(parents=True)
    leftover = credentials.path.with_suffix(".new")
    leftover.write_text("half of somethi")
    leftover.chmod(0o644)
    credentials.update(URL, **asdict(ANA))
    assert (credentials.get(URL), mode(credentials.path), leftover.exists()) == (ANA, 0o600, False)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"servers": {"a": {"token": 5}}}'])
def test_damaged_file_is_reported_and_not_changed(credentials: Credentials, content: bytes) -> None:
    credentials.path.parent.mkdir(parents=True)
    credentials.path.write_bytes(content)
    for use in (lambda: credentials.get(URL), lambda: credentials.update(URL, **asdict(ANA))):
        with pytest.raises(CliError) as caught:
            use()
        assert caught.value.exit == Exit.WRONG_COMMAND
        assert caught.value.message == f"{credentials.path} is damaged."
        assert "tickover login" in caught.value.hint
    assert credentials.path.read_bytes() == content


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CliError, match=r"Can't write .*: Not a directory"):
        Credentials(tmp_path / "file" / "tickover").update(URL, **asdict(ANA))


def test_update_holds_an_exclusive_lock(credentials: Credentials, monkeypatch: pytest.MonkeyPatch) -> None:
    def try_lock(_: int) -> None:
        with credentials.path.with_suffix(".lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    monkeypatch.setattr(os, "fsync", try_lock)
    credentials.update(URL, **asdict(ANA))
    assert credentials.get(URL) == ANA


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("/somewhere", "/somewhere/tickover"),
        # The XDG specification says to ignore these two.
        ("", "{home}/.config/tickover"),
        ("relative", "{home}/.config/tickover"),
    ],
)
def test_folder_follows_xdg_config_home(
    variable: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", variable)
    assert config_folder() == Path(expected.format(home=tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config_folder().is_relative_to(tmp_path)
