"""Reads the numbered SQL files that create and upgrade the schema."""

from pathlib import Path
from typing import NamedTuple

from tickover.server.settings import SettingError


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def migrations(dialect: str) -> list[Migration]:
    """Return all migrations of this dialect, sorted by number."""
    folder = Path(__file__).parent / "schema" / dialect
    found = [
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text("utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(found)


def pending(known: list[Migration], version: int) -> list[Migration]:
    """Return the migrations that a database at this version lacks. Raise SettingError if the version is unknown."""
    newest = known[-1].number
    if version > newest:
        raise SettingError(
            f"The database has schema version {version}, but this Tickover supports only versions up to {newest}. "
            "Run the newer Tickover that upgraded the database, or use another database."
        )
    return [migration for migration in known if migration.number > version]
