"""Loads the secret key of login codes from the settings or from a file in the data folder."""

import secrets
from typing import Final

from tickover.server.logs import Log
from tickover.server.private_files import PrivateFile
from tickover.server.settings import SettingError, Settings

_MIN_LENGTH: Final = 32


def load_secret_key(settings: Settings, log: Log) -> bytes:
    """Return the key. The first start creates the file. Raise SettingError if the file is unsafe or unreadable."""
    if settings.secret_key:
        return settings.secret_key.encode()
    file = PrivateFile(settings.data_dir / "secret.key", "secret key", ", or set TICKOVER_SECRET_KEY")
    try:
        if not file.path.exists():
            file.create(secrets.token_hex(32) + "\n")
        key = file.read(log).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"Can't read the secret key {file.path}: {error}.") from None
    if len(key) < _MIN_LENGTH:
        raise SettingError(
            f"The secret key {file.path} is damaged. Delete the file. Codes that were sent before will not work."
        )
    return key.encode()
