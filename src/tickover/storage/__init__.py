"""Stores: each keeps the promises of `ports.Store` in one kind of database."""

from pathlib import Path

from tickover.ports import Store
from tickover.settings import SettingError
from tickover.storage.sqlite import SqliteStore


async def open_store(url: str) -> Store:
    """Open the database that the URL names, and bring its schema up to date."""
    scheme, separator, path = url.partition(":///")
    # In memory, every connection would have a database of its own.
    if scheme != "sqlite" or not separator or path in ("", ":memory:"):
        raise SettingError("TICKOVER_DATABASE_URL must look like sqlite:///path/to/file.db.")
    return await SqliteStore.open(Path(path))
