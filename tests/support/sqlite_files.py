"""New SQLite databases for tests. They are copies, because creating the schema takes longer than most tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tickover.server.storage.sqlite.connection import connect, migrate


def create_database(folder: Path) -> str:
    """Create a database with the store's schema and without rows, and return its URL."""
    path = folder / "tickover.db"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_empty_database())
    return f"sqlite:///{path}"


@cache
def _empty_database() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tickover.db"
        connection = connect(path)
        migrate(connection)
        connection.close()
        return path.read_bytes()
