"""A store on SQLite, and a writer on a small database."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import apsw
import pytest
import pytest_asyncio

from tests.store.sqlite.writer_jobs import connect
from tickover.server.storage.sqlite import writer as module
from tickover.server.storage.sqlite.store import SqliteStore
from tickover.server.storage.sqlite.writer import Writer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tickover.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(path)
    yield opened
    await opened.close()


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    """The connection of the writer. The test uses it only before and after."""
    connection = connect(path)
    connection.execute("create table things (number integer primary key autoincrement, name text not null unique)")
    yield connection
    connection.close()


@pytest.fixture
def other(connection: apsw.Connection, path: Path) -> Iterator[apsw.Connection]:
    """A second connection, which sees only committed data."""
    other = connect(path)
    yield other
    other.close()


@pytest_asyncio.fixture(loop_scope="function")
async def writer(connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Writer]:
    """A writer that a slow machine doesn't bring to its time limits."""
    monkeypatch.setattr(module, "_MAX_RUN_SECONDS", 60)
    monkeypatch.setattr(module, "_MAX_INLINE_COMMIT_SECONDS", 60)
    writer = Writer(connection, 0.02)
    yield writer
    await writer.close()
