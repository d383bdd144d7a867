"""A lock beside a SQLite file, so that one server at a time uses the file. Commands of operators don't take it."""

import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from tickover.server.settings import SettingError


def lock_for_server(database: Path) -> BinaryIO:
    """Return a file that holds the lock until it is closed or the process ends.

    Raise SettingError if another server has the lock.
    """
    # A file of its own: to close the database would release SQLite's locks.
    path = database.with_name(f"{database.name}.lock")
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "rb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise SettingError(
            f"Another server uses the database {database}. Stop it, or set another TICKOVER_DATA_DIR or "
            "TICKOVER_DATABASE_URL."
        ) from None
    return file
