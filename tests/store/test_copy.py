"""Copies between databases: a copy is complete, or the target stays empty."""

from pathlib import Path

import pytest

from tests.store.conftest import Execute
from tests.store.sample_data import fill, open_at
from tests.store.values import ANA, HOUR, NOW, add_clock, clock, code, code_limits, digest, key, sent, user
from tests.support.postgres import PostgresServer
from tickover.server.settings import SettingError
from tickover.server.sign_in.logins import CountedAttempt
from tickover.server.storage.admin.copy import TABLES, CopiedTable, copy
from tickover.server.storage.migrations import migrations
from tickover.server.storage.store import Created, Quota, QuotaExceeded

both_directions = pytest.mark.parametrize("urls", ["sqlite postgres", "postgres sqlite"], indirect=True)


async def make_copy(source: str, target: str) -> list[CopiedTable]:
    return await copy(source, target, lambda *_: None)


async def make_empty(url: str) -> None:
    async with open_at(url):
        pass


def count_rows(url: str, execute: Execute) -> dict[str, int]:
    return {
        table: int(execute(url, f"select count(*) from {table} where {condition}")[0][0])
        for table, condition in TABLES.items()
    }


# Completeness


async def test_copy_and_its_copy_have_all_rows_of_the_source(
    tmp_path: Path, postgres: PostgresServer, execute: Execute
) -> None:
    source, target, back = (
        f"sqlite:///{tmp_path / 'source.db'}",
        postgres.create_database(),
        f"sqlite:///{tmp_path / 'back.db'}",
    )
    await fill(source)
    copied = await make_copy(source, target)
    assert {table.table: table.rows for table in copied} == count_rows(source, execute)
    assert min(table.rows for table in copied) > 0, "an empty table proves nothing"
    assert await make_copy(target, back) == copied
    for table, condition in TABLES.items():
        query = f"select * from {table} where {condition} order by 1"
        assert execute(back, query) == execute(source, query), table


