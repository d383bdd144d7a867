"""What is kept between commands for each server: the token, whose it is, and the clock that was used last."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click
from msgspec import DecodeError, Struct, json

from tickover.cli.errors import Exit, Trouble

_OWNER_ONLY: Final = 0o600
_FOLDER_OF_OWNER_ONLY: Final = 0o700


class Kept(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What is kept for one server."""

    email: str = ""
    user_id: str = ""
    token: str = ""
    clock: str = ""
    """The id of the clock that was used last."""


class _File(Struct, frozen=True):
    servers: dict[str, Kept] = {}


class Credentials:
    """The file. Any number of processes may read and change it at the same time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "credentials.json"

    def of(self, url: str) -> Kept:
        """What is kept for the server at this address; an empty one when nothing is."""
        return self._read().servers.get(url, Kept())

    def change(self, url: str, change: Callable[[Kept], Kept]) -> None:
        """Replace what is kept for a server by what `change` makes of it; all or nothing of it is written."""
        try:
            with self._locked():
                servers = dict(self._read().servers)
                servers[url] = change(servers.get(url, Kept()))
                self._write(_File({url: kept for url, kept in servers.items() if kept != Kept()}))
        except OSError as error:
            raise Trouble(Exit.WRONG_COMMAND, f"{self.path} cannot be written: {error.strerror}.") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(_FOLDER_OF_OWNER_ONLY, parents=True, exist_ok=True)
        self.path.parent.chmod(_FOLDER_OF_OWNER_ONLY)
        lock = os.open(self.path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, _OWNER_ONLY)
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
            raise Trouble(Exit.WRONG_COMMAND, f"{self.path} cannot be read: {error.strerror}.") from None
        except (DecodeError, UnicodeDecodeError):
            raise Trouble(
                Exit.WRONG_COMMAND,
                f"{self.path} is damaged.",
                "Delete it, and sign in again with: tickover login EMAIL",
            ) from None

    def _write(self, file: _File) -> None:
        unfinished = self.path.with_suffix(".new")
        # One may be left over from a process that was killed, and with whatever mode.
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "wb") as written:
            written.write(json.encode(file))
            written.flush()
            os.fsync(written.fileno())
        unfinished.replace(self.path)


def folder() -> Path:
    """Where a person's settings are kept on this system, or below XDG_CONFIG_HOME if it is set."""
    home = os.environ.get("XDG_CONFIG_HOME")
    if home is None:
        return Path(click.get_app_dir("tickover"))
    # Its specification says to ignore it when it is empty or relative; click would not.
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".config") / "tickover"
