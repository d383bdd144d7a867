"""Migrations: a made-up one, and databases that can't be migrated."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.store.conftest import Execute
from tests.store.values import add_clock, clock, user
from tests.support.postgres import PostgresServer
from tickover.server.settings import SettingError
from tickover.server.storage import migrations, open_store, schema_version
from tickover.server.storage.migrations import FIRST_VERSION
from tickover.server.storage.store import StoredClock

_FOLDER = migrations._FOLDER


@pytest.fixture
async def url(database_url: str, tmp_path: Path, postgres: PostgresServer) -> AsyncIterator[str]:
    """An empty database that no other test uses."""
    if database_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'migrated.db'}"
        return
    fresh = postgres.create_database()
    yield fresh
    postgres.execute(f"drop database {fresh.rpartition('/')[2]} with (force)")


Open = Callable[[], Awaitable[StoredClock | None]]


@pytest.fixture
def find(url: str) -> Open:
    """Opens the database, which migrates it, and looks for the clock."""

    async def find_one() -> StoredClock | None:
        store = await open_store(url)
        found = await store.find_clock(clock(1).key, user(1))
        await store.close()
        return found

    return find_one


def _add_migrations(folder: Path, **files: str) -> None:
    for dialect in ("sqlite", "postgres"):
        shutil.copytree(_FOLDER / dialect, folder / dialect, dirs_exist_ok=True)
        (folder / dialect / "migrations").mkdir(exist_ok=True)
        for name, sql in files.items():
            (folder / dialect / "migrations" / f"{name.removeprefix('_')}.sql").write_text(sql)


async def test_migrations_run_once_in_order_and_preserve_data(
    url: str, find: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, execute: Execute
) -> None:
    store = await open_store(url)
    await add_clock(store, clock(1), user(1))
    await store.close()
    _add_migrations(
        tmp_path, _0901_add_colours="create table colours (name text not null)",
        _0902_add_red="insert into colours values ('red')",
    )  # fmt: skip
    monkeypatch.setattr(migrations, "_FOLDER", tmp_path)
    for _ in range(2):
        assert await find() == StoredClock(clock(1), b"schedule")
        assert execute(url, "select name from colours") == [("red",)]
    assert schema_version(url) == 902
    # A migration that fails changes nothing.
    _add_migrations(tmp_path, _0903_add_blue="insert into colours values ('blue'); insert into nothing values (1)")
    with pytest.raises(SettingError, match="nothing"):
        await find()
    assert execute(url, "select name from colours") == [("red",)]
    (tmp_path / "sqlite" / "migrations" / "0903_add_blue.sql").unlink()
    (tmp_path / "postgres" / "migrations" / "0903_add_blue.sql").unlink()
    assert await find() is not None


async def test_database_of_an_unreleased_version_is_rejected_and_not_changed(
    url: str, find: Open, execute: Execute
) -> None:
    is_sqlite = url.startswith("sqlite")
    old = FIRST_VERSION - 1
    execute(
        url,
        f"pragma user_version = {old}"
        if is_sqlite
        else f"""set role tickover; create table schema_version (number integer);
                 insert into schema_version values (1), ({old})""",
    )
    with pytest.raises(SettingError, match=r"unreleased version of Tickover, and can't be upgraded\. Delete it"):
        await find()
    tables = execute(
        url,
        "select count(*) from sqlite_schema"
        if is_sqlite
        else "select count(*) - 1 from pg_tables where schemaname = 'public'",
    )
    assert int(tables[0][0]) == 0
