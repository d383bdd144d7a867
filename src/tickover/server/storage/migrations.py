"""Numbered SQL files, applied once each and in order. Which database they go to is none of its business."""

from importlib.resources import files
from typing import NamedTuple

from tickover.server.settings import SettingError


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def migrations(dialect: str) -> list[Migration]:
    """All that ship with the program, lowest number first."""
    folder = files("tickover.server.storage") / "schema" / dialect
    found = [
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text("utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(found)


def pending(known: list[Migration], version: int) -> list[Migration]:
    """What a database at this version still lacks. A database of a newer program is refused, not guessed at."""
    newest = known[-1].number
    if version > newest:
        raise SettingError(
            f"The database is at schema version {version}, but this program knows only {newest}: it was last used by a "
            "newer Tickover. Start that one, or name another database."
        )
    return [migration for migration in known if migration.number > version]
