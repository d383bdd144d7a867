"""The file of the secret key: creation, permissions and unsafe files."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.log_capture import LogCapture
from tickover.server.secret_key import load_secret_key
from tickover.server.settings import SettingError, Settings, read_settings

_KEY = "0123456789abcdef" * 4
_NOBODY = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


def settings_for(data: Path) -> Settings:
    return read_settings({"TICKOVER_DATA_DIR": str(data)}, {})


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def file(data: Path) -> Path:
    path = data / "secret.key"
    path.write_text(f"{_KEY}\n")
    path.chmod(0o600)
    return path


def setting_error(data: Path) -> str:
    logged = LogCapture()
    with pytest.raises(SettingError) as refused:
        load_secret_key(settings_for(data), logged.log)
    assert logged.lines == []
    sentence = str(refused.value)
    assert str(data / "secret.key") in sentence
    assert _KEY not in sentence
    return sentence


def test_first_start_creates_a_private_key(tmp_path: Path) -> None:
    logged = LogCapture()
    settings = settings_for(tmp_path / "new" / "data")
    made = load_secret_key(settings, logged.log)
    assert re.fullmatch(rb"[0-9a-f]{64}", made)
    assert load_secret_key(settings, logged.log) == made
    assert (mode_of(settings.data_dir), mode_of(settings.data_dir / "secret.key")) == (0o700, 0o600)
    assert [path.name for path in settings.data_dir.iterdir()] == ["secret.key"]
    assert logged.lines == []


def test_concurrent_first_starts_share_one_key(tmp_path: Path) -> None:
    starts = 16
    for attempt in range(50):
        settings = settings_for(tmp_path / str(attempt))
        barrier = Barrier(starts)

        def start(_: int, settings: Settings = settings, barrier: Barrier = barrier) -> bytes:
            barrier.wait(60)
            return load_secret_key(settings, LogCapture().log)

        with ThreadPoolExecutor(starts) as pool:
            keys = set(pool.map(start, range(starts)))
        assert keys == {(settings.data_dir / "secret.key").read_bytes().strip()}
        assert [path.name for path in settings.data_dir.iterdir()] == ["secret.key"]


@pytest.mark.parametrize("mode", [0o640, 0o602, 0o610], ids=oct)
def test_key_with_open_permissions_is_repaired(data: Path, file: Path, mode: int) -> None:
    file.chmod(mode)
    logged = LogCapture()
    assert load_secret_key(settings_for(data), logged.log) == _KEY.encode()
    assert mode_of(file) == 0o600
    [(level, event, fields)] = logged.lines
    assert level == "warning"
    assert event.startswith("other users could read or change the secret key; its mode is now 600.")
    assert fields == {"file": str(file), "mode_before": f"{mode:03o}"}


def test_key_whose_permissions_cannot_be_changed_is_rejected(
    data: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.chmod(0o644)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    assert "(mode 644), and its mode can't be changed" in setting_error(data)


@needs_root
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_key_of_another_user_is_rejected(data: Path, file: Path, mode: int) -> None:
    file.chmod(mode)
    os.chown(file, _NOBODY, _NOBODY)
    assert f"belongs to another user (uid {_NOBODY}, mode {mode:03o})" in setting_error(data)
    assert mode_of(file) == mode


@pytest.mark.parametrize("target", ["real.key", "missing.key"])
def test_symbolic_link_is_rejected(data: Path, target: str) -> None:
    (data / "real.key").write_text(_KEY)
    (data / "secret.key").symlink_to(data / target)
    assert "symbolic link" in setting_error(data)
    assert {path.name for path in data.iterdir()} == {"real.key", "secret.key"}


def test_named_pipe_is_rejected_without_waiting(data: Path) -> None:
    os.mkfifo(data / "secret.key", 0o600)
    assert "is damaged" in setting_error(data)


@pytest.mark.parametrize("mode", [0o777, 0o720], ids=oct)
def test_writable_data_folder_is_repaired(data: Path, file: Path, mode: int) -> None:
    data.chmod(mode)
    logged = LogCapture()
    assert load_secret_key(settings_for(data), logged.log) == _KEY.encode()
    assert mode_of(data) == mode & ~0o022
    [(level, event, fields)] = logged.lines
    assert (level, event) == ("warning", "other users could replace files in the data folder; they no longer can")
    assert fields == {"folder": str(data), "mode_before": f"{mode:03o}"}
