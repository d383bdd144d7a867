"""Statistics of both databases: size, rows and clock."""

from pathlib import Path

import pytest

from tests.store.values import code_limits, digest, link, session
from tickover.server.settings import SettingError
from tickover.server.storage import open_store, schema_version
from tickover.server.storage.admin.statistics import data_folder, read_statistics
from tickover.server.storage.urls import is_postgres
from tickover.server.web.handler import wall_clock


async def test_statistics_of_a_database(database_url: str) -> None:
    store = await open_store(database_url)
    await store.record_email(link(1), code_limits())
    assert await store.redeem_link(digest(1), session(1))
    # PostgreSQL counts the rows of a session when it ends.
    await store.close()
    found = await read_statistics(database_url, wall_clock)
    assert found.schema_version == schema_version(database_url)
    assert found.bytes > 10_000
    assert {"users", "tokens", "clocks", "schedules", "login_emails", "creations"} <= set(found.rows)
    assert found.rows["users"] >= 1
    if is_postgres(database_url):
        # Both clocks are this machine's.
        assert found.clock_skew_seconds is not None
        assert abs(found.clock_skew_seconds) < 10
    else:
        assert found.clock_skew_seconds is None


async def test_size_of_sqlite_includes_the_write_ahead_log(tmp_path: Path) -> None:
    file = tmp_path / "tickover.db"
    store = await open_store(f"sqlite:///{file}")
    await store.record_email(link(1), code_limits())
    found = await read_statistics(f"sqlite:///{file}", wall_clock)
    sizes = [path.stat().st_size for path in (file, tmp_path / "tickover.db-wal")]
    await store.close()
    assert all(sizes)
    assert found.bytes == sum(sizes)


async def test_idle_store_has_no_load(database_url: str) -> None:
    store = await open_store(database_url)
    await store.ping()
    load = store.load()
    await store.close()
    assert (load.waiting_calls, load.busy_connections) == (0, 0)
    assert load.open_connections == (1 if is_postgres(database_url) else 0)


async def test_database_without_a_server_has_no_statistics(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/missing.db", "postgresql://ana:pw@127.0.0.1:9/t"):
        with pytest.raises(SettingError, match="Can't use the database") as error:
            await read_statistics(url, wall_clock)
        assert "pw" not in str(error.value)


def test_data_folder_exists(tmp_path: Path) -> None:
    assert data_folder("postgresql://127.0.0.1/t", tmp_path / "not" / "yet") == tmp_path
    assert data_folder(f"sqlite:///{tmp_path}/t.db", Path("elsewhere")) == tmp_path