@both_directions
async def test_quotas_and_the_order_of_codes_continue_in_the_copy(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    async with open_at(source) as store:
        for number in range(5):
            await add_clock(store, clock(number), user(1), bytes(20))
            # The wall clock was set back each time.
            await sent(store, code(number, NOW - number * HOUR))
    # As in a source that has sent more emails than the target.
    execute(source, "update login_sends set number = number + 1000000 where email <> ''")
    await make_copy(source, target)
    async with open_at(target) as store:
        new = clock(9), user(1), bytes(10)
        assert await store.create_clock(*new, Quota(bytes=109)) == QuotaExceeded("bytes", key(0))
        assert await store.create_clock(*new, Quota(bytes=110)) == Created()
        for number in (4, 5, 6):
            now = NOW - number * HOUR
            if number > 4:
                await sent(store, code(number, now))
            assert await store.count_attempt(ANA, code_limits(), now) == CountedAttempt(digest(number), now)


async def test_source_left_by_a_crash_is_copied_completely_and_not_changed(
    urls: tuple[str, str], tmp_path: Path, execute: Execute
) -> None:
    source, target = urls
    used = f"sqlite:///{tmp_path / 'used.db'}"
    async with open_at(used):  # writes stay in the write-ahead log while the store is open
        await fill(used)
        before = {name: (tmp_path / f"used.db{name}").read_bytes() for name in ("", "-wal")}
    for name, content in before.items():
        (tmp_path / f"source.db{name}").write_bytes(content)
    await make_copy(source, target)
    assert {name: (tmp_path / f"source.db{name}").read_bytes() for name in before} == before
    assert count_rows(target, execute) == count_rows(used, execute)


async def test_rows_of_one_database_alone_are_not_copied(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    await make_empty(target)
    own = "select count(*), sum(tries) from login_sends where email = ''"
    assert execute(source, own)[0][1] > 0, "a try without a code is counted here"
    execute(target, "update login_sends set tries = 7 where email = ''")
    await make_copy(source, target)
    assert execute(target, own) == [("1024", str(7 * 1024))]
    assert execute(target, "select count(*) from login_failures where email not like '%@%'") == [("1024",)]


async def test_every_table_is_copied(urls: tuple[str, str], execute: Execute) -> None:
    for url in urls:
        await make_empty(url)
        names = execute(
            url,
            "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
            if url.startswith("sqlite")
            else "select table_name from information_schema.tables where table_schema = 'public'",
        )
        found = {name for (name,) in names if not name[-1].isdigit()}  # without partitions
        assert found - {"schema_version", "server_keys"} == set(TABLES)


# Failures


class Interrupted(Exception):
    pass


@both_directions
async def test_interrupted_copy_leaves_the_target_empty(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    for interrupted in ("copying login_sends", "checking login_sends"):

        def report(step: str, done: int, of: int, at: str = interrupted) -> None:
            if step == at and done:
                raise Interrupted

        with pytest.raises(Interrupted):
            await copy(source, target, report)
        assert set(count_rows(target, execute).values()) == {0}
    await make_copy(source, target)
    assert count_rows(target, execute) == count_rows(source, execute)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_failed_copy_leaves_the_target_empty(
    tmp_path: Path, postgres: PostgresServer, execute: Execute, kind: str
) -> None:
    """Also if the database stores another value than it was given."""
    source = f"sqlite:///{tmp_path / 'source.db'}"
    target = postgres.create_database() if kind == "postgres" else f"sqlite:///{tmp_path / 'target.db'}"
    await fill(source)
    await make_empty(target)
    reject, damage = (
        (
            "alter table login_sends add constraint never check (email = '')",
            """alter table login_sends drop constraint never;
               create function damage() returns trigger language plpgsql as
               $$ begin new.tries := new.tries + 1; return new; end $$;
               create trigger damage before insert on login_sends for each row execute function damage()""",
        )
        if kind == "postgres"
        else (
            "create trigger never before insert on login_sends begin select raise(abort, 'no'); end",
            """drop trigger never;
               create trigger damage after insert on login_sends
               begin update login_sends set tries = tries + 1 where digest = new.digest; end""",
        )
    )
    for statements, message in (
        (reject, "The copy failed: .* none of the data"),
        (damage, "differs in the table login_sends: .* Stop all servers"),
    ):
        execute(target, statements)
        with pytest.raises(SettingError, match=message):
            await make_copy(source, target)
        assert set(count_rows(target, execute).values()) == {0}


async def test_target_with_data_is_rejected_and_not_changed(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    await fill(source)
    await make_copy(source, target)
    before = count_rows(target, execute)
    for table, condition in TABLES.items():
        with pytest.raises(SettingError, match=f"isn't empty: its table {table} has rows"):
            await make_copy(source, target)
        assert count_rows(target, execute) == before
        execute(target, f"delete from {table} where {condition}")
        before[table] = 0


async def test_database_is_not_copied_onto_itself(tmp_path: Path, postgres_url: str) -> None:
    file = f"sqlite:///{tmp_path / 'source.db'}"
    (tmp_path / "link.db").symlink_to(tmp_path / "source.db")
    for url in (file, postgres_url):
        await fill(url)
    for source, target in ((file, f"sqlite:///{tmp_path / 'link.db'}"), (postgres_url, postgres_url)):
        with pytest.raises(SettingError, match="isn't empty"):
            await make_copy(source, target)


# Rejected sources


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, r"Can't use the database .*source\.db: unable to open", id="missing"),
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
        await make_copy(f"sqlite:///{source}", f"sqlite:///{tmp_path / 'target.db'}")
    assert names_in(tmp_path) == ([] if content is None else ["source.db"])
    assert content is None or source.read_bytes() == content


async def test_old_source_is_rejected_and_not_upgraded(urls: tuple[str, str], execute: Execute) -> None:
    source, target = urls
    execute(source, f"{migrations('sqlite')[0].sql}; pragma user_version = 1")
    with pytest.raises(SettingError, match="Run `tickover migrate`"):
        await make_copy(source, target)
    assert execute(source, "pragma user_version") == [(1,)]
