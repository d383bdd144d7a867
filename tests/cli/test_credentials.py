"""The file of tokens: for its owner alone, whole at every moment, and shared by any number of processes."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import replace

from tickover.cli.credentials import Credentials, Kept, folder
from tickover.cli.errors import Exit, Trouble

URL = "http://127.0.0.1:8000"
ANA = Kept(email="ana@example.test", user_id="user_1", token="tko_secret", clock="clock_1")


@pytest.fixture
def credentials(tmp_path: Path) -> Credentials:
    return Credentials(tmp_path / "below" / "tickover")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_kept_is_there_again(credentials: Credentials) -> None:
    assert credentials.of(URL) == Kept()
    credentials.change(URL, lambda _: ANA)
    assert Credentials(credentials.path.parent).of(URL) == ANA


def test_servers_are_kept_apart(credentials: Credentials) -> None:
    credentials.change(URL, lambda _: ANA)
    credentials.change("https://clocks.example.com", lambda _: replace(ANA, token="tko_other"))
    assert credentials.of(URL).token == "tko_secret"
    assert credentials.of("https://clocks.example.com").token == "tko_other"
    assert credentials.of("http://127.0.0.1:8001") == Kept()


def test_what_is_empty_is_not_kept(credentials: Credentials) -> None:
    credentials.change(URL, lambda _: ANA)
    credentials.change(URL, lambda _: Kept())
    assert json.decode(credentials.path.read_bytes()) == {"servers": {}}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_it_whatever_the_umask(credentials: Credentials, umask: int) -> None:
    before = os.umask(umask)
    try:
        credentials.change(URL, lambda _: ANA)
    finally:
        os.umask(before)
    assert mode(credentials.path.parent) == 0o700
    assert {file.name: mode(file) for file in credentials.path.parent.iterdir()} == {
        "credentials.json": 0o600,
        "credentials.lock": 0o600,
    }


def test_a_folder_and_a_file_that_were_open_to_others_are_closed(credentials: Credentials) -> None:
    credentials.path.parent.mkdir(0o755, parents=True)
    credentials.path.write_bytes(json.encode({"servers": {}}))
    credentials.path.chmod(0o644)
    credentials.change(URL, lambda _: ANA)
    assert (mode(credentials.path.parent), mode(credentials.path)) == (0o700, 0o600)


def test_what_a_killed_process_left_behind_does_not_hinder(credentials: Credentials) -> None:
    credentials.path.parent.mkdir(parents=True)
    left = credentials.path.with_suffix(".new")
    left.write_text("half of somethi")
    left.chmod(0o644)
    credentials.change(URL, lambda _: ANA)
    assert (credentials.of(URL), mode(credentials.path), left.exists()) == (ANA, 0o600, False)


def test_a_change_that_fails_changes_nothing(credentials: Credentials) -> None:
    def break_off(_: Kept) -> Kept:
        raise KeyboardInterrupt

    credentials.change(URL, lambda _: ANA)
    before = credentials.path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        credentials.change(URL, break_off)
    assert credentials.path.read_bytes() == before
    credentials.change(URL, lambda kept: replace(kept, clock="clock_2"))
    assert credentials.of(URL).clock == "clock_2"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"servers": {"a": {"token": 5}}}'])
def test_a_damaged_file_is_named_and_left_as_it_is(credentials: Credentials, content: bytes) -> None:
    credentials.path.parent.mkdir(parents=True)
    credentials.path.write_bytes(content)
    for use in (lambda: credentials.of(URL), lambda: credentials.change(URL, lambda _: ANA)):
        with pytest.raises(Trouble) as caught:
            use()
        assert caught.value.exit == Exit.WRONG_COMMAND
        assert caught.value.sentence == f"{credentials.path} is damaged."
        assert "tickover login" in caught.value.hint
    assert credentials.path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Trouble, match="cannot be written: Not a directory"):
        Credentials(tmp_path / "file" / "tickover").change(URL, lambda _: ANA)


ADD = """
import sys
from pathlib import Path
from tickover.cli.credentials import Credentials, Kept
credentials = Credentials(Path(sys.argv[1]))
for number in range(20):
    credentials.change(f"http://server-{sys.argv[2]}-{number}", lambda kept: Kept(token="tko"))
"""


def test_of_processes_that_write_at_once_none_loses_what_another_wrote(credentials: Credentials) -> None:
    def add(process: int) -> int:
        return subprocess.run(
            [sys.executable, "-c", ADD, str(credentials.path.parent), str(process)], timeout=60, check=False
        ).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add, range(4))) == [0] * 4
    assert len(json.decode(credentials.path.read_bytes())["servers"]) == 80


@pytest.mark.parametrize(
    ("given", "below"),
    [
        ({"XDG_CONFIG_HOME": "/somewhere"}, "/somewhere/tickover"),
        # The specification has these two ignored.
        ({"XDG_CONFIG_HOME": ""}, "{home}/.config/tickover"),
        ({"XDG_CONFIG_HOME": "relative"}, "{home}/.config/tickover"),
    ],
)
def test_the_folder_is_where_settings_are_kept(
    given: dict[str, str], below: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert folder() == Path(below.format(home=tmp_path))


def test_without_a_word_of_the_environment_the_folder_is_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert folder().is_relative_to(tmp_path)
    assert folder().name == "tickover"
