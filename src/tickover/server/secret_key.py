"""Loads the secret key of login codes from the settings or from a file in the data folder."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from tickover.server.logs import Log
from tickover.server.settings import SettingError, Settings

_FILE: Final = "secret.key"
_MIN_LENGTH: Final = 32
_MAX_LENGTH: Final = 4096
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def load_secret_key(settings: Settings, log: Log) -> bytes:
    """Return the key. The first start creates the file. Raise SettingError if the file is unsafe or unreadable."""
    if settings.secret_key:
        return settings.secret_key.encode()
    path = settings.data_dir / _FILE
    try:
        if not path.exists():
            _write_new_key(path)
        _protect_folder(path.parent, log)
        key = _read(path, log).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"Can't read the secret key {path}: {error}.") from None
    if len(key) < _MIN_LENGTH:
        raise SettingError(
            f"The secret key {path} is damaged. Delete the file. Codes that were sent before will not work."
        )
    return key.encode()


def _write_new_key(path: Path) -> None:
    """Create the file atomically, unless another process has created it."""
    # Imported here because it takes long, and only the first start needs it.
    from tempfile import NamedTemporaryFile

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only the owner can read a temporary file.
    with NamedTemporaryFile("w", dir=path.parent) as file:
        file.write(secrets.token_hex(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)


def _read(path: Path, log: Log) -> bytes:
    """Return the content of the file, and make the file private."""
    # No link, and no pipe, which would wait for a writer.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        mode, is_owner = stat.S_IMODE(found.st_mode), found.st_uid == os.geteuid()
        if not is_owner and (found.st_uid or mode & _OTHERS):
            raise SettingError(
                f"The secret key {path} belongs to another user (uid {found.st_uid}, mode {mode:03o}), so others can "
                "read or change it. Change the owner with chown, or set TICKOVER_SECRET_KEY."
            )
        if mode & _OTHERS:
            os.fchmod(file.fileno(), 0o600)
            # Some file systems, such as those of Windows, ignore it.
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise SettingError(
                    f"Other users can read or change the secret key {path} (mode {mode:03o}), and its mode can't be "
                    "changed. Move the data folder to another file system, or set TICKOVER_SECRET_KEY."
                )
            log.warning(
                "other users could read or change the secret key; its mode is now 600. If you don't trust them, "
                "stop the server and delete the file. The next start creates a new key",
                file=str(path),
                mode_before=f"{mode:03o}",
            )
        return file.read(_MAX_LENGTH)


def _protect_folder(folder: Path, log: Log) -> None:
    """Remove the write permission of other users, who could replace the key."""
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    # The sticky bit prevents users from replacing the files of others.
    if not mode & _OTHERS_WRITE or mode & stat.S_ISVTX:
        return
    event = "other users can replace files in the data folder"
    if found.st_uid == os.geteuid():
        folder.chmod(mode & ~_OTHERS_WRITE)
        event = "other users could replace files in the data folder; they no longer can"
    log.warning(event, folder=str(folder), mode_before=f"{mode:03o}")
