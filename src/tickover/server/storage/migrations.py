"""The schema of each kind of database, and the numbered migrations that bring older databases to it.

`sqlite/schema.sql` and `postgres/schema.sql` say what the schema is. A new database gets it at once, with the version
of the newest migration. A migration is a file such as `sqlite/migrations/0103_add_colours.sql`.
"""

from pathlib import Path
from typing import Final, NamedTuple

from tickover.server.settings import SettingError

FIRST_VERSION: Final = 105
"""The version of a schema without migrations. Databases of unreleased versions have smaller numbers."""
_FOLDER: Final = Path(__file__).parent


class Migration(NamedTuple):
    number: int
    sql: str


def newest_version(dialect: str) -> int:
    """Return the version of a new database."""
    return max([FIRST_VERSION, *(number for number, _ in _migrations(dialect))])


def missing_migrations(dialect: str, version: int) -> list[Migration]:
    """Return what a database of this version lacks, sorted by number. An empty database, version 0, lacks the schema.

    Raise SettingError if the version is unknown.
    """
    newest = newest_version(dialect)
    if version == 0:
        return [Migration(newest, (_FOLDER / dialect / "schema.sql").read_text("utf-8"))]
    if version < FIRST_VERSION:
        raise SettingError(
            "The database was made by an unreleased version of Tickover, and can't be upgraded. Delete it, or set "
            "TICKOVER_DATABASE_URL to a new one."
        )
    if version > newest:
        raise SettingError(
            f"The database has schema version {version}, but this Tickover supports only versions up to {newest}. "
            "Run the newer Tickover that upgraded the database, or use another database."
        )
    return [migration for migration in _migrations(dialect) if migration.number > version]


def _migrations(dialect: str) -> list[Migration]:
    files = sorted((_FOLDER / dialect / "migrations").glob("*.sql"))
    return [Migration(int(file.name[:4]), file.read_text("utf-8")) for file in files]
