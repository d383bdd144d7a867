"""Files in the data folder that only the server's user may read."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from tickover.server.logs import Log
from tickover.server.settings import SettingError

_MAX_LENGTH: Final = 16 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class PrivateFile(Struct, frozen=True):
    path: Path
    name: str
    """For messages, such as "secret key"."""
    alternative: str = ""
    """What else an operator can do if the file can't be made private: ", or …"."""

    def create(self, content: str) -> None:
        """Create the file atomically, unless another process has created it."""
        # Imported here because it takes long, and only the first start needs it.
        from tempfile import NamedTemporaryFile

        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only the owner can read a temporary file.
        with NamedTemporaryFile("w", dir=self.path.parent) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(file.name, self.path)

    def read(self, log: Log) -> bytes:
        """Return the content of the file. Make the file private, and its folder writable for its owner alone."""
        _protect_folder(self.path.parent, log)
        # No link, and no pipe, which would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self.path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            mode, is_owner = stat.S_IMODE(found.st_mode), found.st_uid == os.geteuid()
            if not is_owner and (found.st_uid or mode & _OTHERS):
                raise SettingError(
                    f"The {self.name} {self.path} belongs to another user (uid {found.st_uid}, mode {mode:03o}), so "
                    f"others can read or change it. Change the owner with chown{self.alternative}."
                )
            if mode & _OTHERS:
                os.fchmod(file.fileno(), 0o600)
                # Some file systems, such as those of Windows, ignore it.
                if os.fstat(file.fileno()).st_mode & _OTHERS:
                    raise SettingError(
                        f"Other users can read or change the {self.name} {self.path} (mode {mode:03o}), and its mode "
                        f"can't be changed. Move the data folder to another file system{self.alternative}."
                    )
                log.warning(
                    f"other users could read or change the {self.name}; its mode is now 600. If you don't trust them, "
                    "stop the server and delete the file. The next start creates a new one",
                    file=str(self.path),
                    mode_before=f"{mode:03o}",
                )
            return file.read(_MAX_LENGTH)


def _protect_folder(folder: Path, log: Log) -> None:
    """Remove the write permission of other users, who could replace the file."""
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
