"""Copies that differ, and sources and targets that are rejected."""

from pathlib import Path

import pytest

from tests.store.copies import NAMES, Execute, both_directions, checksums, ignore_progress, rows, written
from tests.store.sample_data import fill
from tickover.server.settings import SettingError
from tickover.server.storage.admin.copy import copy
from tickover.server.storage.admin.copy_tables import TABLES
from tickover.server.storage.migrations import migrations

# Differences


CHANGES = {
    "users": "created_at = created_at + 1",
    "tokens": "expires_at = expires_at + 1",
    "schedules": "body = cast('another' as {bytes})",
    "clocks": "frozen_time = frozen_time + 1",
    "creations": "params = cast('another' as {bytes})",
    "connections": "login_required = not login_required",
    "login_failures": "count = count + 1",
    "login_sends": "holds_slot = not holds_slot",
}


def change_sql(name: str, url: str) -> str:
    """Return SQL that changes every copied row."""
    changed = CHANGES[name].format(bytes="blob" if url.startswith("sqlite") else "bytea")
    copied = next(table.condition for table in TABLES if table.name == name)
    return f"update {name} set {changed} where {copied}"


@pytest.mark.parametrize("urls", ["postgres sqlite"], indirect=True)
async def test_rows_changed_since_are_updated(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    last = await copy(source, target, ignore_progress)
    for name in NAMES:
        before = last
        execute(source, change_sql(name, source))
        last = await copy(source, target, ignore_progress)
        assert written(last) == dict.fromkeys(NAMES, 0) | {name: rows(before)[name]}
        assert [table for table in NAMES if checksums(before)[table] != checksums(last)[table]] == [name]


async def test_target_with_other_data_is_rejected_and_not_changed(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    await copy(source, target, ignore_progress)
    sum_of_users = "select sum(created_at) from users"
    before = execute(target, sum_of_users)
    # The first table with other rows is named, so the last table loses its rows first.
    for table in reversed(TABLES):
        execute(source, f"delete from {table.name} where {table.condition}")
        execute(source, change_sql("users", source))  # the first table to be written
        with pytest.raises(SettingError, match=f"contains other data: its table {table.name} has .*Nothing was"):
            await copy(source, target, ignore_progress)
        assert execute(target, sum_of_users) == before


@both_directions
async def test_damage_to_the_copy_is_detected(urls: tuple[str, str], execute: Execute) -> None:
    """Rows of every second table are changed, and others are lost. It is the other way round in the other database."""
    source, target = urls
    await fill(source)
    for number, table in enumerate(TABLES):
        is_changed = number % 2 == target.startswith("sqlite")
        sql = change_sql(table.name, target) if is_changed else f"delete from {table.name} where {table.condition}"

        def report(step: str, done: int, of: int, sql: str = sql) -> None:
            if step == "checking users" and done == of / 2:
                execute(target, sql)

        # It writes the rows that the last round damaged.
        with pytest.raises(SettingError, match=f"differs in the table {table.name}: .* Stop all servers"):
            await copy(source, target, report)
    healed = await copy(source, target, ignore_progress)
    assert written(healed) == dict.fromkeys(NAMES, 0) | {NAMES[-1]: rows(healed)[NAMES[-1]]}


# Rejected sources and targets


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, r"The database .*source\.db doesn't exist", id="missing"),
        pytest.param(b"", "Run `tickover migrate`", id="empty"),
        pytest.param(b"Dear diary, " * 100, "Can't use the database .*: file is not a database", id="not a database"),
    ],
)
async def test_unusable_source_is_rejected_and_nothing_is_created(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    source = tmp_path / "source.db"
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(SettingError, match=reason):
        await copy(f"sqlite:///{source}", f"sqlite:///{tmp_path / 'target.db'}", ignore_progress)
    assert names_in(tmp_path) == ([] if content is None else ["source.db"])
    assert content is None or source.read_bytes() == content


async def test_old_source_is_rejected_and_not_upgraded(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    execute(source, f"{migrations('sqlite')[0].sql}; pragma user_version = 1")
    with pytest.raises(SettingError, match="Run `tickover migrate`"):
        await copy(source, target, ignore_progress)
    assert execute(source, "pragma user_version") == [(1,)]


async def test_database_is_not_copied_onto_itself(tmp_path: Path, postgres_url: str) -> None:
    file = f"sqlite:///{tmp_path / 'source.db'}"
    (tmp_path / "link.db").symlink_to(tmp_path / "source.db")
    for url in (file, postgres_url):
        await fill(url)
    for target in (file, f"sqlite:///{tmp_path}/./source.db", f"sqlite:///{tmp_path / 'link.db'}"):
        with pytest.raises(SettingError, match="are the same file"):
            await copy(file, target, ignore_progress)
    for target in (postgres_url, f"{postgres_url}?application_name=another"):
        with pytest.raises(SettingError, match="is the source itself"):
            await copy(postgres_url, target, ignore_progress)
