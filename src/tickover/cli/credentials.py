"""The credentials file. It stores a token and the last used clock for each server, and the server used last."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from tickover.cli.cli_errors import CliError, Exit

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


class ServerProfile(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The data stored for one server."""

    email: str = ""
    user_id: str = ""
    token: str = ""
    clock: str = ""
    """The ID of the last used clock."""


class _File(Struct, frozen=True, rename="camel"):
    servers: dict[str, ServerProfile] = {}
    last_server: str = ""
    """The URL of the last sign-in."""


class Credentials:
    """Reads and updates the file. Several processes can do so at the same time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "credentials.json"

    def get(self, url: str) -> ServerProfile:
        """Return the profile of a server, or an empty one."""
        return self._read().servers.get(url, ServerProfile())

    @property
    def last_server(self) -> str:
        """The URL of the last sign-in, or an empty string."""
        return self._read().last_server

    def update(self, url: str, *, is_sign_in: bool = False, **changes: str) -> None:
        """Replace fields of the profile of a server. The write is atomic."""
        try:
            with self._locked():
                file = self._read()
                servers = dict(file.servers)
                servers[url] = replace(servers.get(url, ServerProfile()), **changes)
                servers = {url: profile for url, profile in servers.items() if profile != ServerProfile()}
                self._write(_File(servers, url if is_sign_in else file.last_server))
        except OSError as error:
            raise CliError(Exit.WRONG_COMMAND, f"Can't write {self.path}: {error.strerror}.") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        self.path.parent.chmod(_FOLDER_MODE)
        lock = os.open(self.path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, _FILE_MODE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _read(self) -> _File:
        try:
            return json.decode(self.path.read_bytes(), type=_File)
        except FileNotFoundError:
            return _File()
        except OSError as error:
            raise CliError(Exit.WRONG_COMMAND, f"Can't read {self.path}: {error.strerror}.") from None
        except (DecodeError, UnicodeDecodeError):
            hint = "Delete the file and sign in again: tickover login EMAIL"
            raise CliError(Exit.WRONG_COMMAND, f"{self.path} is damaged.", hint) from None

    def _write(self, file: _File) -> None:
        temporary = self.path.with_suffix(".new")
        # A killed process may have left one behind, with any mode.
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "wb") as output:
            output.write(json.encode(file))
            output.flush()
            os.fsync(output.fileno())
        temporary.replace(self.path)


def config_folder() -> Path:
    """Return the folder for the credentials file: below XDG_CONFIG_HOME, or the system's default."""
    home = os.environ.get("XDG_CONFIG_HOME")
    if home is None:
        return Path(click.get_app_dir("tickover"))
    # The XDG specification says to ignore an empty or relative path. Click doesn't.
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".config") / "tickover"
