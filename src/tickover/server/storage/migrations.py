"""Reads the numbered SQL files that create and upgrade the schema."""

from pathlib import Path
from typing import NamedTuple

from tickover.server.settings import SettingError


class Migration(NamedTuple):
    number: int
    sql: str


def migrations(dialect: str) -> list[Migration]:
    """Return all migrations of this dialect, sorted by number."""
    files = sorted((Path(__file__).parent / "schema" / dialect).glob("*.sql"))
    return [Migration(int(file.name[:4]), file.read_text("utf-8")) for file in files]


def pending(known: list[Migration], version: int) -> list[Migration]:
    """Return the migrations that a database at this version lacks. Raise SettingError if the version is unknown."""
    newest = known[-1].number
    if version > newest:
        raise SettingError(
            f"The database has schema version {version}, but this Tickover supports only versions up to {newest}. "
            "Run the newer Tickover that upgraded the database, or use another database."
        )
    return [migration for migration in known if migration.number > version]
