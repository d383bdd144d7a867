"""Loads the secret key of login codes from the settings or from a file in the data folder."""

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from tickover.server.logs import Log
from tickover.server.settings import SettingError, Settings

_FILE: Final = "secret.key"
_MIN_LENGTH: Final = 32
_MAX_LENGTH: Final = 4096
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OR_SET: Final = "or set TICKOVER_SECRET_KEY"


def load_secret_key(settings: Settings, log: Log) -> bytes:
    """Return the key. The first start creates the file. Raise SettingError if the file is unsafe or unreadable."""
    if settings.secret_key:
        return settings.secret_key.encode()
    path = settings.data_dir / _FILE
    try:
        if not path.exists():
            _write_new_key(path)
        _protect_folder(path.parent, log)
        content, mode_before = _read(path)
        key = content.decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"Can't read the secret key {path}: {error}.") from None
    if len(key) < _MIN_LENGTH:
        raise SettingError(
            f"The secret key {path} is damaged. Delete the file. Codes that were sent before will not work."
        )
    if mode_before & _OTHERS:
        log.warning(
            "other users could read or change the secret key; its mode is now 600. If you don't trust them, "
            "stop the server and delete the file. The next start creates a new key",
            file=str(path),
            mode_before=f"{mode_before:03o}",
        )
    return key.encode()


def _write_new_key(path: Path) -> None:
    """Create the file atomically, unless another process has created it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def _read(path: Path) -> tuple[bytes, int]:
    """Return the content of the file and its original mode, and make the file private."""
    try:
        # O_NONBLOCK, because opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingError(
                f"The secret key {path} is a symbolic link. Replace it with a file, {_OR_SET}."
            ) from None
        raise
    try:
        mode_before = _make_private(path, descriptor)
        return os.read(descriptor, _MAX_LENGTH), mode_before
    finally:
        os.close(descriptor)


def _make_private(path: Path, descriptor: int) -> int:
    """Make the file private, and return its original mode. Raise SettingError if that is not possible."""
    found = os.fstat(descriptor)
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        raise SettingError(f"The secret key {path} is not a regular file. Delete it, {_OR_SET}.")
    if found.st_uid not in (os.geteuid(), 0):
        raise SettingError(
            f"The secret key {path} belongs to another user (uid {found.st_uid}), who can read and change it. Change "
            f"the owner with chown, {_OR_SET}."
        )
    if mode & _OTHERS and found.st_uid == os.geteuid():
        os.fchmod(descriptor, 0o600)
    if os.fstat(descriptor).st_mode & _OTHERS:
        raise SettingError(
            f"Other users can read or change the secret key {path} (mode {mode:03o}), and this "
            f"user can't change its mode. Make it private with chmod 600, {_OR_SET}."
        )
    return mode


def _protect_folder(folder: Path, log: Log) -> None:
    """Remove the write permission of other users, who could replace the key."""
    found = folder.stat()
    # The sticky bit prevents users from replacing the files of others.
    if not found.st_mode & _OTHERS_WRITE or found.st_mode & stat.S_ISVTX:
        return
    mode_before = f"{stat.S_IMODE(found.st_mode):03o}"
    if found.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)
        log.warning(
            "other users could replace files in the data folder; they no longer can",
            folder=str(folder),
            mode_before=mode_before,
        )
    else:
        log.warning("other users can replace files in the data folder", folder=str(folder), mode=mode_before)
